"""A session's sink that is listened in on; with telemetry off there is none of these."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_lsp.engine.ports import Sink, StateChange
    from agent_lsp.messages.envelope import Message
    from agent_lsp.telemetry.observer import Observer

_AT_REST = {"idle": "", "auth_required": "auth"}


class ObservedSink:
    """Passes everything on, then observes it."""

    def __init__(self, inner: Sink, observer: Observer) -> None:
        self._inner, self._observer = inner, observer

    def push(self, message: Message, run_id: str | None) -> None:
        """Passes the message on."""
        self._inner.push(message, run_id)
        self._observer.see(message, run_id)

    def state(self, change: StateChange) -> None:
        """Passes the state on. At rest, the run is over."""
        self._inner.state(change)
        if change.state in _AT_REST:
            self._observer.rest(_AT_REST[change.state])

    async def drain(self) -> None:
        """As the sink does."""
        await self._inner.drain()


if TYPE_CHECKING:
    _: type[Sink] = ObservedSink
