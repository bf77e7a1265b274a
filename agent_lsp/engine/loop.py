"""The turn loop.

run(new)
  input = carry-over + new
  loop (at most max_turns)
    ┌ request → parts → (decide → execute)*         turn.py, attempt.py, calls.py
    │ failed → wait → again                         turn.py, pause.py, backoff.py
    └ commit                                        ledger.py
    compaction due? → compact                       compaction.py
    input = outputs in call order + steering        assembly.py
    nothing to send → the task ends
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agent_lsp.engine.account import Account, GoalResult, RunResult
from agent_lsp.engine.assembly import assemble
from agent_lsp.engine.compaction import Compaction, availability, due
from agent_lsp.engine.hooks import HistoryPlan, RunStatus, Stop
from agent_lsp.engine.interrupt import Interrupt
from agent_lsp.engine.opening import open_task
from agent_lsp.engine.ports import Outcome, StateChange, ThinkingLevel
from agent_lsp.engine.steering import SteeringQueue
from agent_lsp.engine.turn import Turn
from agent_lsp.messages.events import Abort, CompactionReason
from agent_lsp.messages.partial import Segment
from agent_lsp.slotted import replace

if TYPE_CHECKING:
    from agent_lsp.engine.calls import LiveCall
    from agent_lsp.engine.runtime import Runtime
    from agent_lsp.messages.content import Partial, UserContent


class Run:
    """One task, from its input to its end (or several in turn). It holds nothing that the ledger could tell.

    `before_abort` is called just before an `abort`, behind which nothing can be said any more. `goal` is how the goal
    that it worked on has ended.
    """

    def __init__(self, runtime: Runtime, run_id: str, thinking_level: ThinkingLevel | None) -> None:
        self.run_id = run_id
        self.interrupt, self.steering = Interrupt(), SteeringQueue()
        self.before_abort: Callable[[], None] = _nothing
        self.goal: GoalResult | None = None
        self._runtime, self._ledger = runtime, runtime.ledger
        self._thinking_level: ThinkingLevel | None = thinking_level
        self._account = Account(run_id)
        self._turn: Turn | None = None
        self._compaction: Compaction | None = None

    async def drive(self, input: Sequence[UserContent]) -> RunResult:
        """Runs the task to its end, which is the last thing it says."""
        self._account, self._turn = Account(self.run_id), None
        initial = await open_task(self._runtime, self.interrupt, self.run_id, input, self._compact)
        if isinstance(initial, Stop):
            return self._stopped(initial)
        while not self.interrupt.is_fired:
            if stop := self._runtime.hooks.before_request():
                return self._stopped(stop)
            turn = self._turn = Turn(self._runtime, self.interrupt, self._thinking_level, initial)
            outcome, initial = await turn.run(), ()
            if outcome.context_length and await self._heal(turn):
                turn = self._turn = Turn(self._runtime, self.interrupt, self._thinking_level)
                outcome = await turn.run()
            if outcome.status != "completed":
                return self._stopped(turn.stop) if turn.stop else await self._given_up(outcome, turn)
            self._account.commit(outcome, turn.attempts[-1])
            if not await self.interrupt.wait_all(call.settled for call in self.calls()):
                return self.abort(turn.abort_reason)
            if stop := next((call.stop for call in self.calls() if call.stop), None):
                return self._stopped(stop)
            has_calls = self._ledger.batch is not None
            if self.interrupt.is_fired and self._goes_on(has_calls):
                return self.abort(turn.abort_reason)
            if (reason := self._due()) and not await self._compacted(reason, has_calls):
                goes_on = self._goes_on(has_calls)
                return self.abort("aborted during compaction") if goes_on else self._result("completed")
            assembled = assemble(self._runtime, self.steering, has_calls=has_calls)
            if not assembled.goes_on:
                return await self._completed()
            if 0 < self._runtime.options.max_turns <= self._account.turns:
                return self._out_of_turns(assembled.steered)
        return self.abort("aborted by user")

    def break_off(self, outcome: Outcome) -> RunResult:
        """Ends the task in this very step: what is open is closed with the outcome, whose message is the reason."""
        if going := self._compaction or self._turn:
            going.break_off(outcome)
        self._end_calls()
        self._say_abort(outcome.message or "aborted by user")
        return self._result(outcome.status)

    def retry_now(self) -> bool:
        """Ends the present reconnect wait; false when nothing waits."""
        waiting = self._compaction or self._turn
        return bool(waiting and waiting.retry_now())

    def so_far(self) -> tuple[Partial, ...]:
        """What is being streamed right now, as fragments."""
        if self._compaction:
            return self._compaction.so_far()
        replies = self._turn.attempts[-1].so_far() if self._turn and self._turn.attempts else ()
        return (*replies, *(fragment for call in self.calls() for fragment in call.so_far()))

    # --- compaction ---

    def _due(self) -> CompactionReason | None:
        """Why the context is to be compacted now; an interrupt begins nothing any more."""
        return None if self.interrupt.is_fired else due(self._runtime)

    async def _compacted(self, reason: CompactionReason, has_calls: bool) -> bool:
        """Compacts in the task or at its end; false when it was interrupted. A failed one leaves all as it was."""
        if self._runtime.options.compaction_mode == "discard" and self._goes_on(has_calls):
            return True  # it waits for the end of the task
        return await self._compact(reason) != "aborted"

    def _goes_on(self, has_calls: bool) -> bool:
        """Whether something waits to be sent, so that this is not the task's end."""
        return has_calls or bool(self._ledger.cut_calls or self.steering.waiting())

    async def _heal(self, turn: Turn) -> bool:
        """The request was refused as too long: makes room for it, if there is anything to make room with."""
        if availability(self._runtime) != "ok" or not await self.interrupt.wait_all(c.settled for c in turn.calls()):
            return False
        if self.interrupt.is_fired:
            return False
        turn.abort_reason = "aborted during compaction"
        if await self._compact("context") != "completed":
            return False
        self._runtime.show_tools()
        return True

    async def _compact(self, reason: CompactionReason, plan: HistoryPlan | None = None) -> str:
        self._compaction = Compaction(self._runtime, self.interrupt, reason, plan=plan)
        result = await self._compaction.run()
        self._compaction = None
        self._account.usage += result.usage
        self._runtime.set_state(StateChange("running"))
        return result.status

    # --- the calls of the turn ---

    def calls(self) -> list[LiveCall]:
        """The calls of the last turn."""
        return self._turn.calls() if self._turn else []

    def _end_calls(self) -> None:
        for call in self.calls():
            call.interrupt()

    # --- the ends ---

    async def _completed(self) -> RunResult:
        if self._runtime.options.compaction_mode == "discard" and (reason := due(self._runtime)):
            await self._compact(reason)
        return self._result("completed")

    async def _given_up(self, outcome: Outcome, turn: Turn) -> RunResult:
        """The ladder's end. What still runs was allowed and is waited for; its output is carried over."""
        if self.interrupt.is_fired or not await self.interrupt.wait_all(call.settled for call in self.calls()):
            return self.abort(turn.abort_reason)
        reason = turn.ladder.give_up_reason(outcome)
        self._say_abort(reason)
        return self._result(outcome.status, error=turn.ladder.explanation(outcome))

    def abort(self, reason: str) -> RunResult:
        """The interrupt's end: running tools are shown as interrupted in call order, then `abort`, then nothing."""
        self._end_calls()
        self._say_abort(self.interrupt.reason or reason)
        return self._result("aborted")

    def _say_abort(self, reason: str) -> None:
        self.before_abort()
        self._runtime.emit(Abort(reason=reason))

    def _out_of_turns(self, undelivered: int) -> RunResult:
        self._note(f"[reached max turns ({self._runtime.options.max_turns}); stopping]")
        return self._result("max_turns", undelivered=undelivered)

    def _stopped(self, stop: Stop) -> RunResult:
        """A hook has ended the task; its text is the answer."""
        self._end_calls()
        if stop.text:
            self._note(stop.text)
            self._account.answer = stop.text
        return self._result(stop.status, error=stop.error)

    def _note(self, text: str) -> None:
        segment = Segment(self._runtime.emit, "text")
        segment.delta(text)
        segment.close("failed")

    def _result(self, status: RunStatus, error: str | None = None, undelivered: int | None = None) -> RunResult:
        last = self._turn.attempts[-1] if self._turn and self._turn.attempts else None
        return replace(self._account.result(status, last, error, undelivered), goal=self.goal)


def _nothing() -> None:
    pass
