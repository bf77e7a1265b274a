"""A reply as it grows: what a dialect reads out of its events becomes parts, by rules that hold in every dialect.

Pieces of one segment that come from the same bytes are one part. A call ends when its arguments are known to be whole;
what may still be cut at the output limit stays open until the finish tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic_core import from_json

from agent_lsp.engine.ports import CallBegin, CallDelta, Outcome, Part, SegmentEnd, TextDelta, ThinkingDelta

if TYPE_CHECKING:
    from agent_lsp.messages.content import Fidelity
    from agent_lsp.messages.events import Finish, TokenCounts

REFUSED = "[the provider refused this request]"
"""Stands where a refusal came without words."""

_REFUSED = ("refusal", "content_filter")
_CUT = ("length", *_REFUSED)
_WORDLESS = (*_REFUSED, "pause")


def arguments_are_whole(raw: str) -> bool:
    """Whether the text is a JSON object."""
    if not raw.rstrip().endswith("}"):
        return False
    try:
        return isinstance(from_json(raw), dict)
    except ValueError:
        return False


class Call:
    """One call of the reply. It is told of when its name is known."""

    __slots__ = ("call_id", "ended", "fidelity", "key", "name", "pieces")

    def __init__(self, key: int, name: str, call_id: str) -> None:
        self.key, self.name, self.call_id = key, name, call_id
        self.pieces: list[str] = []
        self.ended = False
        self.fidelity: Fidelity | None = None

    @property
    def arguments(self) -> str:
        """What came of the arguments so far."""
        return "".join(self.pieces)


class Reply:
    """Collects parts; `take` hands them over. After `outcome` is set nothing more is collected."""

    __slots__ = ("_holds", "_open", "_parts", "_pending", "_pieces", "calls", "fidelity", "has_words", "outcome")

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._pieces: list[str] = []
        self._pending: Literal["text", "thinking"] | Call | None = None  # whose pieces are not a part yet
        self._open: Literal["text", "thinking"] | None = None
        self._holds = False
        self.has_words = False
        self.calls: list[Call] = []
        self.fidelity: Fidelity | None = None
        """Goes onto the open text or thinking when it ends."""
        self.outcome: Outcome | None = None

    def take(self) -> list[Part]:
        """What was collected since the last time."""
        self._flush()
        parts, self._parts = self._parts, []
        if self.outcome in parts and parts[-1] is not self.outcome:  # the event that broke the reply said more
            del parts[parts.index(self.outcome) + 1 :]
        return parts

    def text(self, piece: str) -> None:
        """A piece of text. Calls whose arguments are whole end before it."""
        if self._open != "text":
            if not piece:
                return
            self._switch("text")
            self.end_whole_calls()
        self._add("text", piece)
        if not self.has_words and not piece.isspace():
            self.has_words = True

    def thinking(self, piece: str) -> None:
        """A piece of thinking; an empty one opens a segment all the same."""
        if piece or self._open != "thinking":
            self._switch("thinking")
            self._add("thinking", piece)

    def begin(self, name: str, call_id: str) -> Call:
        """A new call; its name may be given later. Earlier calls whose arguments are whole end before it."""
        self.end_segment()
        self.end_whole_calls()
        call = Call(len(self.calls), "", call_id)
        self.calls.append(call)
        self.name(call, name)
        return call

    def name(self, call: Call, name: str) -> None:
        """Sets the call's name, once; what came of its arguments before is told now."""
        if name and not call.name:
            call.name = name
            self._flush()
            self._parts.append(CallBegin(call.key, name, call.call_id))
            if call.pieces:
                self._parts.append(CallDelta(call.key, call.arguments))

    def arguments(self, call: Call, piece: str) -> None:
        """A piece of the call's arguments. Anything but white space after its end breaks the reply."""
        if not piece:
            return
        if call.ended:
            if not piece.isspace():
                self.malformed(f"more arguments for a call of {call.name} that was complete")
            return
        call.pieces.append(piece)
        if call.name:
            self._add(call, piece)

    def end_call(self, call: Call) -> None:
        """The call is complete and may run; one without a name never is."""
        if not call.ended and call.name and not self._holds:
            call.ended = True
            self._flush()
            self._parts.append(SegmentEnd(call.key, call.fidelity))

    def is_open(self, kind: Literal["text", "thinking"]) -> bool:
        """Whether a piece of that kind would go on with the open segment."""
        return self._open == kind

    def hold_calls(self) -> None:
        """The reply is known to be refused: what has not ended yet never does, so that it does not run."""
        self._holds = True

    def end_whole_calls(self) -> None:
        """Ends each call whose arguments are a JSON object; blank ones may still be coming."""
        for call in () if self._holds else self.calls:
            if not call.ended and call.name and arguments_are_whole(call.arguments):
                self.end_call(call)

    def end_segment(self) -> None:
        """Ends the open text or thinking, if there is one."""
        if self._open:
            self._flush()
            self._parts.append(SegmentEnd(None, self.fidelity))
            self._open, self.fidelity = None, None

    def complete(self, finish: Finish, usage: TokenCounts) -> None:
        """The reply ended properly. What was cut stays open; what cannot be used makes the reply malformed."""
        if finish in _REFUSED:
            self.hold_calls()
        if finish not in _CUT:
            self.end_segment()
            for call in self.calls:
                if not call.arguments.strip() and call.name:
                    self.end_call(call)
        self.end_whole_calls()
        torn = [call for call in self.calls if not call.ended]
        if torn and finish not in _CUT:
            named = torn[0].name or "a tool without a name"
            self.malformed(f"the arguments of a call of {named} are not a JSON object")
        elif not self.calls and not self.has_words and finish not in _WORDLESS:
            self.malformed("the reply has neither text nor a call")
        else:
            if not self.has_words and finish in _REFUSED:
                self.text(REFUSED)
            settled = "tool_calls" if finish == "stop" and self.calls else finish
            settled = "stop" if settled == "tool_calls" and not self.calls else settled
            self.end(Outcome("completed", usage=usage, finish=settled))

    def malformed(self, message: str) -> None:
        """The reply cannot be used."""
        self.end(Outcome("malformed", message))

    def end(self, outcome: Outcome) -> None:
        """Ends the reply, unless it has ended."""
        if self.outcome is None:
            self._flush()
            self.outcome = outcome
            self._parts.append(outcome)

    def _switch(self, kind: Literal["text", "thinking"]) -> None:
        if self._open != kind:
            self.end_segment()
            self._open = kind

    def _add(self, target: Literal["text", "thinking"] | Call, piece: str) -> None:
        if self._pending is not target:
            self._flush()
            self._pending = target
        self._pieces.append(piece)

    def _flush(self) -> None:
        target = self._pending
        if target is None:
            return
        piece = self._pieces[0] if len(self._pieces) == 1 else "".join(self._pieces)
        self._pending, self._pieces = None, []
        if target == "text":
            self._parts.append(TextDelta(piece))
        elif target == "thinking":
            self._parts.append(ThinkingDelta(piece))
        else:
            self._parts.append(CallDelta(target.key, piece))
