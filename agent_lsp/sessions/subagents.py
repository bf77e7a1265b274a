"""The subagents of a session: sessions of their own, one level deep, in its workspace and with its permissions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from agent_lsp.errors import InvalidParams, ModelUnavailable
from agent_lsp.messages.content import Content, Text, ToolCall
from agent_lsp.messages.envelope import envelope
from agent_lsp.messages.events import Subagent as SubagentEvent
from agent_lsp.sessions.family import ChildPerson, ChildSink, ParentSink, SharedPerson
from agent_lsp.sessions.open_session import Client, OpenSession
from agent_lsp.tools.errands import Answer, Errand, note
from agent_lsp.trace.session_ids import new_session_id

if TYPE_CHECKING:
    from agent_lsp.engine.account import RunResult
    from agent_lsp.engine.tasks import Ticket
    from agent_lsp.tools import errands
    from agent_lsp.tools.shared import Shared

_MOST_OPEN = 16
_MOST_REPORTED_CHARS = 8_000

Begin = Callable[[str, Errand, OpenSession, Client], OpenSession]
"""Makes the session of a child: its id, what it is for, its parent, its side of the parent's client.

Raises ModelUnavailable or InvalidParams.
"""


class Child:
    """One subagent (`tools.errands.Subagent`)."""

    def __init__(self, opened: OpenSession) -> None:
        self.opened = opened
        self._ticket: Ticket | None = None
        self._is_awaited = True

    @property
    def id(self) -> str:
        """Its session's id."""
        return self.opened.session_id

    @property
    def is_running(self) -> bool:
        """Whether it is at a task."""
        return self._ticket is not None and not self._ticket.result.done()

    def send(self, prompt: str) -> None:
        """Steers its task, else begins its next one."""
        self._is_awaited = True
        input = (Text(role="user", text=prompt, sender="parent_agent"),)
        if self.opened.session.steer(input) is None:
            self._ticket = self.opened.session.submit(input, queue=True)

    async def answer(self, within_s: float | None = None) -> Answer | None:
        """What its last task came to, waited for; whoever gets it here needs no report."""
        if self._ticket is None:
            return None
        ticket = self._ticket
        await asyncio.wait((ticket.result,), timeout=within_s)
        if not ticket.result.done():
            return None
        self._is_awaited = True
        return _answer(ticket.result.result())

    def leave_behind(self) -> None:
        """Its end is to be reported."""
        self._is_awaited = False

    def stop(self) -> None:
        """Interrupts its task: what is open is closed before this returns."""
        self.opened.session.end_now("ended by the parent")

    def take_report(self) -> str | None:
        """How its task has ended, once, if nobody has waited for that."""
        if self._is_awaited or self._ticket is None or not self._ticket.result.done():
            return None
        self._is_awaited = True
        answer = _answer(self._ticket.result.result())
        text = answer.text
        if len(text) > _MOST_REPORTED_CHARS:
            text = f"{text[:_MOST_REPORTED_CHARS]}\n[cut; input_subagent without a prompt gives all of it]"
        return "\n".join(filter(None, (note(self.id, answer), text)))

    async def close(self) -> None:
        """Ends its session; its trace stays."""
        await self.opened.close()


class Subagents:
    """The children of one session (`tools.errands.Subagents`, `tools.toolset.Shared`)."""

    def __init__(self, client: Client, begin: Begin, profiles: Mapping[str, str]) -> None:
        self._begin, self._profiles = begin, profiles
        self._ask, self._buffers, self._servers = client.ask, client.buffers, client.servers
        self._sink, self._person = ParentSink(client.sink), SharedPerson(client.person)
        self._sink.before_abort = self.stop_all
        self._parent: OpenSession | None = None
        self._children: dict[str, Child] = {}
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def client(self) -> Client:
        """The client's side of the parent: its stream and its person are shared with the children."""
        return Client(self._sink, self._person, self._ask, self._buffers, servers=self._servers)

    def adopt(self, parent: OpenSession) -> None:
        """The session whose children these are; it has to be known before the first one is started."""
        self._parent = parent

    def profiles(self) -> Mapping[str, str]:
        """The configured profiles."""
        return self._profiles

    def start(self, errand: Errand) -> Child | str:
        """Begins a task; a text says why it cannot."""
        parent = self._parent
        if parent is None:
            return "This session has no subagents."
        if refusal := self._make_room():
            return refusal
        child_id = new_session_id()
        try:
            opened = self._begin(child_id, errand, parent, self._client_of(child_id, parent))
        except (ModelUnavailable, InvalidParams) as error:
            return f"No subagent was started: {error.message}."
        child = self._children[child_id] = Child(opened)
        parent.session.record(SubagentEvent(session_id=child_id))
        self._sink.push_of(child_id, envelope(opened.meta), parent.session.run_id)
        if errand.with_context and (known := snapshot(parent)):
            opened.session.seed(known)
        child.send(errand.prompt)
        return child

    def find(self, id: str) -> Child | None:
        """One that was started and has not been let go."""
        return self._children.get(id)

    async def kill(self, subagent: errands.Subagent) -> None:
        """Ends it for good."""
        if child := self._children.pop(subagent.id, None):
            await child.close()

    def at_work(self) -> Sequence[OpenSession]:
        """The sessions of those that are at a task, oldest first."""
        return tuple(child.opened for child in self._children.values() if child.is_running)

    def stop_all(self) -> bool:
        """Interrupts every task, those in the background too: whoever stops the parent wants all of it to stop.

        Whether there was any.
        """
        running = [child for child in self._children.values() if child.is_running]
        for child in running:
            child.stop()
        return bool(running)

    def take_reports(self) -> Sequence[str]:
        """How tasks in the background have ended, each told once."""
        return tuple(report for child in self._children.values() if (report := child.take_report()))

    async def close(self) -> None:
        """Ends all of them."""
        children, self._children = tuple(self._children.values()), {}
        await asyncio.gather(*(child.close() for child in children), *self._closing)

    def _client_of(self, child_id: str, parent: OpenSession) -> Client:
        session = parent.session
        sink = ChildSink(child_id, self._sink, lambda: session.run_id, session.add_child_usage)
        person = ChildPerson(child_id, self._person)
        return Client(sink, person, self._ask, self._buffers, parent.grants, parent.budget, self._servers)

    def _make_room(self) -> str | None:
        """Lets the oldest one go that has nothing to do; a text when all are at work."""
        if len(self._children) < _MOST_OPEN:
            return None
        idle = next((child for child in self._children.values() if not child.is_running), None)
        if idle is None:
            return f"{_MOST_OPEN} subagents are at work: wait for one with input_subagent, or end one."
        del self._children[idle.id]
        closing = asyncio.get_running_loop().create_task(idle.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        return None


def snapshot(parent: OpenSession) -> tuple[Content, ...]:
    """What the parent knows, as a history that can stand alone: without a reply whose calls are not answered yet."""
    messages = [message for commit in parent.session.history() for message in commit.messages]
    reply = len(messages)
    while reply and messages[reply - 1].role == "assistant":
        reply -= 1
    has_calls = any(isinstance(one, ToolCall) for one in messages[reply:])
    return tuple(messages[:reply] if has_calls else messages)


def _answer(result: RunResult) -> Answer:
    return Answer(result.status, result.text, result.turns, result.error_message)


if TYPE_CHECKING:
    _: tuple[type[errands.Subagent], type[errands.Subagents], type[Shared]] = (Child, Subagents, Subagents)
