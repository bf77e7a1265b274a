"""Runs a trace again, offline: the real engine on the recorded replies, decisions and outputs, task by task.

The story must come out as it was told: the same records in the same order, times and run ids aside. Each task starts on
the context that the records before it lead to, so that one difference does not hide the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from agent_lsp.engine.call_ids import CallIds
from agent_lsp.errors import AgentError
from agent_lsp.messages.content import ToolCall
from agent_lsp.messages.envelope import Message, SessionMeta
from agent_lsp.messages.events import (
    CompactionBegin,
    GoalRound,
    LoopStep,
    McpConnectBegin,
    McpConnectEnd,
    RunBegin,
    SessionUpdate,
    Subagent,
    TokenCounts,
    TokenUsage,
    ToolListReady,
    ToolSpec,
)
from agent_lsp.slotted import frozen
from agent_lsp.trace.reader import read_records
from agent_lsp.trace.view.player import Before, Difference, Player
from agent_lsp.trace.view.recorded import Task
from agent_lsp.trace.view.script import script_of

_BESIDE = (SessionUpdate, McpConnectBegin, McpConnectEnd, Subagent)
"""Records that come from around the engine."""
_DRIVEN = (GoalRound, LoopStep)
"""Records of tasks that a strategy above the engine drives."""


@frozen
class Replayed:
    """What came of a file: how many tasks and records came out as recorded, and where they did not.

    `skipped` tasks had a goal or were in loop mode: what drives those is not part of a trace.
    """

    path: Path
    tasks: int
    records: int
    differences: tuple[Difference, ...]
    skipped: int = 0


async def replay(path: Path, earlier: Sequence[Path] = ()) -> Replayed:
    """Runs the tasks of one trace file again; `earlier` are the session's files before it, whose call ids are taken.

    OSError when one cannot be read, AgentError when the file is no trace.
    """
    messages = [(record.number, record.message) for record in read_records(path) if record.message is not None]
    meta = messages[0][1].payload if messages else None
    if not isinstance(meta, SessionMeta):
        raise AgentError(f"{path.name} does not begin with a session_meta")
    ids, tools = CallIds(), tuple[ToolSpec, ...]()
    taken = [one for file in earlier for one in _call_ids(file)]
    for id in taken:
        ids.note(id)
    differences: list[Difference] = []
    tasks, records, skipped = 0, 0, 0
    for start, task in _tasks(messages):
        before = [message for _, message in messages[1:start]]
        for message in before:
            tools = message.payload.tools if isinstance(message.payload, ToolListReady) else tools
            if isinstance(message.payload, ToolCall):  # a run that began in an earlier file has no task here
                ids.note(message.payload.tool_call_id)
        script = script_of(task, ids)
        if any(isinstance(one, _DRIVEN) for one in task.records):
            skipped += 1
            continue
        player = Player(task, script, task.tools(tools))
        difference = await player.play(Before(meta, before, taken, _used_before(messages)))
        differences += [difference] if difference else []
        tasks, records = tasks + 1, records + player.place
    return Replayed(path, tasks, records, tuple(differences), skipped)


def _tasks(messages: Sequence[tuple[int, Message]]) -> list[tuple[int, Task]]:
    """The tasks of a trace, each with the index of its first message."""
    starts = [at for at, (_, message) in enumerate(messages) if _begins_task(message.payload)]
    tasks: list[tuple[int, Task]] = []
    for start, end in pairwise([*starts, len(messages)]):
        kept = [(line, one.payload) for line, one in messages[start:end] if not isinstance(one.payload, _BESIDE)]
        records = tuple(payload for _, payload in kept)
        lines = tuple(line for line, _ in kept)
        tasks.append((start, Task(records, lines, is_last=end == len(messages))))  # pyright: ignore[reportArgumentType] - a trace holds no fragments
    return tasks


def _call_ids(path: Path) -> Iterator[str]:
    for record in read_records(path):
        if record.message is not None and isinstance(call := record.message.payload, ToolCall):
            yield call.tool_call_id


def _begins_task(payload: object) -> bool:
    return isinstance(payload, RunBegin) or (isinstance(payload, CompactionBegin) and payload.reason == "manual")


def _used_before(messages: Sequence[tuple[int, Message]]) -> TokenCounts:
    """What the session had used before this file."""
    for _, message in messages:
        if isinstance(usage := message.payload, TokenUsage):
            after, one = usage.session, usage.request
            return TokenCounts(
                cache_read=after.cache_read - one.cache_read,
                cache_write=after.cache_write - one.cache_write,
                output=after.output - one.output,
                total=after.total - one.total,
            )
    return TokenCounts()
