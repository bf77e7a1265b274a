"""A session: one conversation with a model; the door for front ends and embedders."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from agent_lsp.engine.account import CompactionResult
from agent_lsp.engine.hooks import Hooks, Terms
from agent_lsp.engine.options import EngineOptions
from agent_lsp.engine.ports import LLM, Commit, Ports, StateChange, ThinkingLevel
from agent_lsp.engine.runtime import Runtime
from agent_lsp.engine.tasks import CompactionTicket, Tasks, Ticket
from agent_lsp.messages.events import CompactionMode, ContextSeed, SessionUpdate, Subagent, TokenCounts

if TYPE_CHECKING:
    from agent_lsp.engine.account import Availability, RunResult
    from agent_lsp.engine.goal import Goal
    from agent_lsp.engine.steering import Steering
    from agent_lsp.messages.content import Content, Partial, UserContent
    from agent_lsp.messages.envelope import Message, SessionMeta


class Session:
    """One conversation, over one engine."""

    def __init__(
        self,
        meta: SessionMeta,
        ports: Ports,
        options: EngineOptions | None = None,
        hooks: Hooks | None = None,
        thinking_level: ThinkingLevel | None = None,
    ) -> None:
        self._runtime = Runtime(meta, ports, options or EngineOptions(), hooks or Hooks())
        self._runtime.thinking_level = thinking_level
        self._tasks = Tasks(self._runtime)

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
        return self._runtime.run_id

    @property
    def is_busy(self) -> bool:
        """Whether a task or a compaction is going on or waits."""
        return self._tasks.is_busy

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
        """Tokens of the last completed turn, reply included; 0 in a fresh context."""
        return self._runtime.ledger.context_tokens

    @property
    def settings(self) -> SessionUpdate:
        """The last value of each setting that was ever recorded."""
        return self._runtime.ledger.settings

    @property
    def thinking_level(self) -> ThinkingLevel | None:
        """That of compactions, and of runs which name none."""
        return self._runtime.thinking_level

    @thinking_level.setter
    def thinking_level(self, level: ThinkingLevel | None) -> None:
        self._runtime.thinking_level = level

    @property
    def system_prompt(self) -> str:
        """What the model is told of its role in the present context."""
        return self._runtime.system

    @property
    def options(self) -> EngineOptions:
        """The engine's settings in force."""
        return self._runtime.options

    def history(self) -> tuple[Commit, ...]:
        """The context: what was committed, in order."""
        return tuple(self._runtime.ledger.history)

    def so_far(self) -> tuple[Partial, ...]:
        """The unfinished segments of a running turn, each as a `start` and one `delta` with the body so far."""
        return self._tasks.so_far()

    def current(self) -> Ticket | None:
        """The task that is going on."""
        return self._tasks.ticket

    def compaction(self) -> CompactionTicket | None:
        """The compaction by hand that is going on."""
        return self._tasks.compaction

    def waiting(self) -> tuple[Ticket, ...]:
        """The tasks that wait their turn, first come first."""
        return self._tasks.waiting()

    def undelivered(self) -> tuple[Steering, ...]:
        """Steering that was accepted and not delivered yet."""
        return self._tasks.run.steering.waiting() if self._tasks.run else ()

    # --- tasks ---

    async def run(
        self, input: Sequence[UserContent], thinking_level: ThinkingLevel | None = None, goal: Goal | None = None
    ) -> RunResult:
        """Runs a task, or a goal, to its end. Cancelling the caller aborts it. Raises SessionBusy."""
        ticket = self.submit(input, thinking_level, goal)
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
        self,
        input: Sequence[UserContent],
        thinking_level: ThinkingLevel | None = None,
        goal: Goal | None = None,
        terms: Terms | None = None,
        *,
        queue: bool = False,
    ) -> Ticket:
        """Takes a task on, which begins at once or (`queue`) when its turn comes. Raises SessionBusy.

        With a `goal`, the input is pursued as an objective, task after task; ValueError without a goal file.
        """
        return self._tasks.submit(input, thinking_level or self.thinking_level, goal, terms, queue=queue)

    def cancel(self, ticket: Ticket, reason: str | None = None) -> bool:
        """Interrupts the task, or takes it out of the queue, where it leaves nothing; false when it has ended."""
        return self._tasks.cancel(ticket, reason)

    def end_now(self, reason: str) -> None:
        """Interrupts the task and forgets those that wait, all told before this returns."""
        self._tasks.end_now(reason)

    def steer(self, input: Sequence[UserContent], run_id: str | None = None) -> Steering | None:
        """Queues words for the running task, which delivers them before it ends; None when there is no such task."""
        run = self._tasks.run
        if run is None or run.interrupt.is_fired or run_id not in (None, run.run_id):
            return None
        return run.steering.put(input)

    def unsteer(self, steer_id: str) -> bool:
        """Takes steering back; false once it was delivered."""
        return bool(self._tasks.run and self._tasks.run.steering.withdraw(steer_id))

    def retry_now(self) -> bool:
        """Ends the present reconnect wait; the attempt count stays. False when nothing waits."""
        return self._tasks.retry_now()

    # --- the context ---

    def compactability(self) -> Availability:
        """Whether a compaction by hand would do anything."""
        from agent_lsp.engine.compaction import availability

        return availability(self._runtime)

    def start_compaction(self, mode: CompactionMode | None = None) -> CompactionTicket | None:
        """Starts to compact; None (a no-op) unless that is `ok`. Raises SessionBusy."""
        if not self.is_busy and self.compactability() != "ok":
            return None
        return self._tasks.compact(mode)

    async def compact(self, mode: CompactionMode | None = None) -> CompactionResult:
        """Compacts. Cancelling the caller aborts it. Raises SessionBusy."""
        ticket = self.start_compaction(mode)
        if ticket is None:
            return CompactionResult("completed")
        try:
            return await asyncio.shield(ticket.result)
        except asyncio.CancelledError:
            ticket.interrupt.fire()
            raise

    async def generate_title(self) -> str | None:
        """A title for the conversation, by one request beside everything else; None when the model gives none."""
        from agent_lsp.engine import title

        return await title.generate(self._runtime)

    def seed(self, messages: Sequence[Content]) -> None:
        """Commits messages as they stand, before the first run; each call in them must have its output."""
        self._runtime.emit(ContextSeed(count=len(messages)), traced_only=True)
        for message in messages:
            self._runtime.emit(message, traced_only=True)

    def replay(self, messages: Iterable[Message], call_ids: Iterable[str] = ()) -> None:
        """Takes in what was traced of the present context before, first of all; says and writes nothing.

        `call_ids` are those of the earlier contexts, in their order: which ids the provider knows depends on them.
        """
        self._runtime.replay(messages, call_ids)

    def count_from(self, turns: int, usage: TokenCounts) -> None:
        """After a replay: what the session has used in its earlier contexts too."""
        self._runtime.ledger.turns, self._runtime.ledger.usage = turns, usage

    def add_child_usage(self, usage: TokenCounts) -> None:
        """A child session has made a request: it counts towards the budget of a goal, and in nothing else here."""
        self._runtime.children_usage += usage

    # --- settings ---

    def record(self, change: SessionUpdate | Subagent, *, traced_only: bool = False) -> None:
        """Records a change of settings (which is put in force elsewhere), or the start of a child session."""
        self._runtime.emit(change, traced_only=traced_only)

    def renew_prompt(self, prompt: Callable[[], str]) -> None:
        """Has each context from the next one on begin with what `prompt` gives then."""
        self._runtime.prompt = prompt

    def configure(
        self, *, llm: LLM | None = None, options: EngineOptions | None = None, hooks: Hooks | None = None
    ) -> None:
        """Puts another model, other options or another policy in force; between runs only."""
        self._runtime.hooks = hooks or self._runtime.hooks
        if hooks:
            hooks.attach(self._runtime.emit)
        self._runtime.llm = llm or self._runtime.llm
        self._runtime.options = options or self._runtime.options

    def credential_changed(self) -> None:
        """The reason to wait for a credential is gone."""
        if self._runtime.told.state == "auth_required":
            self._runtime.set_state(StateChange("idle"))

    async def close(self) -> None:
        """Aborts what runs, empties the queue, ends tools and tasks; within about 5 s."""
        await self._tasks.close()
        await asyncio.gather(self._runtime.environment.close(), self._runtime.scope.close())
        await self._runtime.sync()
