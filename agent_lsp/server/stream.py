"""The sink of one session: its stream into the outbox, its state as a notification."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_lsp.engine.ports import Sink, StateChange
    from agent_lsp.messages.envelope import Message
    from agent_lsp.server.connection import Connection
    from agent_lsp.server.progress import Progress


class StreamSink:
    """Tells one client of one session. `progress` holds the shown progress of its runs by run id."""

    def __init__(self, connection: Connection, session_id: str) -> None:
        self._connection, self._session_id = connection, session_id
        self.progress: dict[str, Progress] = {}

    def push(self, message: Message, run_id: str | None) -> None:
        """Queues the next message of the stream, for a client that knows what it is."""
        if not self._connection.greeted.client.plain:
            self._connection.outbox.message(self._session_id, run_id, message)
        if self.progress and run_id in self.progress:
            self.progress[run_id].see(message)

    def state(self, change: StateChange) -> None:
        """Tells of the session's state."""
        told = {
            "sessionId": self._session_id,
            "state": change.state,
            "queued": change.queued,
            "pendingApprovals": change.pending_approvals,
        }
        optional = {"attempt": change.attempt, "retryInMs": change.retry_in_ms, "hint": change.hint}
        self._connection.notify("agent/state", told | {name: at for name, at in optional.items() if at is not None})

    async def drain(self) -> None:
        """Waits while the client reads too slowly."""
        await self._connection.outbox.drain()


if TYPE_CHECKING:
    _: type[Sink] = StreamSink
