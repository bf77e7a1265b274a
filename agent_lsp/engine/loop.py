"""The turn loop.

run(new)
  input = carry-over + new
  loop (at most max_turns)
    ┌ request → parts → (decide → execute)*         turn.py, attempt.py, calls.py
    │ failed → wait → again                         turn.py, backoff.py
    └ commit                                        ledger.py
    input = outputs in call order + steering
    nothing to send → the task ends
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_lsp.engine.calls import LiveCall
from agent_lsp.engine.hooks import RunStatus, Stop
from agent_lsp.engine.interrupt import Interrupt
from agent_lsp.engine.ports import Outcome, StateChange, ThinkingLevel
from agent_lsp.engine.runtime import Runtime
from agent_lsp.engine.steering import SteeringQueue
from agent_lsp.engine.turn import Turn
from agent_lsp.messages import markers
from agent_lsp.messages.content import Partial, Text, UserContent
from agent_lsp.messages.events import Abort, Finish, RunBegin, TokenCounts, ToolListReady
from agent_lsp.messages.partial import Segment


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended. `turns` and `usage` are this run's; `text` is that of the last committed turn, else attempt."""

    run_id: str
    status: RunStatus
    turns: int = 0
    text: str = ""
    usage: TokenCounts = field(default_factory=TokenCounts)
    error_message: str | None = None
    finish: Finish | None = None
    undelivered: int | None = None


class Run:
    """One task, from its input to its end. It holds nothing that the ledger could tell."""

    def __init__(self, runtime: Runtime, run_id: str, thinking_level: ThinkingLevel | None) -> None:
        self.run_id = run_id
        self.interrupt = Interrupt()
        self.steering = SteeringQueue()
        self._runtime, self._ledger = runtime, runtime.ledger
        self._thinking_level: ThinkingLevel | None = thinking_level
        self._turns, self._usage = 0, TokenCounts()
        self._committed_text: str | None = None
        self._finish: Finish | None = None
        self._turn: Turn | None = None

    async def drive(self, input: Sequence[UserContent]) -> RunResult:
        """Runs the task to its end, which is the last thing it says."""
        self._begin(input)
        initial = self._runtime.hooks.initial_parts(input)
        while not self.interrupt.is_fired:
            if stop := self._runtime.hooks.before_request():
                return self._stopped(stop)
            turn = self._turn = Turn(self._runtime, self.interrupt, self._thinking_level, initial)
            outcome = await turn.run()
            initial = ()
            if outcome.status != "completed":
                return self._stopped(turn.stop) if turn.stop else await self._given_up(outcome, turn)
            self._commit(outcome, turn)
            if not await self.interrupt.wait_all(call.settled for call in self._calls()):
                return self._aborted(turn)
            if stop := next((call.stop for call in self._calls() if call.stop), None):
                return self._stopped(stop)
            steered = self._assemble()
            if not self._ledger.has_input():
                return self._result("completed")
            if 0 < self._runtime.options.max_turns <= self._turns:
                return self._out_of_turns(steered)
        return self._aborted(None)

    def break_off(self, reason: str) -> None:
        """Ends a task in which the engine itself has failed: what is open is closed, and the reason told."""
        if self._turn:
            self._turn.break_off(reason)
        self._end_calls()
        self._runtime.emit(Abort(reason=reason))
        self._runtime.set_state(StateChange("idle"))

    def retry_now(self) -> bool:
        """Ends the present reconnect wait; false when nothing waits."""
        return bool(self._turn and self._turn.retry_now())

    def so_far(self) -> tuple[Partial, ...]:
        """What is being streamed right now, as fragments."""
        if self._turn is None:
            return ()
        replies = self._turn.attempts[-1].so_far() if self._turn.attempts else ()
        return (*replies, *(fragment for call in self._calls() for fragment in call.so_far()))

    def _begin(self, input: Sequence[UserContent]) -> None:
        self._runtime.emit(RunBegin(run_id=self.run_id), traced_only=True)
        self._report()
        for one in input:
            self._runtime.emit(one, traced_only=True)
        tools = self._runtime.environment.tools()
        if tools != self._ledger.tools_told:
            self._runtime.emit(ToolListReady(tools=tools))

    def _commit(self, outcome: Outcome, turn: Turn) -> None:
        self._turns += 1
        self._usage += outcome.usage or TokenCounts()
        self._committed_text, self._finish = turn.attempts[-1].text, outcome.finish

    def _assemble(self) -> int:
        """Puts together the next request's input, behind the tool outputs; the number of steering entries in it."""
        if self._ledger.cut_calls:
            self._runtime.emit(Text(role="user", text=markers.output_limit(self._ledger.cut_calls), sender="harness"))
        if self._ledger.has_input() or self.steering.waiting():
            self._report()
        entries = self.steering.take()
        for message in (one for entry in entries for one in entry.messages()):
            self._runtime.emit(message)
        if not self._ledger.has_input():
            for feedback in self._runtime.hooks.before_end():
                self._runtime.emit(feedback)
        return len(entries)

    def _report(self) -> None:
        for report in self._runtime.environment.reports():
            self._runtime.emit(Text(role="user", text=report, sender="harness"))

    def _calls(self) -> list[LiveCall]:
        return [call for attempt in self._turn.attempts for call in attempt.calls] if self._turn else []

    async def _given_up(self, outcome: Outcome, turn: Turn) -> RunResult:
        """The ladder's end. What still runs was allowed and is waited for; its output is carried over."""
        if outcome.status == "aborted" or not await self.interrupt.wait_all(call.settled for call in self._calls()):
            return self._aborted(turn)
        reason = turn.ladder.give_up_reason(outcome)
        self._runtime.emit(Abort(reason=reason))
        return self._result(outcome.status, error=reason)

    def _aborted(self, turn: Turn | None) -> RunResult:
        """The interrupt's end: running tools are shown as interrupted in call order, then `abort`, then nothing."""
        self._end_calls()
        default = turn.abort_reason if turn else "aborted by user"
        self._runtime.emit(Abort(reason=self.interrupt.reason or default))
        return self._result("aborted")

    def _end_calls(self) -> None:
        for call in self._calls():
            call.interrupt()

    def _out_of_turns(self, undelivered: int) -> RunResult:
        limit = self._runtime.options.max_turns
        self._note(f"[reached max turns ({limit}); stopping]")
        return self._result("max_turns", undelivered=undelivered or None)

    def _stopped(self, stop: Stop) -> RunResult:
        """A hook has ended the task; its text is the answer."""
        self._end_calls()
        if stop.text:
            self._note(stop.text)
            self._committed_text = stop.text
        return self._result(stop.status)

    def _note(self, text: str) -> None:
        segment = Segment(self._runtime.emit, "text")
        segment.delta(text)
        segment.close("failed")

    def _result(self, status: RunStatus, error: str | None = None, undelivered: int | None = None) -> RunResult:
        attempts = self._turn.attempts if self._turn else []
        text = self._committed_text if self._committed_text is not None else attempts[-1].text if attempts else ""
        needs_credential = status == "auth"
        self._runtime.set_state(StateChange("auth_required", hint=error) if needs_credential else StateChange("idle"))
        return RunResult(self.run_id, status, self._turns, text, self._usage, error, self._finish, undelivered)
