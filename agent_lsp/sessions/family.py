"""What a session and its children share: one stream, one person who is asked one thing at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent_lsp.engine.ports import Sink, StateChange
from agent_lsp.messages.events import Abort, TokenCounts, TokenUsage
from agent_lsp.slotted import replace

if TYPE_CHECKING:
    from agent_lsp.messages.envelope import Message
    from agent_lsp.policy.approver import Answer, Person, Question


def _nothing() -> None:
    pass


class ParentSink:
    """The sink of a session that may have children.

    `before_abort` is called just before an `abort` of the session's own, behind which nothing can be said any more.
    """

    def __init__(self, sink: Sink) -> None:
        self.before_abort: Callable[[], object] = _nothing
        self._sink = sink
        self._own = StateChange("idle")
        self._told = self._own
        self._asking: dict[str, int] = {}

    def push(self, message: Message, run_id: str | None) -> None:
        """The next message of the session itself."""
        if isinstance(message.payload, Abort):
            self.before_abort()
        self._sink.push(message, run_id)

    def push_of(self, child_id: str, message: Message, run_id: str | None) -> None:
        """The next message of a child."""
        self._sink.push(message.model_copy(update={"origin": (child_id, *(message.origin or ()))}), run_id)

    def state(self, change: StateChange) -> None:
        """The session's state; a child that waits for the person makes it wait too."""
        self._own = change
        self._tell()

    def asking(self, child_id: str, questions: int) -> None:
        """So many questions of the child wait for the person."""
        self._asking[child_id] = questions
        self._tell()

    async def drain(self) -> None:
        """Waits while the client is too slow."""
        await self._sink.drain()

    def _tell(self) -> None:
        asked = sum(self._asking.values())
        state = "waiting_approval" if asked and self._own.state == "running" else self._own.state
        change = replace(self._own, state=state, pending_approvals=self._own.pending_approvals + asked)
        if change != self._told:
            self._told = change
            self._sink.state(change)


class ChildSink:
    """The sink of a child: its messages ride on its parent's stream, its requests count towards the parent's goal."""

    def __init__(
        self, child_id: str, parent: ParentSink, run_id: Callable[[], str | None], used: Callable[[TokenCounts], None]
    ) -> None:
        self._child_id, self._parent, self._run_id, self._used = child_id, parent, run_id, used

    def push(self, message: Message, run_id: str | None) -> None:
        """The next message, with the run that the parent is at now."""
        if isinstance(message.payload, TokenUsage):
            self._used(message.payload.request)
        self._parent.push_of(self._child_id, message, self._run_id())

    def state(self, change: StateChange) -> None:
        """Nobody is told of a child's state but for the questions in it."""
        self._parent.asking(self._child_id, change.pending_approvals)

    async def drain(self) -> None:
        """Waits while the client is too slow."""
        await self._parent.drain()


class SharedPerson:
    """The person of a whole family, who is asked one thing at a time: the others wait."""

    def __init__(self, person: Person) -> None:
        self._person, self._turn = person, asyncio.Lock()

    async def ask(self, question: Question) -> Answer | None:
        """Waits for its turn, then for the answer; a cancel ends either wait."""
        async with self._turn:
            return await self._person.ask(question)


class ChildPerson:
    """The family's person, as a child asks: each question says whose it is."""

    def __init__(self, child_id: str, person: SharedPerson) -> None:
        self._child_id, self._person = child_id, person

    async def ask(self, question: Question) -> Answer | None:
        """Waits for the answer."""
        return await self._person.ask(replace(question, origin=(self._child_id,)))


if TYPE_CHECKING:
    _: tuple[type[Sink], type[Sink], type[Person], type[Person]] = (ParentSink, ChildSink, SharedPerson, ChildPerson)
