"""One task or one compaction at a time; further tasks wait their turn, first come first served.

What tasks consist of (the turn loop, goals, compaction) is imported when the first of them begins: a session that was
only opened needs none of it.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent_lsp.engine.account import CompactionResult, RunResult
from agent_lsp.engine.hooks import Terms
from agent_lsp.engine.interrupt import Interrupt
from agent_lsp.engine.ports import Outcome, StateChange, ThinkingLevel
from agent_lsp.errors import SessionBusy
from agent_lsp.messages.events import CompactionMode, RunBegin
from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.engine.compaction import Compaction
    from agent_lsp.engine.goal import Goal, Pursuit
    from agent_lsp.engine.loop import Run
    from agent_lsp.engine.ports import GoalFile
    from agent_lsp.engine.runtime import Runtime
    from agent_lsp.messages.content import Partial, UserContent

_log = logging.getLogger(__name__)
_BUG = "the engine failed inside; the server's log has the details"


@frozen(eq=False)
class Ticket:
    """A run that was taken on: it runs, or waits its turn. `result` is never an exception.

    With a `goal`, its input is an objective.
    """

    run_id: str
    input: tuple[UserContent, ...]
    thinking_level: ThinkingLevel | None
    queued: bool
    result: asyncio.Future[RunResult]
    goal: Goal | None = None
    terms: Terms | None = None


@frozen(eq=False)
class CompactionTicket:
    """A compaction by hand that is going on. `result` is never an exception."""

    compaction: Compaction
    interrupt: Interrupt
    result: asyncio.Future[CompactionResult]


class Tasks:
    """What a session is doing, and what waits. `level` is the thinking level of a task that names none."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._waiting: list[Ticket] = []
        self._run: tuple[Ticket, Run] | None = None
        self._driving: asyncio.Task[None] | None = None
        self._compaction: CompactionTicket | None = None
        self._closed = False
        runtime.queued = lambda: len(self._waiting)

    @property
    def ticket(self) -> Ticket | None:
        """The task that is going on."""
        return self._run[0] if self._run else None

    @property
    def run(self) -> Run | None:
        """Its run."""
        return self._run[1] if self._run else None

    @property
    def compaction(self) -> CompactionTicket | None:
        """The compaction by hand that is going on."""
        return self._compaction

    @property
    def is_busy(self) -> bool:
        """Whether anything goes on or waits."""
        return bool(self._run or self._compaction or self._waiting)

    def waiting(self) -> tuple[Ticket, ...]:
        """The tasks that wait their turn, first come first."""
        return tuple(self._waiting)

    def so_far(self) -> tuple[Partial, ...]:
        """The unfinished segments of what goes on."""
        if self._compaction:
            return self._compaction.compaction.so_far()
        return self._run[1].so_far() if self._run else ()

    def retry_now(self) -> bool:
        """Ends the present reconnect wait; false when nothing waits."""
        going = self._compaction.compaction if self._compaction else self.run
        return bool(going and going.retry_now())

    def submit(
        self,
        input: Sequence[UserContent],
        level: ThinkingLevel | None,
        goal: Goal | None = None,
        terms: Terms | None = None,
        *,
        queue: bool,
    ) -> Ticket:
        """Takes a task on, which begins at once or (`queue`) when its turn comes. Raises SessionBusy."""
        if goal and not self._runtime.goal_file:
            raise ValueError("a goal needs a session with a goal file")
        busy = self.is_busy
        if busy and not queue:
            self._refuse()
        self._check_open()
        future: asyncio.Future[RunResult] = asyncio.get_running_loop().create_future()
        ticket = Ticket(f"run-{uuid.uuid4().hex[:12]}", tuple(input), level, busy, future, goal, terms)
        if busy:
            self._waiting.append(ticket)
            self._runtime.tell_state()
        else:
            self._start(ticket)
        return ticket

    def cancel(self, ticket: Ticket, reason: str | None = None) -> bool:
        """Interrupts the task, or takes it out of the queue, where it leaves nothing; false when it has ended."""
        if ticket in self._waiting:
            self._waiting.remove(ticket)
            ticket.result.set_result(self._runtime.hooks.ended(RunResult(ticket.run_id, "aborted")))
            self._runtime.tell_state()
            return True
        if self._run and self._run[0] is ticket:
            self._run[1].interrupt.fire(reason)
            return True
        return False

    def end_now(self, reason: str) -> None:
        """Interrupts the task before this returns, and forgets those that wait; a compaction by hand goes on."""
        for ticket in self.waiting():
            self.cancel(ticket)
        if self._run is None or self._driving is None:
            return
        ticket, run = self._run
        result = self._runtime.hooks.ended(run.break_off(Outcome("aborted", reason)))
        self._runtime.set_state(StateChange("idle"))
        self._advance()
        ticket.result.set_result(result)
        self._driving.cancel()

    def compact(self, mode: CompactionMode | None) -> CompactionTicket:
        """Starts a compaction by hand. Raises SessionBusy."""
        if self.is_busy:
            self._refuse()
        self._check_open()
        from agent_lsp.engine.compaction import Compaction

        interrupt = Interrupt()
        compaction = Compaction(self._runtime, interrupt, "manual", mode)
        ticket = CompactionTicket(compaction, interrupt, asyncio.get_running_loop().create_future())
        self._compaction = ticket
        self._runtime.scope.spawn(self._compact(ticket), lambda task: self._compacted(ticket, task))
        return ticket

    async def close(self) -> None:
        """Ends what goes on and what waits; returns when all of it has its result."""
        self._closed = True
        for ticket in self.waiting():
            self.cancel(ticket)
        if self._compaction:
            self._compaction.interrupt.fire()
            await asyncio.wait((self._compaction.result,))
        if self._run:
            ticket, run = self._run
            self.cancel(ticket)
            run.interrupt.release()
            await asyncio.wait((ticket.result,))

    def _refuse(self) -> None:
        raise SessionBusy(self._runtime.session_id, self._runtime.run_id)

    def _check_open(self) -> None:
        if self._closed:
            self._refuse()

    # --- a task ---

    def _start(self, ticket: Ticket) -> None:
        from agent_lsp.engine.loop import Run

        run = Run(self._runtime, ticket.run_id, ticket.thinking_level)
        self._run = (ticket, run)
        self._runtime.run_id, self._runtime.interrupt = ticket.run_id, run.interrupt
        self._runtime.set_state(StateChange("running"))
        self._driving = self._runtime.scope.spawn(
            self._drive(ticket, run), lambda task: self._driven(ticket, run, task)
        )

    async def _drive(self, ticket: Ticket, run: Run) -> None:
        terms = ticket.terms or Terms()
        begun = RunBegin(run_id=run.run_id, expected=terms.expected, max_retries=terms.max_retries)
        self._runtime.emit(begun, traced_only=True)
        file = self._runtime.goal_file
        task = _pursuit(self._runtime, run, ticket.goal, file) if ticket.goal and file else run
        result = self._runtime.hooks.ended(await task.drive(ticket.input))
        if result.status == "aborted" and self._runtime.hooks.waits_for_tools():
            await run.interrupt.released(call.task for call in run.calls() if call.task)
        needs_credential = result.status == "auth"
        hint = result.error_message if needs_credential else None
        self._runtime.set_state(StateChange("auth_required" if needs_credential else "idle", hint=hint))
        self._advance()
        if result.status == "aborted":  # whoever has stopped it is not kept waiting for the disk
            ticket.result.set_result(result)
            self._runtime.sync_soon()
            return
        try:
            await self._runtime.sync()
        finally:  # a close in the middle of it cancels this wait, and syncs by itself
            if not ticket.result.done():
                ticket.result.set_result(result)

    def _advance(self) -> None:
        """What went on is over: the next task begins, if any waits."""
        self._run, self._compaction, self._runtime.run_id = None, None, None
        if self._waiting and not self._closed:
            self._start(self._waiting.pop(0))

    def _driven(self, ticket: Ticket, run: Run, task: asyncio.Task[None]) -> None:
        """The task is over. One that failed inside is answered all the same, and the session is usable again."""
        if ticket.result.done():
            return
        _log.error("run %s failed inside", ticket.run_id, exc_info=None if task.cancelled() else task.exception())
        try:
            run.break_off(Outcome("failed", _BUG))
            self._runtime.set_state(StateChange("idle"))
        finally:
            self._advance()
            broken = RunResult(ticket.run_id, "failed", error_message=_BUG)
            ticket.result.set_result(self._runtime.hooks.ended(broken))

    # --- a compaction by hand ---

    async def _compact(self, ticket: CompactionTicket) -> None:
        result = await ticket.compaction.run()
        self._runtime.set_state(StateChange("idle"))
        self._advance()
        try:
            await self._runtime.sync()
        finally:
            ticket.result.set_result(result)

    def _compacted(self, ticket: CompactionTicket, task: asyncio.Task[None]) -> None:
        if ticket.result.done():
            return
        _log.error("a compaction failed inside", exc_info=None if task.cancelled() else task.exception())
        ticket.compaction.break_off(Outcome("failed", _BUG))
        self._runtime.set_state(StateChange("idle"))
        self._advance()
        ticket.result.set_result(CompactionResult("failed", _BUG))


def _pursuit(runtime: Runtime, run: Run, goal: Goal, file: GoalFile) -> Pursuit:
    from agent_lsp.engine.goal import Pursuit

    return Pursuit(runtime, run, goal, file)
