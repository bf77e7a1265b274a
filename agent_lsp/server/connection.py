"""The connection to a client that speaks LSP: how it begins and ends.

            ╭── initialize was answered before (server/handshake.py)
            ▼
SERVING ── shutdown ──▶ SHUT ── exit ─────▶ ENDED (status 0)
   ╰─────── exit, end of input, dead parent ▶ ENDED (status 1)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent_lsp.server.outbox import Outbox
from agent_lsp.wire import jsonrpc
from agent_lsp.wire.asking import encoded
from agent_lsp.wire.connection import PeerConnection
from agent_lsp.wire.service import Call, Service

if TYPE_CHECKING:
    from agent_lsp.server.handshake import Greeted

Build = Callable[["Connection"], Service]

_SHUTDOWN_S = 4.0


class Connection(PeerConnection[Outbox]):
    """What the application sees of its client: `greeted`, `outbox`, `request`, `notify`, `spawn`."""

    def __init__(self, greeted: Greeted, tasks: asyncio.TaskGroup) -> None:
        super().__init__(greeted.decoder, tasks)
        self.greeted = greeted
        self._shut = False

    def notify(self, method: str, params: Any = None) -> None:
        """Tells the client. One without a plugin is told nothing of `agent/*`, which it could not understand."""
        if self.greeted.client.plain and method.startswith("agent/"):
            return
        self.outbox.post(jsonrpc.notification(method, encoded({} if params is None else params)))

    @property
    def exit_status(self) -> int:
        """0 when the client asked for `shutdown` first, else 1."""
        return 0 if self._shut else 1

    def _asked(self, call: Call) -> bool:
        if self._shut or call.method == "initialize":
            why = "the server is shut down" if self._shut else "initialize was answered already"
            self._dispatcher.refuse(call, "invalid_request", why)
            return True
        if call.method == "shutdown":
            self._shut = True
            self._dispatcher.wait(call, self._shutdown(call))
            return True
        return False

    def _told(self, method: str) -> bool:
        if method == "exit":
            self.end("the client said exit")
        return method == "exit"

    async def _shutdown(self, call: Call) -> None:
        """Ends what runs; returns when every other request has been answered, the stubborn ones with an error."""
        assert self._service is not None
        self.outbox.hurry()
        await self._service.shutdown()
        others = [other for other in self._dispatcher.open() if other is not call and other.task is not None]
        tasks = [other.task for other in others if other.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=_SHUTDOWN_S)
        for other in others:
            if not other.answered and other.task is not None:
                other.task.cancel()
                self._dispatcher.refuse(other, "request_cancelled", "the server is shutting down")
