"""The seam between a connection and what it serves: methods, what a handler is given, the hooks of a connection's life.

    def build(connection: Connection) -> Service:
        return Service(
            requests={"agent/run": Method(RunParams, run), …},
            notifications={"textDocument/didOpen": Method(DidOpen, opened), …},
            shutdown=hub.shutdown,
            close=hub.close,
        )

Handlers are called in the order in which messages came, each to its end before the next: what a handler does before it
returns is atomic, and in order. A handler that has to wait returns an awaitable; the connection makes a task of it.
The body of an `async def` begins later, so whatever must be in order (taking a place in a queue, `call.on_cancel`)
belongs in a plain function that returns the coroutine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel

from agent_lsp.slotted import field, frozen

if TYPE_CHECKING:
    from agent_lsp.wire.jsonrpc import RequestId

ParamsT = TypeVar("ParamsT", bound=BaseModel)


class Call:
    """One request that is being answered: exactly once, whatever happens."""

    __slots__ = ("_after", "_callback", "answered", "cancelled", "id", "method", "started", "task")

    def __init__(self, request_id: RequestId, method: str) -> None:
        self.id, self.method = request_id, method
        self.answered = self.cancelled = self.started = False
        self.task: asyncio.Task[None] | None = None
        self._callback: Callable[[], None] | None = None
        self._after: list[Callable[[], None]] = []

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """What `$/cancelRequest` does instead of cancelling the task: the handler still answers, with its result.

        Called once at most, from the loop. To be set before the handler returns; a cancel cannot come earlier.
        """
        self._callback = callback

    def after_answer(self, callback: Callable[[], None]) -> None:
        """Calls back right after the answer is queued, so that what it sends comes after it."""
        self._after.append(callback)

    def cancel(self) -> None:
        """The client wants no answer any more. A second time is nothing."""
        if self.cancelled or self.answered:
            return
        self.cancelled = True
        if self._callback is not None:
            self._callback()
        elif self.task is not None and self.started:  # one that has not begun yet looks for itself
            self.task.cancel()

    @property
    def cancelled_early(self) -> bool:
        """Whether it was cancelled before its task began, with nothing registered that would answer."""
        return self.cancelled and self._callback is None

    def settle(self) -> None:
        """The answer is queued."""
        self.answered = True
        for callback in self._after:
            callback()


@frozen
class Method(Generic[ParamsT]):
    """How one request is served.

    `params` reads what was sent (camelCase aliases; left out altogether it is `{}`). The handler returns the result, or
    an awaitable of it: a model (written by alias, None left out), a dict, a list or None (written as they are), or
    `bytes` that are JSON already. It raises `RequestRefused` for what cannot be carried out.
    """

    params: type[ParamsT]
    handler: Callable[[ParamsT, Call], Any]

    def serve(self, call: Call, **sent: Any) -> Any:
        """Serves another request as this one, with these params as they would be sent."""
        return self.handler(self.params.model_validate(sent), call)


@frozen
class Observer(Generic[ParamsT]):
    """How one notification is taken. One whose params do not fit is logged and ignored."""

    params: type[ParamsT]
    handler: Callable[[ParamsT], Awaitable[None] | None]


async def _nothing() -> None:
    return None


@frozen
class Service:
    """What a connection serves.

    `shutdown` (the request of that name): ends what runs so that its requests are answered, and flushes; it should not
    wait for the client to read. `close` (once, when the connection is over for whatever reason): ends everything, child
    processes included. It has a few seconds.
    """

    requests: Mapping[str, Method[Any]]
    notifications: Mapping[str, Observer[Any]] = field(default_factory=dict[str, Observer[Any]])
    shutdown: Callable[[], Awaitable[None]] = _nothing
    close: Callable[[], Awaitable[None]] = _nothing
