"""A session: one task at a time, the others wait their turn; the door for front ends and embedders."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from agent_lsp.engine.hooks import Hooks
from agent_lsp.engine.loop import Run, RunResult
from agent_lsp.engine.ports import (
    LLM,
    Approver,
    EngineOptions,
    Environment,
    Sink,
    StateChange,
    ThinkingLevel,
    Trace,
)
from agent_lsp.engine.runtime import Runtime
from agent_lsp.engine.steering import Steering
from agent_lsp.errors import SessionBusy
from agent_lsp.messages.content import Content, Partial, UserContent
from agent_lsp.messages.envelope import Message
from agent_lsp.messages.events import ContextSeed, SessionUpdate, TokenCounts

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """A run that was taken on: it runs, or waits its turn. `result` is never an exception."""

    run_id: str
    input: tuple[UserContent, ...]
    thinking_level: ThinkingLevel | None
    queued: bool
    result: asyncio.Future[RunResult]


class Session:
    """One conversation with a model, over one engine."""

    def __init__(
        self,
        *,
        session_id: str,
        system: str,
        llm: LLM,
        environment: Environment,
        approver: Approver | None,
        trace: Trace,
        sink: Sink,
        options: EngineOptions | None = None,
        hooks: Hooks | None = None,
        thinking_level: ThinkingLevel | None = None,
    ) -> None:
        self.thinking_level: ThinkingLevel | None = thinking_level
        self._runtime = Runtime(
            session_id=session_id,
            system=system,
            llm=llm,
            environment=environment,
            approver=approver,
            trace=trace,
            sink=sink,
            options=options or EngineOptions(),
            hooks=hooks or Hooks(),
        )
        self._runtime.queued = lambda: len(self._waiting)
        self._waiting: list[Ticket] = []
        self._current: tuple[Ticket, Run] | None = None
        self._closed = False

    # --- what it is ---

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self._runtime.session_id

    @property
    def state(self) -> StateChange:
        """The state as it was told last."""
        return self._runtime.told

    @property
    def run_id(self) -> str | None:
        """The run that is going on."""
        return self._current[0].run_id if self._current else None

    @property
    def turns(self) -> int:
        """Committed turns so far."""
        return self._runtime.ledger.turns

    @property
    def usage(self) -> TokenCounts:
        """Tokens of all completed requests."""
        return self._runtime.ledger.usage

    @property
    def context_tokens(self) -> int:
        """Tokens of the last completed request, reply included."""
        return self._runtime.ledger.context_tokens

    @property
    def options(self) -> EngineOptions:
        """The engine's settings in force."""
        return self._runtime.options

    def so_far(self) -> tuple[Partial, ...]:
        """The unfinished segments of a running turn, each as a `start` and one `delta` with the body so far."""
        return self._current[1].so_far() if self._current else ()

    def waiting(self) -> tuple[Ticket, ...]:
        """The runs that wait their turn, first come first."""
        return tuple(self._waiting)

    def undelivered(self) -> tuple[Steering, ...]:
        """Steering that was accepted and not delivered yet."""
        return self._current[1].steering.waiting() if self._current else ()

    # --- what it does ---

    async def run(self, input: Sequence[UserContent], thinking_level: ThinkingLevel | None = None) -> RunResult:
        """Runs a task to its end. Cancelling the caller aborts it. Raises SessionBusy."""
        ticket = self.submit(input, thinking_level)
        try:
            return await asyncio.shield(ticket.result)
        except asyncio.CancelledError:
            self.cancel(ticket)
            raise

    async def stream(
        self, input: Sequence[UserContent], thinking_level: ThinkingLevel | None = None
    ) -> AsyncGenerator[Message, None]:
        """Runs a task and gives its messages as they come. Leaving the iteration aborts it. Raises SessionBusy."""
        arrived: asyncio.Queue[Message | None] = asyncio.Queue()
        ticket = self.submit(input, thinking_level)
        ticket.result.add_done_callback(lambda _: arrived.put_nowait(None))
        with self._runtime.overheard(arrived.put_nowait):
            try:
                while (message := await arrived.get()) is not None:
                    yield message
            finally:
                self.cancel(ticket)

    def submit(
        self, input: Sequence[UserContent], thinking_level: ThinkingLevel | None = None, *, queue: bool = False
    ) -> Ticket:
        """Takes a task on, which begins at once or (`queue`) when its turn comes. Raises SessionBusy."""
        busy = self._current is not None or bool(self._waiting)
        if self._closed or (busy and not queue):
            raise SessionBusy(self.session_id, self.run_id)
        future: asyncio.Future[RunResult] = asyncio.get_running_loop().create_future()
        ticket = Ticket(f"run-{uuid.uuid4().hex[:12]}", tuple(input), thinking_level, busy, future)
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
            ticket.result.set_result(RunResult(ticket.run_id, "aborted"))
            self._runtime.tell_state()
            return True
        if self._current and self._current[0] is ticket:
            self._current[1].interrupt.fire(reason)
            return True
        return False

    def current(self) -> Ticket | None:
        """The task that is going on."""
        return self._current[0] if self._current else None

    def steer(self, input: Sequence[UserContent], run_id: str | None = None) -> Steering | None:
        """Queues words for the running task, which delivers them before it ends; None when there is no such task."""
        if self._current is None or (run_id is not None and run_id != self.run_id):
            return None
        if self._current[1].interrupt.is_fired:
            return None
        return self._current[1].steering.put(input)

    def unsteer(self, steer_id: str) -> bool:
        """Takes steering back; false once it was delivered."""
        return bool(self._current and self._current[1].steering.withdraw(steer_id))

    def retry_now(self) -> bool:
        """Ends the present reconnect wait; the attempt count stays. False when nothing waits."""
        return bool(self._current and self._current[1].retry_now())

    def record(self, change: SessionUpdate, *, traced_only: bool = False) -> None:
        """Records a change of settings (which is put in force elsewhere)."""
        self._runtime.emit(change, traced_only=traced_only)

    def seed(self, messages: Sequence[Content]) -> None:
        """Commits messages as they stand, before the first run; each call in them must have its output."""
        self._runtime.emit(ContextSeed(count=len(messages)), traced_only=True)
        for message in messages:
            self._runtime.emit(message, traced_only=True)

    def configure(
        self, *, system: str | None = None, llm: LLM | None = None, options: EngineOptions | None = None
    ) -> None:
        """Puts other settings in force; between runs only."""
        runtime = self._runtime
        runtime.system, runtime.llm = system or runtime.system, llm or runtime.llm
        runtime.options = options or runtime.options

    def credential_changed(self) -> None:
        """The reason to wait for a credential is gone."""
        if self._runtime.told.state == "auth_required":
            self._runtime.set_state(StateChange("idle"))

    async def close(self) -> None:
        """Aborts what runs, empties the queue, ends tools and tasks; within about 5 s."""
        self._closed = True
        for ticket in self.waiting():
            self.cancel(ticket)
        if ticket := self.current():
            self.cancel(ticket)
            await asyncio.wait((ticket.result,))
        await asyncio.gather(self._runtime.environment.close(), self._runtime.scope.close())
        await self._runtime.trace.sync()

    # --- one task at a time ---

    def _start(self, ticket: Ticket) -> None:
        level = ticket.thinking_level or self.thinking_level
        run = Run(self._runtime, ticket.run_id, level)
        self._current = (ticket, run)
        self._runtime.run_id = ticket.run_id
        self._runtime.set_state(StateChange("running"))
        self._runtime.scope.spawn(self._drive(ticket, run), lambda task: self._driven(ticket, run, task))

    async def _drive(self, ticket: Ticket, run: Run) -> None:
        result = await run.drive(ticket.input)
        self._advance()
        try:
            await self._runtime.trace.sync()
        finally:  # a close in the middle of it cancels this wait, and syncs by itself
            ticket.result.set_result(result)

    def _advance(self) -> None:
        """A task is over: the next one begins, if any waits."""
        self._current, self._runtime.run_id = None, None
        if self._waiting and not self._closed:
            self._start(self._waiting.pop(0))

    def _driven(self, ticket: Ticket, run: Run, task: asyncio.Task[None]) -> None:
        """The task is over. One that failed inside is answered all the same, and the session is usable again."""
        if ticket.result.done():
            return
        error = None if task.cancelled() else task.exception()
        _log.error("run %s failed inside", ticket.run_id, exc_info=error)
        message = "the engine failed inside; the server's log has the details"
        try:
            run.break_off(message)
        finally:
            self._advance()
            ticket.result.set_result(RunResult(ticket.run_id, "failed", error_message=message))
