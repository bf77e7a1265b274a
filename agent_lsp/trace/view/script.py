"""What the model, the tools and the person did in a task, and at which place in its story.

A place is a record's number in the task. Whatever was done at a place is done again when everything before it has
happened again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent_lsp.engine.attempt import is_object
from agent_lsp.engine.ports import (
    CallBegin,
    CallDelta,
    Decision,
    Outcome,
    Part,
    SegmentEnd,
    TextDelta,
    ThinkingDelta,
    ToolResult,
)
from agent_lsp.messages.content import Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.events import (
    Abort,
    ApprovalDecision,
    CompactionBegin,
    CompactionEnd,
    RequestBegin,
    RequestEnd,
    RunBegin,
    TokenUsage,
)
from agent_lsp.slotted import field, mutable
from agent_lsp.trace.view.recorded import GIVEN_UP, Payload, Task

if TYPE_CHECKING:
    from agent_lsp.engine.call_ids import CallIds

Placed = tuple[int, Sequence[Part]]
"""Parts of a reply, and the place before which they must not come."""

_ASKED_TO_WAIT = re.compile(r"llm request error: the provider asks to wait ([0-9]+) s")


@mutable
class Script:
    """What the model, the person and the tools say in a task, by its place or the call it belongs to."""

    replies: list[list[Placed]] = field(default_factory=list[list[Placed]])
    decisions: dict[str, tuple[int, Decision]] = field(default_factory=dict[str, tuple[int, Decision]])
    outputs: dict[str, tuple[int, ToolCallOutput]] = field(default_factory=dict[str, tuple[int, ToolCallOutput]])

    def unfit(self, call_id: str) -> ToolResult | None:
        """The result of a call that did not fit its tool."""
        place, decision = self.decisions.get(call_id, (0, None))
        if decision is None or (decision.decision, decision.decided_by) != ("allow", "default"):
            return None
        recorded = self.outputs.get(call_id)
        return result_of(recorded[1]) if recorded and recorded[0] == place + 1 else None


def script_of(task: Task, ids: CallIds) -> Script:
    """The script of a task; `ids` knows the calls before it, and those of the task afterwards."""
    script = Script()
    for place, one in enumerate(task.records):
        match one:
            case RequestBegin():
                script.replies.append(_reply(task.records, place, ids))
            case ApprovalDecision():
                script.decisions[one.tool_call_id] = (place, _decision(task.records, one))
            case ToolCallOutput():
                script.outputs[one.tool_call_id] = (place, one)
            case _:
                pass
    return script


def result_of(output: ToolCallOutput) -> ToolResult:
    """The recorded output as a tool would give it."""
    return ToolResult(output.output, output.stop_reason, output.images)


def _reply(records: Sequence[Payload], begun: int, ids: CallIds) -> list[Placed]:
    """The parts of the reply to the request that began at a place, its end included if it had one."""
    parts: list[Placed] = []
    usage, left_open, key = None, None, 0
    for place in range(begun + 1, len(records)):
        one = records[place]
        if isinstance(one, RequestBegin | RunBegin):
            break
        if isinstance(one, Text | Thinking | ToolCall) and one.role == "assistant":
            if isinstance(one, ToolCall):
                ids.note(one.tool_call_id)
            said, is_open = _segment(one, key, ids)
            key += 1
            left_open = place if is_open and left_open is None else left_open
            parts.append((place if left_open is None else left_open, said))
        elif isinstance(one, TokenUsage):
            usage, left_open = one, place if left_open is None else left_open
        elif isinstance(one, RequestEnd):
            if one.status != "aborted":
                ended = place if left_open is None else left_open
                parts.append((ended, [_outcome(records, place, one, usage)]))
            break
    return parts


def _segment(one: Text | Thinking | ToolCall, key: int, ids: CallIds) -> tuple[list[Part], bool]:
    """A segment of a reply as parts, and whether it was still open when the reply ended."""
    match one:
        case Text():
            said: list[Part] = [TextDelta(one.text)]
        case Thinking():
            said = [ThinkingDelta(one.thinking)]
        case ToolCall():
            said = [CallBegin(key, one.name, ids.original(one.tool_call_id)), CallDelta(key, one.arguments)]
    unreadable = isinstance(one, ToolCall) and one.stop_reason == "malformed" and not is_object(one.arguments)
    is_open = one.stop_reason is not None and not unreadable
    if not is_open:
        said.append(SegmentEnd(key if isinstance(one, ToolCall) else None, one.fidelity))
    return said, is_open


def _outcome(records: Sequence[Payload], place: int, end: RequestEnd, usage: TokenUsage | None) -> Outcome:
    if end.status == "completed":
        return Outcome("completed", usage=usage.request if usage else None, finish=end.finish)
    if end.retry_in_ms is not None:
        is_shortened = end.retry_in_ms == 0 and _is_compacting(records[:place])
        return Outcome(
            end.status, end.error_message, context_length=is_shortened, retry_after_ms=end.retry_in_ms or None
        )
    following = records[place + 1] if place + 1 < len(records) else None
    reason = next((one.reason or "" for one in records[place:] if isinstance(one, Abort)), "")
    asked, given_up = _ASKED_TO_WAIT.match(reason), GIVEN_UP.match(reason)
    is_spent = given_up is not None and given_up[1] is not None
    return Outcome(
        end.status,
        end.error_message,
        permanent=not is_spent and asked is None,
        context_length=isinstance(following, CompactionBegin),
        retry_after_ms=int(asked[1]) * 1000 if asked else None,
    )


def _is_compacting(records: Sequence[Payload]) -> bool:
    """Whether a compaction is on behind these records: its request, refused as too long, is made again at once."""
    latest = next((one for one in reversed(records) if isinstance(one, CompactionBegin | CompactionEnd)), None)
    return isinstance(latest, CompactionBegin)


def _decision(records: Sequence[Payload], made: ApprovalDecision) -> Decision:
    feedback = None
    if made.decision != "allow":
        outputs = (one for one in records if isinstance(one, ToolCallOutput))
        told = next((one.output for one in outputs if one.tool_call_id == made.tool_call_id), "")
        feedback = told.partition("\n")[2] or None
    return Decision(made.decision, made.decided_by, made.rule, feedback)
