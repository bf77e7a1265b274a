"""Streaming discipline in one place: `start → delta* → stop`, then at once the complete message.

A `Segment` writes it: whoever streams opens one, feeds it and closes it, and cannot break the rule. An `Aggregator`
reads it: it joins fragments as a client does and refuses a stream that breaks the rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from agent_lsp.messages.content import (
    Content,
    Fidelity,
    Partial,
    PartialText,
    PartialThinking,
    PartialToolCall,
    PartialToolCallOutput,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
)

Kind = Literal["text", "thinking", "tool_call", "tool_call_output"]
_BODY = {"text": "text", "thinking": "thinking", "tool_call": "arguments", "tool_call_output": "output"}


class Segment:
    """One open segment. `emit` gets its fragments and, at `close`, its complete message; nothing after that."""

    __slots__ = ("_emit", "_pieces", "call_id", "kind", "name")

    def __init__(
        self, emit: Callable[[Content | Partial], None], kind: Kind, *, name: str = "", call_id: str = ""
    ) -> None:
        self._emit, self._pieces = emit, list[str]()
        self.kind: Kind = kind
        self.name, self.call_id = name, call_id
        emit(self._fragment("start", ""))

    @property
    def body(self) -> str:
        """What was streamed so far."""
        return "".join(self._pieces)

    def delta(self, piece: str) -> None:
        """Streams one piece; an empty one is nothing."""
        if piece:
            piece = encodable(piece)
            self._pieces.append(piece)
            self._emit(self._fragment("delta", piece))

    def close(
        self,
        stop_reason: StopReason | None = None,
        fidelity: Fidelity | None = None,
        images: tuple[str, ...] | None = None,
    ) -> Content:
        """Ends the segment and returns its complete message, which has been emitted."""
        self._emit(self._fragment("stop", ""))
        complete = self._complete(stop_reason, fidelity, images)
        self._emit(complete)
        return complete

    def so_far(self) -> tuple[Partial, ...]:
        """The open segment as a `start` and, if there is a body, one `delta` with all of it."""
        start = self._fragment("start", "")
        return (start, self._fragment("delta", self.body)) if self._pieces else (start,)

    def _fragment(self, event: Literal["start", "delta", "stop"], piece: str) -> Partial:
        match self.kind:
            case "text":
                return PartialText(event_type=event, text=piece)
            case "thinking":
                return PartialThinking(event_type=event, thinking=piece)
            case "tool_call":
                return PartialToolCall(event_type=event, name=self.name, arguments=piece, tool_call_id=self.call_id)
            case "tool_call_output":
                return PartialToolCallOutput(event_type=event, output=piece, tool_call_id=self.call_id)

    def _complete(self, stop: StopReason | None, fidelity: Fidelity | None, images: tuple[str, ...] | None) -> Content:
        match self.kind:
            case "text":
                return Text(role="assistant", text=self.body, stop_reason=stop, fidelity=fidelity)
            case "thinking":
                return Thinking(thinking=self.body, stop_reason=stop, fidelity=fidelity)
            case "tool_call":
                return ToolCall(
                    name=self.name, arguments=self.body, tool_call_id=self.call_id, stop_reason=stop, fidelity=fidelity
                )
            case "tool_call_output":
                return ToolCallOutput(
                    tool_call_id=self.call_id, output=self.body, images=images, stop_reason=stop, fidelity=fidelity
                )


def encodable(text: str) -> str:
    """The text with U+FFFD for every lone surrogate: no JSON can hold one, and emitting a message must not fail."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


class Undisciplined(ValueError):
    """A stream that breaks the discipline."""


class Aggregator:
    """Joins the fragments of one stream. `apply` returns the complete messages, which are all that is in a trace."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], list[str]] = {}
        self._stopped: tuple[str, str] | None = None
        self._joined = ""

    @property
    def open(self) -> dict[tuple[str, str], str]:
        """The open segments by (kind, tool_call_id), each with its body so far."""
        return {key: "".join(pieces) for key, pieces in self._open.items()}

    def apply(self, payload: Content | Partial) -> Content | None:
        """Takes the next payload; a complete one is returned. Raises Undisciplined where the rule is broken."""
        kind = payload.type.removeprefix("partial_")
        key = (kind, str(getattr(payload, "tool_call_id", "")))
        if self._stopped and (self._stopped != key or payload.type != kind):
            raise Undisciplined(f"{payload.type} between a stop and its complete message {self._stopped}")
        if isinstance(payload, PartialText | PartialThinking | PartialToolCall | PartialToolCallOutput):
            self._fragment(key, payload)
            return None
        if key in self._open:
            raise Undisciplined(f"{key} is complete before its stop")
        if self._stopped and self._joined != getattr(payload, _BODY[kind]):
            raise Undisciplined(f"{key}: the fragments are not the body")
        self._stopped = None
        return payload

    def _fragment(self, key: tuple[str, str], fragment: Partial) -> None:
        body = str(getattr(fragment, _BODY[key[0]]))
        if fragment.event_type == "start":
            if key in self._open:
                raise Undisciplined(f"{key} starts twice")
            self._open[key] = []
        elif key not in self._open:
            raise Undisciplined(f"{key}: {fragment.event_type} without a start")
        elif fragment.event_type == "stop":
            self._stopped, self._joined = key, "".join(self._open.pop(key))
        if fragment.event_type == "delta":
            self._open[key].append(body)
        elif body:
            raise Undisciplined(f"{key}: {fragment.event_type} carries a body")
