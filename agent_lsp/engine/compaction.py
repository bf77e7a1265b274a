"""Compaction: the context gives way to a summary of it, or to nothing.

    compaction_begin → prompt → request → summary → compaction_end, a fresh context
                         ▲         │ failed, a call instead of a summary, or none
                         └─ wait ──┘ on the same ladder as any request; when it is spent the old context stays

The request extends the old context, with the same system prompt and tools, so that a provider's prefix cache holds when
it is worth most. What an attempt committed is repaired, never taken back.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from agent_lsp.engine.account import Availability, CompactionResult
from agent_lsp.engine.attempt import Attempt
from agent_lsp.engine.backoff import Ladder
from agent_lsp.engine.pause import Pause
from agent_lsp.engine.ports import Commit, Outcome, Part, StateChange
from agent_lsp.messages import markers
from agent_lsp.messages.content import Content, Partial, StopReason, Text, ToolCallOutput
from agent_lsp.messages.events import (
    CompactionBegin,
    CompactionEnd,
    CompactionMode,
    CompactionReason,
    TokenCounts,
)
from agent_lsp.slotted import replace

if TYPE_CHECKING:
    from agent_lsp.engine.hooks import HistoryPlan
    from agent_lsp.engine.interrupt import Interrupt
    from agent_lsp.engine.runtime import Runtime

_CORRECTION = "That was no summary. Call no tool now; answer with the summary alone, between [summary] and [/summary]."
_SHORTENED_CHARS = (4000, 1000, 200)
"""Longest tool output in a compaction request that was refused as too long: the first, second and third time."""


def availability(runtime: Runtime) -> Availability:
    """Whether a compaction by hand would do anything now."""
    ledger = runtime.ledger
    if runtime.options.compaction_mode == "off":
        return "unsupported"
    if ledger.just_compacted:
        return "just_compacted"
    return "ok" if ledger.history else "empty"


def due(runtime: Runtime) -> CompactionReason | None:
    """The reason for which a compaction is due after the last completed request."""
    options, ledger = runtime.options, runtime.ledger
    if options.compaction_mode == "off" or not ledger.history:
        return None
    if options.compaction_at is not None and ledger.context_tokens >= options.compaction_at:
        return "context"
    if 0 < options.max_session_turns <= ledger.context_turns:
        return "turns"
    return None


class Compaction:
    """One compaction. It needs no lock: whoever starts it is the session's only task."""

    def __init__(
        self,
        runtime: Runtime,
        interrupt: Interrupt,
        reason: CompactionReason,
        mode: CompactionMode | None = None,
        plan: HistoryPlan | None = None,
    ) -> None:
        options = runtime.options
        self._plan = plan
        self._runtime, self._interrupt = runtime, interrupt
        self._reason: CompactionReason = reason
        self._mode: CompactionMode = mode or ("discard" if options.compaction_mode == "discard" else "summarize")
        self._ladder = Ladder(options.max_retries, options.retry_base_ms, options.retry_cap_ms)
        self._pause = Pause(runtime, interrupt, StateChange("compacting"))
        self._attempt: Attempt | None = None
        self._usage = TokenCounts()
        self._shortened = 0

    async def run(self) -> CompactionResult:
        """Compacts. The state is `compacting` meanwhile; the caller sets it afterwards."""
        ledger = self._runtime.ledger
        self._runtime.set_state(StateChange("compacting"))
        self._runtime.emit(
            CompactionBegin(
                reason=self._reason,
                mode=self._mode,
                context=ledger.context_tokens,
                turns=ledger.context_turns,
                kept=self._plan.kept if self._plan else None,
            )
        )
        if self._mode == "discard":
            return self._end("completed")
        self._ask()
        for number in itertools.count(1):
            failure, wait_ms = await self._try(number)
            if failure is None:
                return self._end("completed", number)
            if failure.status == "aborted":
                return self._end("aborted")
            if wait_ms is None:
                return self._end("auth" if failure.status == "auth" else "failed", number, failure.message)
            if not await self._pause.wait(wait_ms, number):
                return self._end("aborted")
        raise AssertionError("unreachable")

    def retry_now(self) -> bool:
        """Ends the present wait; false when nothing waits."""
        return self._pause.skip()

    def break_off(self, outcome: Outcome) -> None:
        """Ends the compaction in this very step."""
        if self._attempt and not self._attempt.is_finished:
            self._attempt.finish(outcome)
        if self._runtime.ledger.compacting:
            self._end(outcome.status, message=None if outcome.status == "aborted" else outcome.message)

    def so_far(self) -> tuple[Partial, ...]:
        """The summary that is being streamed, as fragments."""
        shown = self._attempt.so_far() if self._attempt else ()
        return tuple(one for one in shown if one.type == "partial_text")

    def _ask(self) -> None:
        text = self._plan.prompt if self._plan else self._runtime.options.compaction_prompt
        self._runtime.emit(Text(role="user", text=text, sender="harness"), traced_only=True)

    async def _try(self, number: int) -> tuple[Outcome | None, int | None]:
        """One attempt: what is wrong with it (None: it has brought a summary), and the wait before the next one."""
        attempt = self._attempt = Attempt(self._runtime, number, aside=True)
        attempt.begin(self._parts())
        if not await self._interrupt.wait(attempt.ended):
            attempt.finish(Outcome("aborted"))
            return Outcome("aborted"), None
        outcome = attempt.ended.result()
        if outcome.status != "completed":
            wait_ms = self._wait_ms(number, outcome)
            attempt.finish(outcome, wait_ms)
            return outcome, wait_ms
        attempt.finish(outcome)
        self._usage += outcome.usage or TokenCounts()
        if not attempt.made and markers.read_summary(attempt.text):
            return None, None
        failure = Outcome("malformed", "the reply calls a tool" if attempt.made else "the summary is empty")
        self._repair(attempt)
        wait_ms = self._ladder.wait_ms(number, failure)
        if wait_ms is not None:
            self._runtime.emit(Text(role="user", text=_CORRECTION, sender="harness"), traced_only=True)
            self._ask()
        return failure, wait_ms

    def _parts(self) -> AsyncGenerator[Part, None]:
        request = self._runtime.request(None)
        if self._shortened:
            longest = _SHORTENED_CHARS[self._shortened - 1]
            history = tuple(_shortened(commit, longest) for commit in request.history)
            request = replace(request, history=history, input=tuple(_cut(one, longest) for one in request.input))
        llm = self._plan.llm if self._plan and self._plan.llm else self._runtime.llm
        return llm.stream(request)

    def _wait_ms(self, number: int, outcome: Outcome) -> int | None:
        """The wait by the ladder; a request that was refused as too long is made again at once, shorter."""
        if outcome.context_length and self._shortened < len(_SHORTENED_CHARS):
            self._shortened += 1
            return 0
        return self._ladder.wait_ms(number, outcome)

    def _repair(self, attempt: Attempt) -> None:
        """What was committed is answered, so that whatever is sent next is in order."""
        for call in attempt.made:
            self._runtime.emit_aside(
                ToolCallOutput(tool_call_id=call.tool_call_id, output=markers.NOT_A_SUMMARY, stop_reason="failed")
            )

    def _end(self, status: StopReason, attempt: int | None = None, message: str | None = None) -> CompactionResult:
        self._runtime.emit(
            CompactionEnd(
                reason=self._reason,
                mode=self._mode,
                status=status,
                attempt=attempt if attempt and (attempt > 1 or message) else None,
                error_message=message,
            )
        )
        if status == "completed":
            self._runtime.new_context()
        return CompactionResult(status, message, self._usage)


def _shortened(commit: Commit, longest: int) -> Commit:
    """The commit with its large tool outputs cut; the very same one if it has none."""
    if not any(isinstance(one, ToolCallOutput) and len(one.output) > longest for one in commit.messages):
        return commit
    return Commit(tuple(_cut(one, longest) for one in commit.messages))


def _cut(message: Content, longest: int) -> Content:
    if not isinstance(message, ToolCallOutput) or len(message.output) <= longest:
        return message
    return message.model_copy(update={"output": f"{message.output[:longest]}\n[output shortened]"})
