"""One client: what it says is dispatched in order, each of its requests is answered exactly once.

                ╭── initialize was answered before (server/handshake.py)
                ▼
    SERVING ── shutdown ──▶ SHUT ── exit ─────▶ ENDED (status 0)
       ╰─────── exit, end of input, dead parent ▶ ENDED (status 1)

Whatever comes before the service is built waits in the decoder, in order.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from agent_lsp.errors import FramingError
from agent_lsp.server import jsonrpc, refusals
from agent_lsp.server.asking import Questions, encoded
from agent_lsp.server.framing import Decoder
from agent_lsp.server.handshake import Initialized
from agent_lsp.server.outbox import Outbox
from agent_lsp.server.service import Call, Method, Service
from agent_lsp.server.transport import Transport

Build = Callable[["Connection"], Service]

_log = logging.getLogger(__name__)
_SHUTDOWN_S = 4.0
_CLOSE_S = 3.5
_LAST_WORDS_S = 0.5


class Connection:
    """What the application sees of its client: `initialized`, `outbox`, `request`, `notify`, `spawn`."""

    def __init__(self, initialized: Initialized, decoder: Decoder, tasks: asyncio.TaskGroup) -> None:
        self.initialized = initialized
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.outbox: Outbox
        self._decoder, self._tasks = decoder, tasks
        self._transport: Transport
        self._questions: Questions
        self._service: Service | None = None
        self._calls: dict[tuple[type, jsonrpc.RequestId], Call] = {}
        self._spawned: set[asyncio.Task[Any]] = set()
        self._shut = False

    # --- for the application ------------------------------------------------------------------------------------------

    async def request(self, method: str, params: Any = None) -> Any:
        """Asks the client and returns its result.

        Raises PeerError (it answered with an error) or ConnectionLost. Cancelling withdraws the question
        (`$/cancelRequest`) and waits for nothing; an answer that comes later is ignored.
        """
        return await self._questions.ask(method, params)

    def notify(self, method: str, params: Any = None) -> None:
        """Tells the client."""
        self.outbox.post(jsonrpc.notification(method, encoded({} if params is None else params)))

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Starts a task that lives as long as the connection at most: it is cancelled after `Service.close`.

        An exception that leaves it ends the server, as a bug does.
        """
        task = self._tasks.create_task(work)
        self._spawned.add(task)
        task.add_done_callback(self._spawned.discard)
        return task

    def end(self, reason: str) -> None:
        """Ends the connection, and with it the server."""
        if not self.ended.done():
            self.ended.set_result(reason)
