"""One client: what it says is dispatched in order, each of its requests is answered exactly once.

`initialize` was answered before. Whatever comes before the service is built waits in the decoder, in order.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from pydantic_core import from_json

from agent_lsp.errors import FramingError
from agent_lsp.slotted import replace
from agent_lsp.wire import jsonrpc, refusals
from agent_lsp.wire.asking import Questions
from agent_lsp.wire.dispatch import Dispatcher, Failure
from agent_lsp.wire.outgoing import Outgoing

if TYPE_CHECKING:
    from agent_lsp.wire.service import Call, Service
    from agent_lsp.wire.transport import Transport

_log = logging.getLogger(__name__)
_CLOSE_S = 3.5
_LAST_WORDS_S = 0.5
_LOOK_S = 1.0  # how often a client that reads nothing is looked after


class Decoder(Protocol):
    """Cuts what comes into messages."""

    def feed(self, data: bytes) -> None:
        """Takes bytes, wherever they were cut."""
        ...

    def take(self) -> bytes | FramingError | None:
        """The next message, or what is wrong with it; None while it is not whole."""
        ...


Box = TypeVar("Box", bound=Outgoing[Any])


class PeerConnection(ABC, Generic[Box]):
    """What both front ends have in common: bytes in, answers out, and an end that leaves nothing running.

    A front end says what its own methods do to the connection (`_asked`, `_told`), and what `exit_status` that means.
    """

    withdrawal = ("$/cancelRequest", "id")
    """How a request is taken back, by either side: the notification, and the field with the request's id."""

    def __init__(self, decoder: Decoder, tasks: asyncio.TaskGroup, failure: Failure = refusals.failure) -> None:
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.outbox: Box
        self._decoder, self._tasks, self._failure = decoder, tasks, failure
        self._transport: Transport
        self._has_left: Callable[[], bool]
        self._questions: Questions
        self._dispatcher: Dispatcher
        self._service: Service | None = None
        self._spawned: set[asyncio.Task[Any]] = set()
        self._held = self._input_ended = False

    # --- for the application ------------------------------------------------------------------------------------------

    async def request(self, method: str, params: Any = None) -> Any:
        """Asks the client and returns its result.

        Raises PeerError (it answered with an error) or ConnectionLost. Cancelling withdraws the question and waits for
        nothing; an answer that comes later is ignored.
        """
        return await self._questions.ask(method, params)

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
            self._decoder.feed(data)
            self._pump()
        else:
            self._input_ended = True
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

    def attach(self, transport: Transport, outbox: Box, has_left: Callable[[], bool] = lambda: False) -> None:
        """Gives the connection its way out; before anything else.

        `has_left` tells whether the client has closed its end, though something of it may still be unread.
        """
        self._transport, self.outbox, self._has_left = transport, outbox, has_left
        self._questions = Questions(outbox.post, self.withdrawal)
        self._dispatcher = Dispatcher(outbox.post, outbox.flush, self.spawn, self._failure)

    def serve(self, service: Service) -> None:
        """Begins to dispatch, with what came meanwhile."""
        self._service = service
        self._pump()

    @property
    @abstractmethod
    def exit_status(self) -> int:
        """0 when the client has taken its leave in the way of its protocol, else 1."""

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

    # --- dispatch -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def _asked(self, call: Call) -> bool:
        """Answers a request that is about the connection itself; False for any other."""

    @abstractmethod
    def _told(self, method: str) -> bool:
        """Takes a notification that is about the connection itself; False for any other."""

    def _pump(self) -> None:
        while self._service is not None and not self._held and not self.ended.done():
            item = self._decoder.take()
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
                self._input_ended = True
                self.end("the input has ended, and nobody reads")
                return
        self._transport.hold(False)

    def _incoming(self, item: bytes | FramingError, service: Service) -> None:
        if isinstance(item, FramingError):
            self.outbox.post(jsonrpc.framing_failure(item))
            return
        cancel, field = self.withdrawal
        match jsonrpc.parse(item, _loads):
            case jsonrpc.Request() as request:
                call = self._dispatcher.admit(request)
                if call is not None and not self._asked(call):
                    self._dispatcher.serve(call, service.requests.get(request.method), request.params)
            case jsonrpc.Notification(method, params) if method == cancel:
                self._dispatcher.cancel((params or {}).get(field))
            case jsonrpc.Notification(method, params):
                if not self._told(method):
                    self._dispatcher.notified(method, params, service.notifications.get(method))
            case jsonrpc.Response() as response:
                if not self._questions.settle(response):
                    _log.info("an answer to no open request: %.100r", response.id)
            case jsonrpc.Invalid(given) as invalid:
                is_open = given is not None and self._dispatcher.is_open(given)
                self.outbox.post((replace(invalid, id=None) if is_open else invalid).answer())


def _loads(body: bytes) -> Any:
    return from_json(body, allow_inf_nan=False)
