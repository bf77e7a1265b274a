"""What the parts of one session share: its ports, its ledger, and the one way in which anything is said."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace

from agent_lsp.engine.approvals import Gate
from agent_lsp.engine.hooks import Hooks
from agent_lsp.engine.ledger import Ledger
from agent_lsp.engine.ports import LLM, Approver, EngineOptions, Environment, Sink, StateChange, Trace
from agent_lsp.engine.scope import TaskScope
from agent_lsp.messages.content import PARTIAL_TYPES, Content, Partial
from agent_lsp.messages.envelope import Message, encode, envelope
from agent_lsp.messages.events import Event


class Runtime:
    """One session's ports and state. Everything said goes through `emit`: ledger, then trace, then sink."""

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
        options: EngineOptions,
        hooks: Hooks,
    ) -> None:
        self.session_id, self.system = session_id, system
        self.llm, self.environment, self.options, self.hooks = llm, environment, options, hooks
        self.trace, self.sink = trace, sink
        self.ledger = Ledger()
        self.scope = TaskScope(session_id)
        self.gate = Gate(approver, self.scope, self.tell_state)
        self.run_id: str | None = None
        self.told = StateChange("idle")
        self._change = self.told
        self._listeners: list[Callable[[Message], None]] = []
        self.queued: Callable[[], int] = lambda: 0
        self._syncing: asyncio.Task[None] | None = None

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
        """Has the trace brought to the disk, beside what goes on; one at a time."""
        if self._syncing is None or self._syncing.done():
            self._syncing = self.scope.spawn(self.trace.sync())
