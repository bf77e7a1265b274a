"""What an unfinished turn leaves to the next request: pure functions of what was traced.

The live engine and a resume call the same ones. Their wording is part of the trace format (`messages.envelope.FORMAT`):
a changed wording is a new format.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent_lsp.messages import markers
from agent_lsp.messages.content import Content, StopReason, Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.slotted import field, mutable


@mutable
class AttemptRecord:
    """One request that is open or ended badly: what it produced, and the outputs of its calls by id."""

    reply: list[Content] = field(default_factory=list[Content])
    outputs: dict[str, ToolCallOutput] = field(default_factory=dict[str, ToolCallOutput])
    status: StopReason | None = None


@mutable
class Batch:
    """The calls of the last committed reply, in call order, and the outputs they have so far."""

    calls: list[ToolCall]
    outputs: dict[str, ToolCallOutput]

    def is_settled(self) -> bool:
        """Whether every call has its output."""
        return all(call.tool_call_id in self.outputs for call in self.calls)

    def answered(self, placeholder: str = markers.INTERRUPTED) -> list[Content]:
        """The outputs in call order; a call that has none gets the placeholder."""
        return [
            self.outputs.get(call.tool_call_id)
            or ToolCallOutput(tool_call_id=call.tool_call_id, output=placeholder, stop_reason="aborted")
            for call in self.calls
        ]


def retried(attempts: Sequence[AttemptRecord]) -> Text | None:
    """The `[turn_retried]` text that goes behind an input which is sent again; None when nothing was produced."""
    items = [one for attempt in attempts for one in _produced(attempt)]
    return _block("turn_retried", items) if items else None


def aborted(input: Sequence[Content], attempts: Sequence[AttemptRecord]) -> list[Content]:
    """The input of an interrupted, uncommitted request: outputs stay, one block holds the rest, images follow it."""
    outputs = [one for one in input if isinstance(one, ToolCallOutput)]
    texts = [one for one in input if isinstance(one, Text)]
    summaries: list[Content] = [one for one in texts if markers.is_block(one.text, "context_summary")]
    others = [one for one in input if not isinstance(one, Text | ToolCallOutput)]
    items = [_input_item(one) for one in texts if one not in summaries]
    items += [one for attempt in attempts for one in _produced(attempt)]
    blocks: list[Content] = [_block("turn_aborted", items)] if items else []
    return [*outputs, *summaries, *blocks, *others]


def detached(input: Sequence[Content]) -> list[Content]:
    """What can go on without the context it belonged to: outputs, whose calls are gone, become items of one block."""
    outputs = [one for one in input if isinstance(one, ToolCallOutput)]
    if not outputs:
        return list(input)
    items = [_output_item(one) for one in outputs]
    return [_block("turn_aborted", items), *(one for one in input if not isinstance(one, ToolCallOutput))]


def is_paired(messages: Sequence[Content]) -> bool:
    """Whether every call is answered exactly once, and no other input comes before the answers of its reply."""
    waiting: list[str] = []
    for one in messages:
        if isinstance(one, ToolCall):
            waiting.append(one.tool_call_id)
        elif isinstance(one, ToolCallOutput):
            if one.tool_call_id not in waiting:
                return False
            waiting.remove(one.tool_call_id)
        elif waiting and one.role == "user":
            return False
    return not waiting


def _block(tag: str, items: Iterable[str]) -> Text:
    return Text(role="user", text=markers.carried(tag, items), sender="harness")


def _input_item(text: Text) -> str:
    merged = markers.carried_items(text.text) if text.sender == "harness" else None
    return merged or markers.item("user_input", text.text)


def _output_item(output: ToolCallOutput) -> str:
    status = output.stop_reason or "completed"
    return markers.item("tool_call_output", output.output, id=output.tool_call_id, status=status)


def _produced(attempt: AttemptRecord) -> Iterable[str]:
    """Thinking and text as produced, then the calls that were complete, then their outputs, all in order."""
    calls = [one for one in attempt.reply if isinstance(one, ToolCall) and one.stop_reason is None]
    for one in attempt.reply:
        if isinstance(one, Thinking) and one.thinking.strip():
            yield markers.item("thinking", one.thinking)
        elif isinstance(one, Text) and one.text.strip():
            yield markers.item("text", one.text)
    for call in calls:
        yield markers.item("tool_call", call.arguments, name=call.name, id=call.tool_call_id)
    for call in calls:
        if output := attempt.outputs.get(call.tool_call_id):
            yield _output_item(output)
