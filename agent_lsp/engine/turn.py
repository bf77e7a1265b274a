"""One turn: attempts at the same request, up the reconnect ladder, until one completes or the run has to end."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING

from agent_lsp.engine.attempt import Attempt
from agent_lsp.engine.backoff import Ladder
from agent_lsp.engine.hooks import Retry, Stop
from agent_lsp.engine.pause import Pause
from agent_lsp.engine.ports import Outcome, Part, StateChange, ThinkingLevel

if TYPE_CHECKING:
    from agent_lsp.engine.calls import LiveCall
    from agent_lsp.engine.interrupt import Interrupt
    from agent_lsp.engine.runtime import Runtime

ABORTED = Outcome("aborted")


class Turn:
    """One turn of a run. `attempts` are all that were made, the last one last."""

    def __init__(
        self, runtime: Runtime, interrupt: Interrupt, thinking_level: ThinkingLevel | None, initial: Sequence[Part] = ()
    ) -> None:
        self.attempts: list[Attempt] = []
        self.stop: Stop | None = None
        self.abort_reason = "aborted by user"
        self._runtime, self._interrupt, self._initial = runtime, interrupt, initial
        self._thinking_level: ThinkingLevel | None = thinking_level
        options = runtime.options
        self.ladder = Ladder(options.max_retries, options.retry_base_ms, options.retry_cap_ms)
        self._pause = Pause(runtime, interrupt, StateChange("running"))

    async def run(self) -> Outcome:
        """Climbs the ladder; the outcome of the last attempt, or an aborted one when the run was interrupted."""
        for number in itertools.count(1):
            attempt = self._begin(number)
            if not await self._interrupt.wait(attempt.ended):
                attempt.finish(ABORTED)
                return ABORTED
            outcome = attempt.ended.result()
            verdict = None if outcome.status == "completed" else self._runtime.hooks.after_attempt(outcome)
            self.stop = verdict if isinstance(verdict, Stop) else None
            may_retry = outcome.status != "completed" and self.stop is None
            wait_ms = self.ladder.wait_ms(number, outcome) if may_retry else None
            attempt.finish(outcome, wait_ms)
            self._runtime.sync_soon()
            if wait_ms is None:
                return outcome
            if isinstance(verdict, Retry) and verdict.note:
                self._runtime.emit(verdict.note)
            if not await self._pause.wait(wait_ms, number, self.calls()):
                self.abort_reason = "aborted during reconnect backoff"
                return ABORTED
        raise AssertionError("unreachable")

    def break_off(self, outcome: Outcome) -> None:
        """Closes an attempt that nobody will finish any more."""
        if self.attempts and not self.attempts[-1].is_finished:
            self.attempts[-1].finish(outcome)

    def retry_now(self) -> bool:
        """Ends the present wait; false when nothing waits."""
        return self._pause.skip()

    def _begin(self, number: int) -> Attempt:
        attempt = Attempt(self._runtime, number)
        self.attempts.append(attempt)
        attempt.begin(self._parts())
        return attempt

    def _parts(self) -> AsyncGenerator[Part, None]:
        if self._initial:
            initial, self._initial = self._initial, ()
            return _replay(initial)
        return self._runtime.llm.stream(self._runtime.request(self._thinking_level))

    def calls(self) -> list[LiveCall]:
        """All calls of the turn, those of failed attempts too, in call order."""
        return [call for attempt in self.attempts for call in attempt.calls]


async def _replay(parts: Sequence[Part]) -> AsyncGenerator[Part, None]:
    for part in parts:
        yield part
