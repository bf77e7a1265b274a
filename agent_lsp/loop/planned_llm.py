"""A model that is asked for one decision at a time, to the engine a model like any other.

    request → texts alone, the rules of deciding, the tools as text → the inner model
    its text → one tool call, or the answer as plain text, streamed as it is written

Nothing is kept between requests but what is a function of them: the same messages give the same request.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from agent_lsp.engine.ports import (
    LLM,
    CallBegin,
    CallDelta,
    Commit,
    Outcome,
    Part,
    Request,
    SegmentEnd,
    TextDelta,
    ThinkingDelta,
)
from agent_lsp.loop.contract import decision_schema, system_prompt
from agent_lsp.loop.marks import reason_mark
from agent_lsp.loop.reader import Answer, Planned, Unreadable, arguments
from agent_lsp.loop.rendering import Names, Renderer
from agent_lsp.loop.reply import Reply
from agent_lsp.loop.variables import UnknownVariable, settled_length
from agent_lsp.messages.content import ToolCall
from agent_lsp.slotted import replace

if TYPE_CHECKING:
    from agent_lsp.messages.events import ToolSpec

DECISION_TOOL = "decide"
"""The tool by which an adapter may have a provider hold the model to the schema of a decision."""

_CUT = ("length", "refusal", "content_filter")


class PlannedLLM:
    """Wraps `inner`. `resolve` puts variables into an answer; it raises `UnknownVariable`."""

    def __init__(self, inner: LLM, resolve: Callable[[str], str], max_output_chars: int) -> None:
        self._inner, self._resolve = inner, resolve
        self._renderer = Renderer(max_output_chars)
        self._rendered: WeakKeyDictionary[Commit, tuple[Commit, Names]] = WeakKeyDictionary()
        self._told: tuple[str, tuple[ToolSpec, ...], str, Mapping[str, Any]] | None = None

    async def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        """Streams the decision. What is asked without system prompt and tools is no decision, and goes through."""
        is_plain = not request.system and not request.tools
        translation = None if is_plain else _Translation(request.tools, self._resolve)
        asked = request if is_plain else self.plan(request)
        async with aclosing(self._inner.stream(asked)) as parts:
            async for part in parts:
                for one in translation.take(part) if translation else (part,):
                    yield one

    def plan(self, request: Request) -> Request:
        """The request as the inner model gets it."""
        system, schema = self._contract(request)
        names: Names = {}
        history = [self._commit(commit, names) for commit in request.history]
        input = self._renderer.render(request.input, names)
        return replace(request, system=system, tools=(), history=tuple(history), input=input, response_schema=schema)

    def _contract(self, request: Request) -> tuple[str, Mapping[str, Any]]:
        told = self._told
        if told is None or told[0] != request.system or told[1] != request.tools:
            tools = request.tools
            told = self._told = (request.system, tools, system_prompt(request.system, tools), decision_schema(tools))
        return told[2], told[3]

    def _commit(self, commit: Commit, names: Names) -> Commit:
        """The commit as texts, always the very same object for it: adapters keep what they encoded of one."""
        kept = self._rendered.get(commit)
        if kept is None:
            rendered = Commit(self._renderer.render(commit.messages, names))
            own = {one.tool_call_id: one.name for one in commit.messages if isinstance(one, ToolCall)}
            kept = self._rendered[commit] = (rendered, own)
        names.update(kept[1])
        return kept[0]


class _Translation:
    """One reply: the inner model's parts in, the parts of a native one out."""

    def __init__(self, tools: Sequence[ToolSpec], resolve: Callable[[str], str]) -> None:
        self._tools, self._resolve = {tool.name: tool for tool in tools}, resolve
        self._reply = Reply()
        self._waiting = ""
        self._unknown: UnknownVariable | None = None
        self._thinks = False
        self._native: set[int] = set()

    def take(self, part: Part) -> Sequence[Part]:
        """What the part comes to."""
        match part:
            case TextDelta():
                return self._text(part.text)
            case ThinkingDelta():
                self._thinks = True
                return (part,)
            case CallBegin():
                return self._called(part)
            case CallDelta():
                return (part,) if part.key in self._native else self._text(part.arguments)
            case SegmentEnd():
                return self._segment_end(part)
            case Outcome():
                return self._end(part)

    def _text(self, piece: str) -> Sequence[Part]:
        self._thinks = False
        return self._show(self._reply.feed(piece), is_last=False)

    def _called(self, call: CallBegin) -> Sequence[Part]:
        """A real call from a model that was offered none; that by which the schema was enforced is the reply itself."""
        if call.name == DECISION_TOOL and DECISION_TOOL not in self._tools:
            return ()
        self._native.add(call.key)
        return (call,)

    def _segment_end(self, part: SegmentEnd) -> Sequence[Part]:
        if part.key is None:
            passes, self._thinks = self._thinks, False
            return (part,) if passes else ()
        return (part,) if part.key in self._native else ()

    def _show(self, piece: str, *, is_last: bool) -> Sequence[Part]:
        """The next piece of the answer, its variables resolved; what may become one waits."""
        self._waiting += piece
        ready = len(self._waiting) if is_last else settled_length(self._waiting)
        text, self._waiting = self._waiting[:ready], self._waiting[ready:]
        try:
            shown = self._resolve(text) if not self._unknown else ""
        except UnknownVariable as error:
            self._unknown, shown = error, ""
        return (TextDelta(shown),) if shown else ()

    def _end(self, outcome: Outcome) -> Sequence[Part]:
        raw = self._reply.text
        if outcome.status != "completed":
            is_blank = outcome.status == "malformed" and not raw.strip()
            return (replace(outcome, reply=raw) if is_blank else outcome,)
        if self._native:
            return (outcome,)
        match self._reply.end():
            case Answer(text=text):
                shown = self._show(self._reply.rest(text), is_last=True)
                finish = "stop" if outcome.finish == "tool_calls" else outcome.finish
                return (
                    self._malformed(str(self._unknown)) if self._unknown else (*shown, replace(outcome, finish=finish))
                )
            case Planned() as planned:
                preface = self._show(self._reply.rest(planned.preface), is_last=True)
                return (*preface, *self._call(planned), replace(outcome, finish="tool_calls"))
            case Unreadable(why=why):
                return self._unreadable(why, outcome)

    def _call(self, planned: Planned) -> Sequence[Part]:
        raw = arguments(planned, self._tools.get(planned.tool))
        return CallBegin(0, planned.tool, ""), CallDelta(0, raw), SegmentEnd(0, reason_mark(planned.reason))

    def _unreadable(self, why: str, outcome: Outcome) -> Sequence[Part]:
        """A reply that its limit has cut inside a call is treated as such a call is: it never runs, and is said so."""
        if outcome.finish in _CUT and self._reply.shown:
            return (*self._show("", is_last=True), outcome)
        if outcome.finish == "length" and (tool := self._reply.cut_call()):
            return CallBegin(0, tool, ""), CallDelta(0, self._reply.text), outcome
        return self._malformed(f"{why} (it was cut at the output limit)" if outcome.finish == "length" else why)

    def _malformed(self, why: str) -> Sequence[Part]:
        return (Outcome("malformed", f"unreadable decision: {why}", reply=self._reply.text),)


if TYPE_CHECKING:
    _: type[LLM] = PlannedLLM
