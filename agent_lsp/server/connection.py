"""One client: what it says is dispatched in order, each of its requests is answered exactly once.

                ╭── initialize was answered before (server/handshake.py)
                ▼
    SERVING ── shutdown ──▶ SHUT ── exit ─────▶ ENDED (status 0)
       ╰─────── exit, end of input, dead parent ▶ ENDED (status 1)

Whatever comes before the service is built waits in the decoder, in order.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from pydantic_core import from_json

from agent_lsp.errors import FramingError
from agent_lsp.server.handshake import Greeted
from agent_lsp.server.outbox import Outbox
from agent_lsp.slotted import replace
from agent_lsp.wire import jsonrpc
from agent_lsp.wire.asking import Questions, encoded
from agent_lsp.wire.dispatch import Dispatcher
from agent_lsp.wire.service import Call, Service
from agent_lsp.wire.transport import Transport

Build = Callable[["Connection"], Service]

_log = logging.getLogger(__name__)
_SHUTDOWN_S = 4.0
_LOOK_S = 1.0  # how often a client that reads nothing is looked after
_CLOSE_S = 3.5
_LAST_WORDS_S = 0.5


class Connection:
    """What the application sees of its client: `greeted`, `outbox`, `request`, `notify`, `spawn`."""

    def __init__(self, greeted: Greeted, tasks: asyncio.TaskGroup) -> None:
        self.greeted = greeted
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.outbox: Outbox
        self._tasks = tasks
        self._transport: Transport
        self._has_left: Callable[[], bool]
        self._questions: Questions
        self._service: Service | None = None
        self._dispatcher: Dispatcher
        self._spawned: set[asyncio.Task[Any]] = set()
        self._shut = self._held = False

    # --- for the application ------------------------------------------------------------------------------------------

    async def request(self, method: str, params: Any = None) -> Any:
        """Asks the client and returns its result.

        Raises PeerError (it answered with an error) or ConnectionLost. Cancelling withdraws the question
        (`$/cancelRequest`) and waits for nothing; an answer that comes later is ignored.
        """
        return await self._questions.ask(method, params)

    def notify(self, method: str, params: Any = None) -> None:
        """Tells the client. One without a plugin is told nothing of `agent/*`, which it could not understand."""
        if self.greeted.client.plain and method.startswith("agent/"):
            return
        self.outbox.post(jsonrpc.notification(method, encoded({} if params is None else params)))

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Starts a task that lives as long as the connection at most: it is cancelled after `Service.close`.

        An exception that leaves it ends the server, as a bug does.
        """
        task = self._tasks.create_task(work)
        self._spawned.add(task)
        task.add_done_callback(self._spawned.discard)
        return task

    def hold(self, held: bool) -> None:
        """Leaves what comes where it is, or goes on with it: for a handler that has to wait before it begins."""
        self._held = held
        if not held:
            self._pump()

    def end(self, reason: str) -> None:
        """Ends the connection, and with it the server."""
        if not self.ended.done():
            self.ended.set_result(reason)

    # --- for the transport --------------------------------------------------------------------------------------------

    def received(self, data: bytes) -> None:
        """Bytes have come; `b""` is their end."""
        if self.ended.done():
            return
        if data:
            self.greeted.decoder.feed(data)
            self._pump()
        else:
            self.end("the input has ended")

    def writable(self) -> None:
        """The transport takes more."""
        self.outbox.flush()

    def lost(self) -> None:
        """Nothing that is written reaches the client any more."""
        self.outbox.die()
        self._questions.lose()
        self.end("the client is gone")

    # --- life ---------------------------------------------------------------------------------------------------------

    def attach(self, transport: Transport, outbox: Outbox, has_left: Callable[[], bool] = lambda: False) -> None:
        """Gives the connection its way out; before anything else.

        `has_left` tells whether the client has closed its end, though something of it may still be unread.
        """
        self._transport, self.outbox, self._has_left = transport, outbox, has_left
        self._questions = Questions(outbox.post)
        self._dispatcher = Dispatcher(outbox.post, self.spawn)

    def serve(self, service: Service) -> None:
        """Begins to dispatch, with what came meanwhile."""
        self._service = service
        self._pump()

    @property
    def exit_status(self) -> int:
        """0 when the client asked for `shutdown` first, else 1."""
        return 0 if self._shut else 1

    async def finish(self) -> None:
        """Ends everything, once the connection has ended."""
        self.outbox.hurry()
        self._questions.lose()
        if self._service is not None:
            try:
                async with asyncio.timeout(_CLOSE_S):
                    await self._service.close()
            except TimeoutError:
                _log.error("not everything ended within %s s", _CLOSE_S)
        await asyncio.sleep(0)  # a task that is cancelled before it has begun answers nobody
        for task in tuple(self._spawned):
            task.cancel()
        if self._spawned:
            await asyncio.wait(tuple(self._spawned), timeout=_LAST_WORDS_S)
        self.outbox.flush()
        await self._transport.close(_LAST_WORDS_S)

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

    # --- dispatch -----------------------------------------------------------------------------------------------------

    def _pump(self) -> None:
        while self._service is not None and not self._held and not self.ended.done():
            item = self.greeted.decoder.take()
            if item is None:
                break
            self._incoming(item, self._service)
        if self.outbox.overfull and not self.ended.done():
            self._transport.hold(True)
            self.spawn(self._listen_again())

    async def _listen_again(self) -> None:
        """Goes on once the client has read enough. A held input hides its own end, which is looked for meanwhile."""
        drained = self.spawn(self.outbox.drain())
        while not drained.done():
            await asyncio.wait((drained,), timeout=_LOOK_S)
            if not drained.done() and self._has_left():
                self.end("the input has ended, and nobody reads")
                return
        self._transport.hold(False)

    def _incoming(self, item: bytes | FramingError, service: Service) -> None:
        if isinstance(item, FramingError):
            self.outbox.post(jsonrpc.framing_failure(item))
            return
        match jsonrpc.parse(item, _loads):
            case jsonrpc.Request() as request:
                self._request(request, service)
            case jsonrpc.Notification("exit"):
                self.end("the client said exit")
            case jsonrpc.Notification("$/cancelRequest", params):
                self._dispatcher.cancel((params or {}).get("id"))
            case jsonrpc.Notification(method, params):
                self._dispatcher.notified(method, params, service.notifications.get(method))
            case jsonrpc.Response() as response:
                if not self._questions.settle(response):
                    _log.info("an answer to no open request: %.100r", response.id)
            case jsonrpc.Invalid(given) as invalid:
                known = given is None or not self._dispatcher.is_open(given)
                self.outbox.post((invalid if known else replace(invalid, id=None)).answer())

    def _request(self, request: jsonrpc.Request, service: Service) -> None:
        call = self._dispatcher.admit(request)
        if call is None:
            return
        if self._shut or request.method == "initialize":
            why = "the server is shut down" if self._shut else "initialize was answered already"
            self._dispatcher.refuse(call, "invalid_request", why)
        elif request.method == "shutdown":
            self._shut = True
            self._dispatcher.wait(call, self._shutdown(call))
        else:
            self._dispatcher.serve(call, service.requests.get(request.method), request.params)


def _loads(body: bytes) -> Any:
    return from_json(body, allow_inf_nan=False)
