"""One request to the model: its parts become segments, its complete calls start at once.

The stream is read in a task of its own, which says everything in order; the run only waits for its end. That is how a
run that is interrupted returns at once, whatever the provider does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from pydantic_core import from_json

from agent_lsp.engine.calls import LiveCall
from agent_lsp.engine.ports import (
    CallBegin,
    CallDelta,
    Outcome,
    Part,
    SegmentEnd,
    TextDelta,
    ThinkingDelta,
)
from agent_lsp.messages.content import Fidelity, Partial, StopReason, ToolCall
from agent_lsp.messages.events import RequestBegin, RequestEnd, TokenUsage
from agent_lsp.messages.partial import Segment

if TYPE_CHECKING:
    from agent_lsp.engine.runtime import Runtime

_log = logging.getLogger(__name__)
_CUT = ("length", "refusal", "content_filter")
_ENDED_EARLY = Outcome("malformed", "the reply ended without its end")
_BROKEN = Outcome("failed", "the provider's adapter failed inside; the server's log has the details")


class Attempt:
    """One attempt at a turn. `ended` resolves to what the stream came to; then `finish` says so.

    One that is `aside` is no turn: the client hears only its text and its usage, and the calls it has `made` never run.
    """

    def __init__(self, runtime: Runtime, number: int, *, aside: bool = False) -> None:
        self.number, self.calls, self.made = number, list[LiveCall](), list[ToolCall]()
        self._aside = aside
        self._say = runtime.emit_aside if aside else runtime.emit
        self.ended: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._runtime = runtime
        self._prose: Segment | None = None
        self._call_segments: dict[int, Segment] = {}
        self._whole: dict[int, Fidelity | None] = {}
        self._texts: list[str] = []
        self._bad_call: str | None = None
        self.is_finished = False
        self._task: asyncio.Task[None] | None = None

    def begin(self, parts: AsyncGenerator[Part, None]) -> None:
        """Says `request_begin` and starts to read."""
        self._say(RequestBegin())
        self._task = self._runtime.scope.spawn(self._read(parts), self._read_ended)

    def finish(self, outcome: Outcome, retry_in_ms: int | None = None) -> None:
        """Closes what is open and says how the request ended, without waiting for tools."""
        self.is_finished = True
        self._stop_reading()
        completed = outcome.status == "completed"
        self._close_open(outcome)
        if completed and outcome.usage:
            ledger = self._runtime.ledger
            self._say(
                TokenUsage(
                    session=ledger.usage + outcome.usage,
                    request=outcome.usage,
                    context_window=self._runtime.options.context_window,
                    compaction_at=self._runtime.options.compaction_at,
                )
            )
        numbered = self.number > 1 or outcome.status not in ("completed", "aborted")
        self._say(
            RequestEnd(
                status=outcome.status,
                error_message=None if outcome.status in ("completed", "aborted") else outcome.message or "no details",
                attempt=self.number if numbered else None,
                retry_in_ms=retry_in_ms,
                finish=outcome.finish or "stop" if completed else None,
            )
        )
        if not completed:
            for call in self.calls:
                call.withdraw()

    @property
    def text(self) -> str:
        """The reply's text so far."""
        return "".join([*self._texts, self._prose.body if self._prose and self._prose.kind == "text" else ""])

    def so_far(self) -> tuple[Partial, ...]:
        """The open segments, as fragments."""
        segments = [*([self._prose] if self._prose else []), *self._call_segments.values()]
        return tuple(fragment for segment in segments for fragment in segment.so_far())

    async def _read(self, parts: AsyncGenerator[Part, None]) -> None:
        async with aclosing(parts) as stream:
            async for part in stream:
                if self.ended.done():
                    return
                if isinstance(part, Outcome):
                    self.ended.set_result(self._judged(part))
                    continue  # to the stream's own end, so that its connection can be used again
                self._take(part)
                await self._runtime.sink.drain()

    def _read_ended(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error:
            _log.error("the provider's adapter failed inside", exc_info=error)
        if not self.ended.done():
            self.ended.set_result(_BROKEN if error else _ENDED_EARLY)

    def _stop_reading(self) -> None:
        if not self.ended.done():  # else it only lets go of its connection, which may be used again
            self.ended.set_result(Outcome("aborted"))
            if self._task:
                self._task.cancel()

    def _take(self, part: Part) -> None:
        match part:
            case TextDelta():
                self._prose_of("text").delta(part.text)
            case ThinkingDelta():
                self._prose_of("thinking").delta(part.thinking)
            case CallDelta():
                self._call_segments[part.key].delta(part.arguments)
            case CallBegin():
                self._close_prose(None)
                id = self._runtime.ledger.ids.claim(part.call_id)
                self._call_segments[part.key] = Segment(self._say, "tool_call", name=part.name, call_id=id)
            case SegmentEnd():
                if part.key is None:
                    self._close_prose(None, part.fidelity)
                else:
                    self._whole[part.key] = part.fidelity
                    self._end_calls()
            case Outcome():
                pass

    def _prose_of(self, kind: str) -> Segment:
        if self._prose is None or self._prose.kind != kind:
            self._close_prose(None)
            self._prose = Segment(self._say, "text" if kind == "text" else "thinking")
        return self._prose

    def _close_prose(self, stop_reason: StopReason | None, fidelity: Fidelity | None = None) -> None:
        if segment := self._prose:
            self._prose = None
            if segment.kind == "text":
                self._texts.append(segment.body)
            segment.close(stop_reason, fidelity)

    def _end_calls(self) -> None:
        """Takes the calls that are whole, in the order in which they began: a later one waits for an earlier one."""
        while (key := next(iter(self._call_segments), None)) is not None and key in self._whole:
            self._end_call(key, self._whole.pop(key))

    def _end_call(self, key: int, fidelity: Fidelity | None) -> None:
        """The model has made this call: it is decided and runs, unless its arguments are no JSON object."""
        segment = self._call_segments.pop(key)
        if not is_object(segment.body):
            self._bad_call = segment.name
            segment.close("malformed", fidelity)
            return
        call = segment.close(None, fidelity)
        assert isinstance(call, ToolCall)
        self.made.append(call)
        if not self._aside:
            self.calls.append(LiveCall(self._runtime, call))
            self.calls[-1].start()

    def _judged(self, outcome: Outcome) -> Outcome:
        """The adapter's outcome, held against what the reply holds."""
        if outcome.status != "completed":
            return outcome
        for key in tuple(self._call_segments):
            if outcome.finish not in _CUT or key in self._whole:
                self._end_call(key, self._whole.get(key))
        if self._bad_call is not None:
            if outcome.finish == "length":
                return outcome  # the limit has cut it, however its adapter came to end it
            return Outcome("malformed", f"the arguments of {self._bad_call} are not a JSON object", reply=self.text)
        if not self.made and not self._call_segments and not self.text.strip():
            return Outcome("malformed", "the reply has neither text nor a tool call", reply=self.text)
        return outcome

    def _close_open(self, outcome: Outcome) -> None:
        cut: StopReason | None = "failed" if outcome.finish in _CUT else None
        reason = cut if outcome.status == "completed" else outcome.status
        self._close_prose(reason)
        for segment in tuple(self._call_segments.values()):
            segment.close(reason or "failed")
        self._call_segments.clear()


def is_object(arguments: str) -> bool:
    """Whether a call's arguments are a JSON object; blank ones mean `{}`."""
    if not arguments.strip():
        return True
    try:
        return isinstance(from_json(arguments), dict)
    except ValueError:
        return False
