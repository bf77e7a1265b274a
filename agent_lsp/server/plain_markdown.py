"""A session as Markdown for people: messages go in one by one, the text that each adds comes out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from agent_lsp.messages import markers
from agent_lsp.messages.content import ImageUrl, InlineData, Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.events import Abort, ApprovalDecision, CompactionEnd, RequestEnd, RunBegin
from agent_lsp.policy.visible import visible, visible_line

if TYPE_CHECKING:
    from agent_lsp.messages.envelope import Message

_ARGUMENTS_CHARS: Final = 4_000
_OUTPUT_CHARS: Final = 8_000
_LINE_CHARS: Final = 500
_ATTACHED: Final = re.compile(r"\[attached file: (.*)\]\n")
_BACKTICKS: Final = re.compile(r"`+")


class Markdown:
    """Writes one session. Fragments add nothing, and neither do messages of child sessions."""

    def __init__(self) -> None:
        self._speaker = ""
        self._names: dict[str, str] = {}

    def add(self, message: Message) -> str:
        """The text for the next message; often nothing."""
        if message.origin:
            return ""
        match message.payload:
            case RunBegin():
                self._speaker = ""
                return "\n---\n"
            case Text(role="user") as text:
                return self._said_to_the_model(text)
            case Text(text=text):
                return self._by("Agent", _prose(text)) if text.strip() else ""
            case Thinking(thinking=thinking):
                return self._by("Agent", _quoted(thinking)) if thinking.strip() else ""
            case ToolCall() as call:
                return self._called(call)
            case ToolCallOutput() as output:
                return self._returned(output)
            case ImageUrl() | InlineData():
                return self._by("You", _remark("an image or other data"))
            case _ as event:
                return _of_event(event)

    def _by(self, speaker: str, body: str) -> str:
        if speaker == self._speaker:
            return f"\n{body}\n"
        self._speaker = speaker
        return f"\n## {speaker}\n\n{body}\n"

    def _said_to_the_model(self, text: Text) -> str:
        """What a person says is prose; files, and what the engine says, are set apart from it."""
        if attached := _ATTACHED.match(text.text):
            body = text.text[attached.end() :]
            return self._by("You", f"{_code(attached[1])}\n\n{_fenced(body, _OUTPUT_CHARS)}")
        if markers.is_block(text.text, "user_steering"):
            return self._by("You", _prose("\n\n".join(markers.bodies(text.text, "user_steering"))))
        if markers.is_block(text.text, "context_summary"):
            return self._by(
                "Summary of what came before", _prose("\n\n".join(markers.bodies(text.text, "context_summary")))
            )
        if text.sender in (None, "user"):
            return self._by("You", _prose(text.text))
        return self._by("Note to the agent", _fenced(text.text, _OUTPUT_CHARS))

    def _called(self, call: ToolCall) -> str:
        self._names[call.tool_call_id] = call.name
        arguments = f"\n\n{_fenced(call.arguments, _ARGUMENTS_CHARS, 'json')}" if call.arguments.strip() else ""
        return self._by("Agent", f"**Calls {_code(call.name)}**{arguments}")

    def _returned(self, output: ToolCallOutput) -> str:
        name = self._names.pop(output.tool_call_id, "a call")
        ending = f" ({output.stop_reason})" if output.stop_reason else ""
        pictures = f"\n\n{_remark(f'{len(output.images)} images')}" if output.images else ""
        return self._by(
            "Agent", f"Output of {_code(name)}{ending}:\n\n{_fenced(output.output, _OUTPUT_CHARS)}{pictures}"
        )


def heading(title: str, facts: tuple[str, ...]) -> str:
    """The top of a transcript."""
    return f"# {_escaped(visible_line(title, _LINE_CHARS))}\n\n{' · '.join(_code(fact) for fact in facts)}\n"


def _of_event(event: object) -> str:
    """What is worth a line of its own."""
    match event:
        case ApprovalDecision(decision=decision, decided_by=by, rule=rule) if by != "mode" or decision != "allow":
            line = f"{decision}, by {by}{f': {rule}' if rule else ''}"
        case RequestEnd(error_message=str(error)):
            line = f"a request failed: {error}"
        case CompactionEnd(status=status):
            line = f"the context was compacted: {status}"
        case Abort(reason=reason):
            line = f"stopped: {reason}" if reason else "stopped"
        case _:
            return ""
    return f"\n{_remark(line)}\n"


def _remark(line: str) -> str:
    return f"*{_escaped(visible_line(line, _LINE_CHARS))}*"


def _prose(text: str) -> str:
    """Markdown as it was written, apart from what the eye would not see."""
    return visible(_unix(text)).strip("\n")


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in _prose(text).split("\n"))


def _code(text: str) -> str:
    """A word in a span of code, whatever is in it."""
    line = visible_line(text, _LINE_CHARS)
    ticks = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(line)), default=0))
    return f"{ticks} {line} {ticks}" if "`" in line else f"`{line}`"


def _fenced(text: str, limit: int, language: str = "") -> str:
    """A block that nothing in it can end."""
    shown = visible(_unix(text)).strip("\n")
    if more := max(0, len(shown) - limit):
        shown = f"{shown[:limit]}\n[{more} more characters]"
    fence = "`" * max(3, 1 + max((len(run) for run in _BACKTICKS.findall(shown)), default=0))
    return f"{fence}{language}\n{shown}\n{fence}"


def _escaped(line: str) -> str:
    return re.sub(r"([\\`*_<>\[\]#])", r"\\\1", line)


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n")
