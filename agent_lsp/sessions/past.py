"""What is read of a session's traces to go on with it, or to fork it. Everything here blocks on the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from agent_lsp.errors import InvalidParams, SessionNotFound
from agent_lsp.messages.content import ToolCall, ToolCallOutput
from agent_lsp.messages.envelope import Message, SessionMeta
from agent_lsp.messages.events import (
    Abort,
    ApprovalDecision,
    CompactionBegin,
    CompactionEnd,
    RequestBegin,
    RequestEnd,
    RunBegin,
    SessionUpdate,
    TokenCounts,
)
from agent_lsp.sessions.file_records import FileRecorder, FileRecords
from agent_lsp.slotted import frozen
from agent_lsp.trace.reader import read_trace

if TYPE_CHECKING:
    from agent_lsp.trace.paths import DataDir
    from agent_lsp.trace.store import SessionStore

Warn = Callable[[str], None]


@frozen
class Past:
    """A session as its traces leave it: its present context, and what its earlier ones have used up.

    `messages` are those of the newest file without its meta. `call_ids` are those of the earlier contexts. `files` is
    what all of them hold of files.
    """

    meta: SessionMeta
    messages: tuple[Message, ...]
    turns: int
    usage: TokenCounts
    call_ids: tuple[str, ...]
    files: FileRecords


def read_past(data: DataDir, store: SessionStore, session_id: str, warn: Warn) -> Past:
    """Reads a session to go on with it. Raises SessionNotFound when it has no trace, or none that can be read."""
    stored = store.get(session_id)
    try:
        *earlier, newest = data.trace_files(session_id)
        meta, messages = _without_meta(read_trace(newest.path, warn))
        recorder, ids = FileRecorder(), list[str]()
        for file in earlier:
            ids += _call_ids(recorder.heard(read_trace(file.path, warn)))
            recorder.new_context()
    except (OSError, ValueError) as error:
        raise SessionNotFound(session_id, f"its trace cannot be read ({error})") from error
    if meta is None:
        raise SessionNotFound(session_id, f"{newest.path.name} does not begin with what the session is")
    recorder.hear(messages)
    return Past(meta, messages, stored.totals.turns, stored.totals.usage, tuple(ids), recorder.records())


def read_whole(data: DataDir, session_id: str, warn: Warn) -> list[Message]:
    """Everything that was traced of a session, all of its contexts in order."""
    return [message for file in data.trace_files(session_id) for message in read_trace(file.path, warn)]


def read_committed(
    data: DataDir, session_id: str, at_turn: int | None, warn: Warn
) -> tuple[SessionMeta, list[Message]]:
    """What was committed up to a turn (default: all) in the context that it belongs to, and what the session is.

    Raises SessionNotFound, and InvalidParams for a turn that there was not.
    """
    files = data.trace_files(session_id)
    turns = 0
    for number, file in enumerate(files, 1):
        try:
            meta, messages = _without_meta(read_trace(file.path, warn))
        except OSError as error:
            raise SessionNotFound(session_id, f"its trace cannot be read ({error.strerror})") from error
        if meta is None:
            raise SessionNotFound(session_id, f"{file.path.name} does not begin with what the session is")
        here = sum(1 for _ in _commits(messages))
        if number == len(files) or (at_turn is not None and at_turn <= turns + here):
            last = here if at_turn is None else at_turn - turns
            if last > here or (at_turn is not None and at_turn < 1):
                raise InvalidParams("invalid params: atTurn", [("atTurn", f"the session has {turns + here} turns")])
            later = () if at_turn is not None else _settings_after(messages, last)
            return meta, [*committed(messages, last), *later]
        turns += here
    raise SessionNotFound(session_id, "it has no trace")


def committed(messages: Sequence[Message], turns: int) -> list[Message]:
    """The messages up to the end of the so-manieth turn, and the outputs of its calls.

    Without a turn: what the context begins with, a summary or a history that was brought along.
    """
    end = _end_of(messages, turns)
    return [*messages[:end], *_settling(messages[end:])]


def _end_of(messages: Sequence[Message], turns: int) -> int:
    """The place behind the end of the so-manieth turn."""
    ends = [at for at, _ in zip(_commits(messages), range(turns), strict=False)]
    if ends:
        return ends[-1] + 1
    return next((at for at, one in enumerate(messages) if isinstance(one.payload, RunBegin)), len(messages))


def _settling(rest: Iterable[Message]) -> Iterator[Message]:
    """What comes of the last turn's calls, an interrupt included; whatever else happened meanwhile is left out."""
    for message in rest:
        match message.payload:
            case ToolCallOutput() | ApprovalDecision():
                yield message
            case Abort():
                yield message
                return
            case RequestBegin() | RunBegin() | CompactionBegin():
                return
            case _:
                pass


def _settings_after(messages: Sequence[Message], turns: int) -> Iterator[Message]:
    """What was changed in the session since then."""
    return (one for one in messages[_end_of(messages, turns) :] if isinstance(one.payload, SessionUpdate))


def _commits(messages: Sequence[Message]) -> Iterator[int]:
    """The places of the turns' ends; the requests of a compaction are no turns."""
    compacting = False
    for at, message in enumerate(messages):
        match message.payload:
            case CompactionBegin():
                compacting = True
            case CompactionEnd() | RunBegin():
                compacting = False
            case RequestEnd(status="completed") if not compacting:
                yield at
            case _:
                pass


def _without_meta(messages: Iterable[Message]) -> tuple[SessionMeta | None, tuple[Message, ...]]:
    read = tuple(messages)
    first = read[0].payload if read else None
    return (first, read[1:]) if isinstance(first, SessionMeta) else (None, read)


def _call_ids(messages: Iterable[Message]) -> Iterator[str]:
    return (message.payload.tool_call_id for message in messages if isinstance(message.payload, ToolCall))
