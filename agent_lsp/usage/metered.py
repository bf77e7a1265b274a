"""Measures the requests of a session while they happen, from where the engine says what it does.

    meter = Meter(store, Subject(…))
    Session(…, trace=MeteredTrace(trace, meter), sink=MeteredSink(sink, meter))

The trace is told everything but fragments, failed requests of a compaction included, which no front end sees; the sink
is told the fragments, the first of which ends the wait for the model. Hence a wrapper for each, and one meter.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TYPE_CHECKING

from agent_lsp.engine.ports import (
    LLM,
    CallBegin,
    CallDelta,
    Outcome,
    Part,
    Request,
    Sink,
    StateChange,
    TextDelta,
    ThinkingDelta,
    Trace,
)
from agent_lsp.messages.clock import timestamp
from agent_lsp.messages.envelope import MESSAGE, Message
from agent_lsp.messages.events import (
    CompactionBegin,
    CompactionEnd,
    RequestBegin,
    RequestEnd,
    RunBegin,
    SessionUpdate,
    TokenCounts,
    TokenUsage,
)
from agent_lsp.slotted import replace
from agent_lsp.usage.row import CompactionFailure, Purpose, Recorder, Subject, UsageRow

_TELLING = re.compile(
    rb'.{0,60}"type":"event_msg","payload":\{"type":"'
    rb'(?:request_(?:begin|end)|token_usage|compaction_(?:begin|end)|run_begin|session_update)"'
)
"""The beginning of the lines that are worth reading again; of a long line no more than that is looked at."""

_REPLY = frozenset({"partial_text", "partial_thinking", "partial_tool_call"})


class Meter:
    """Turns what happens in one session into rows. `subject` follows the session's changes of model."""

    def __init__(self, recorder: Recorder, subject: Subject, clock: Callable[[], float] = time.monotonic) -> None:
        self.subject, self.awaits_reply = subject, False
        """`awaits_reply`: a request was sent and nothing of its reply has come."""
        self._recorder, self._clock = recorder, clock
        self._purpose: Purpose = "turn"
        self._began_s: float | None = None
        self._ttft_ms: int | None = None
        self._tokens = TokenCounts()

    def traced(self, line: bytes) -> None:
        """The next line of the trace."""
        if not _TELLING.match(line):
            return
        message = MESSAGE.validate_json(line)
        match message.payload:
            case RequestBegin():
                self._began_s, self._ttft_ms, self._tokens = self._clock(), None, TokenCounts()
                self.awaits_reply = True
            case TokenUsage(request=tokens):
                self._tokens = tokens
            case RequestEnd() as end:
                self._request_ended(end, message.timestamp)
            case CompactionBegin():
                self._purpose = "compaction"
            case CompactionEnd() as end:
                self._compaction_ended(end, message.timestamp)
            case RunBegin():
                self._purpose = "turn"
            case SessionUpdate(model=str(model)):
                provider, _, name = model.partition("/")
                self.subject = replace(self.subject, provider=provider, model=name)
            case _:
                pass

    def reply_began(self) -> None:
        """The first piece of the reply has come."""
        self.awaits_reply = False
        self._ttft_ms = self._elapsed_ms()

    def record(self, row: UsageRow) -> None:
        """Passes on a row of a request that was made beside the conversation."""
        self._recorder.record(row)

    def now_s(self) -> float:
        """The meter's clock."""
        return self._clock()

    def _request_ended(self, end: RequestEnd, ts: str) -> None:
        self.awaits_reply = False
        self._recorder.record(
            UsageRow(
                ts=ts,
                subject=self.subject,
                purpose=self._purpose,
                status=end.status,
                attempt=end.attempt or 1,
                tokens=self._tokens,
                duration_ms=self._elapsed_ms(),
                ttft_ms=self._ttft_ms,
                error=end.error_message,
            )
        )
        self._began_s = None

    def _compaction_ended(self, end: CompactionEnd, ts: str) -> None:
        self._purpose = "turn"
        if end.status not in ("completed", "aborted"):
            message = end.error_message or end.status
            self._recorder.record(CompactionFailure(ts, self.subject.session_id, end.attempt or 1, message))

    def _elapsed_ms(self) -> int:
        return 0 if self._began_s is None else round((self._clock() - self._began_s) * 1000)


class MeteredTrace:
    """A trace, and what the meter learns from it."""

    def __init__(self, inner: Trace, meter: Meter) -> None:
        self._inner, self._meter = inner, meter

    def append(self, line: bytes) -> None:
        """Adds the line, then measures."""
        self._inner.append(line)
        self._meter.traced(line)

    def rotate(self, preamble: Sequence[bytes]) -> None:
        """As the trace does."""
        self._inner.rotate(preamble)

    async def sync(self) -> None:
        """As the trace does."""
        await self._inner.sync()


class MeteredSink:
    """A sink, and what the meter learns from it: one look at a flag for each message."""

    def __init__(self, inner: Sink, meter: Meter) -> None:
        self._push, self._inner, self._meter = inner.push, inner, meter

    def push(self, message: Message, run_id: str | None) -> None:
        """Passes the message on, then measures."""
        self._push(message, run_id)
        if self._meter.awaits_reply and message.payload.type in _REPLY and message.origin is None:
            self._meter.reply_began()

    def state(self, change: StateChange) -> None:
        """Passes the state on."""
        self._inner.state(change)

    async def drain(self) -> None:
        """As the sink does."""
        await self._inner.drain()


class MeteredLLM:
    """A model for requests beside the conversation, which are in no trace: a title, a summary for the loop."""

    def __init__(self, inner: LLM, meter: Meter, purpose: Purpose) -> None:
        self._inner, self._meter = inner, meter
        self._purpose: Purpose = purpose

    async def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        """Streams from the model and records the request when it ends, also one that is let go of."""
        began_s, ttft_ms, outcome = self._meter.now_s(), None, Outcome("aborted")
        parts = self._inner.stream(request)
        try:
            async for part in parts:
                if ttft_ms is None and isinstance(part, TextDelta | ThinkingDelta | CallBegin | CallDelta):
                    ttft_ms = round((self._meter.now_s() - began_s) * 1000)
                if isinstance(part, Outcome):
                    outcome = part
                yield part
        finally:
            duration_ms = round((self._meter.now_s() - began_s) * 1000)
            self._meter.record(self._row(outcome, duration_ms, ttft_ms))
            await parts.aclose()

    def _row(self, outcome: Outcome, duration_ms: int, ttft_ms: int | None) -> UsageRow:
        return UsageRow(
            ts=timestamp(),
            subject=self._meter.subject,
            purpose=self._purpose,
            status=outcome.status,
            tokens=outcome.usage or TokenCounts(),
            duration_ms=duration_ms,
            ttft_ms=ttft_ms,
            error=None if outcome.status in ("completed", "aborted") else outcome.message,
        )


if TYPE_CHECKING:
    _trace: type[Trace] = MeteredTrace
    _sink: type[Sink] = MeteredSink
    _llm: type[LLM] = MeteredLLM
