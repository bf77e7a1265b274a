"""What the parts of one session share: its ports, its ledger, and the one way in which anything is said."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agent_lsp.engine.approvals import Gate
from agent_lsp.engine.ledger import Ledger
from agent_lsp.engine.ports import Ports, Request, StateChange, ThinkingLevel
from agent_lsp.engine.scope import TaskScope
from agent_lsp.messages.content import PARTIAL_TYPES, Content, Partial, PartialText, Text
from agent_lsp.messages.envelope import Message, SessionMeta, encode, envelope
from agent_lsp.messages.events import Event, SessionUpdate, TokenCounts, TokenUsage, ToolListReady
from agent_lsp.slotted import replace

if TYPE_CHECKING:
    from agent_lsp.engine.hooks import Hooks
    from agent_lsp.engine.interrupt import Interrupt
    from agent_lsp.engine.options import EngineOptions

SYNC_EVERY_S = 0.02
"""Requests that end faster than this share a sync. Each is a thread's visit to the disk: 0.3 ms of a turn of 2.3."""

REST_S = 0.002
"""What has just happened is told before the disk is asked: its thread would take the interpreter from the answer."""


class Runtime:
    """One session's ports and state. Everything said goes through `emit`: ledger, then trace, then sink."""

    def __init__(self, meta: SessionMeta, ports: Ports, options: EngineOptions, hooks: Hooks) -> None:
        self.meta, self.options, self.hooks = meta, options, hooks
        self.session_id, self.system = meta.session_id, meta.system_prompt
        self.llm, self.environment, self.pictures = ports.llm, ports.environment, ports.pictures
        self.trace, self.sink, self.goal_file = ports.trace, ports.sink, ports.goal_file
        self.aside = ports.aside
        self.ledger = Ledger()
        self.children_usage = TokenCounts()
        self.scope = TaskScope(self.session_id)
        self.gate = Gate(ports.approver, self.scope, self.tell_state)
        self.run_id: str | None = None
        self.interrupt: Interrupt | None = None
        self.prompt: Callable[[], str] | None = None
        self.thinking_level: ThinkingLevel | None = None
        self._is_new = False
        self.told = StateChange("idle")
        self._change = self.told
        self._listeners: list[Callable[[Message], None]] = []
        self.queued: Callable[[], int] = lambda: 0
        self._syncing: asyncio.Task[None] | None = None
        self._sync_due: asyncio.TimerHandle | None = None
        self._synced_s = -math.inf
        hooks.attach(self.emit)

    def emit(self, payload: Content | Partial | Event, *, traced_only: bool = False) -> None:
        """Says one thing. Synchronous and cannot fail, so the order of calls is the order of the stream."""
        message = envelope(payload)
        if not isinstance(payload, PARTIAL_TYPES):
            self.ledger.apply(payload)
            self.trace.append(encode(message))
        if not traced_only:
            self.sink.push(message, self.run_id)
            for listener in self._listeners:
                listener(message)
        if not isinstance(payload, PARTIAL_TYPES):
            self.hooks.observe(payload)

    @property
    def is_interrupted(self) -> bool:
        """Whether the present run has been interrupted: nothing of it may start any more."""
        return self.interrupt is not None and self.interrupt.is_fired

    def emit_aside(self, payload: Content | Partial | Event) -> None:
        """Says something of a request that is no turn: the client hears only its text and its usage."""
        if isinstance(payload, PARTIAL_TYPES) and not isinstance(payload, PartialText):
            return
        heard = isinstance(payload, PartialText | TokenUsage) or (
            isinstance(payload, Text) and payload.role == "assistant"
        )
        self.emit(payload, traced_only=not heard)

    def replay(self, messages: Iterable[Message], call_ids: Iterable[str]) -> None:
        """Takes in what was traced before; nothing is said or written by that."""
        for id in call_ids:
            self.ledger.ids.note(id)
        for message in messages:
            if not isinstance(message.payload, PARTIAL_TYPES):
                self.ledger.apply(message.payload)
        self.ledger.end_replay()
        if self.ledger.is_closed:
            self.new_context()

    def new_context(self) -> None:
        """The trace goes on in a new file, which begins with what the new context begins with."""
        ledger, self._is_new = self.ledger, True
        if self.prompt:
            self.system = self.prompt()
            self.meta = self.meta.model_copy(update={"system_prompt": self.system})
        self.environment.renew()
        updates = [ledger.settings] if ledger.settings != SessionUpdate() else []
        told = [ToolListReady(tools=ledger.tools_told)] if ledger.tools_told is not None else []
        head = (self.meta, *updates, *told, *ledger.opening())
        self.trace.rotate([encode(envelope(payload)) for payload in head])

    def request(self, thinking_level: ThinkingLevel | None) -> Request:
        """The next request, as the ledger has it; without a level of its own it has the session's."""
        ledger = self.ledger
        return Request(
            system=self.system,
            tools=ledger.tools_told or (),
            history=tuple(ledger.history),
            input=ledger.wire(ledger.request_input()),
            thinking_level=thinking_level or self.thinking_level,
            session_id=self.session_id,
        )

    def show_tools(self) -> None:
        """Tells the model and the client of the tools, if they are others or the context is a new one."""
        tools = self.environment.tools()
        if tools != self.ledger.tools_told:
            self.emit(ToolListReady(tools=tools))
        elif self._is_new:
            self.sink.push(envelope(ToolListReady(tools=tools)), self.run_id)  # the new trace file begins with it
        self._is_new = False

    @contextmanager
    def overheard(self, listener: Callable[[Message], None]) -> Generator[None]:
        """Has a second listener, which must not raise, get the stream meanwhile."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    def set_state(self, change: StateChange) -> None:
        """Tells of the session's state if it is another one; the number of waiting persons is filled in here."""
        pending = self.gate.pending
        state = "waiting_approval" if pending and change.state == "running" else change.state
        self._change = change
        told = replace(change, state=state, queued=self.queued(), pending_approvals=pending)
        if told != self.told:
            self.told = told
            self.sink.state(told)

    def tell_state(self) -> None:
        """Tells of the state again if a count in it has changed."""
        self.set_state(self._change)

    def sync_soon(self) -> None:
        """Has what was traced so far brought to the disk, beside what goes on; one at a time, and not without end."""
        if self._sync_due is None:
            loop = asyncio.get_running_loop()
            self._sync_due = loop.call_at(max(loop.time() + REST_S, self._synced_s + SYNC_EVERY_S), self._sync)

    async def sync(self) -> None:
        """Returns when all of it is on the disk; whatever was to be brought there soon is."""
        if self._sync_due is not None:
            self._sync_due.cancel()
            self._sync_due = None
        await self.trace.sync()

    def _sync(self) -> None:
        self._sync_due, self._synced_s = None, asyncio.get_running_loop().time()
        if self._syncing is not None and not self._syncing.done():
            self.sync_soon()  # the disk is slow, and has not been told of everything
        elif not self.scope.is_closed:
            self._syncing = self.scope.spawn(self.trace.sync())
