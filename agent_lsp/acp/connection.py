"""The connection to a client that speaks the Agent Client Protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent_lsp.acp import refusals
from agent_lsp.acp.outbox import Outbox
from agent_lsp.wire import jsonrpc
from agent_lsp.wire.asking import encoded
from agent_lsp.wire.connection import PeerConnection
from agent_lsp.wire.service import Call, Service

if TYPE_CHECKING:
    from agent_lsp.acp.handshake import Greeted

Build = Callable[["Connection"], Service]


class Connection(PeerConnection[Outbox]):
    """What the application sees of its client: `greeted`, `outbox`, `request`, `update`, `spawn`."""

    withdrawal = ("$/cancel_request", "requestId")

    def __init__(self, greeted: Greeted, tasks: asyncio.TaskGroup) -> None:
        super().__init__(greeted.decoder, tasks, refusals.failure)
        self.greeted = greeted

    def update(self, session_id: str, update: dict[str, Any]) -> None:
        """Tells the client of something in a session."""
        self.outbox.post(
            jsonrpc.notification("session/update", encoded({"sessionId": session_id, "update": _without_none(update)}))
        )

    @property
    def exit_status(self) -> int:
        """0 when the client closed the input, which is how it says that it is done; else 1."""
        return 0 if self._input_ended else 1

    def _asked(self, call: Call) -> bool:
        if call.method == "initialize":
            self._dispatcher.refuse(call, "invalid_request", "initialize was answered already")
        return call.method == "initialize"

    def _told(self, method: str) -> bool:
        return False


def _without_none(update: dict[str, Any]) -> dict[str, Any]:
    """The update without the fields that say nothing; a diff's `oldText` and a tool's input stay as they are."""
    return {name: value for name, value in update.items() if value is not None}
