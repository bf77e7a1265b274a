"""Answering: each request of a client gets one answer, whatever its handler does.

A handler is called when its request comes, and what it does before it returns is in order. This is the handler
boundary: whatever leaves a handler becomes an answer or, where nobody waits for one, a line in the log.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError

from agent_lsp.wire import jsonrpc, refusals
from agent_lsp.wire.asking import encoded
from agent_lsp.wire.jsonrpc import RequestId
from agent_lsp.wire.service import Call, Method, Observer

_log = logging.getLogger(__name__)

Spawn = Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]]
Failure = Callable[[RequestId, Exception], bytes]


class Dispatcher:
    """The requests of one client that are being answered.

    `post` queues a body for the client, `flush` sends what is queued, `spawn` starts a task, `failure` words what a
    handler has raised.
    """

    def __init__(
        self,
        post: Callable[[bytes], None],
        flush: Callable[[], None],
        spawn: Spawn,
        failure: Failure = refusals.failure,
    ) -> None:
        self._post, self._flush, self._spawn, self._failure = post, flush, spawn, failure
        self._calls: dict[tuple[type, RequestId], Call] = {}

    def open(self) -> tuple[Call, ...]:
        """Those that are not answered yet."""
        return tuple(self._calls.values())

    def is_open(self, request_id: RequestId) -> bool:
        """Whether a request of this id is not answered yet."""
        return (type(request_id), request_id) in self._calls

    def admit(self, request: jsonrpc.Request) -> Call | None:
        """Takes a request on; None when its id is in use, which is answered here."""
        if self.is_open(request.id):
            self._post(jsonrpc.failure(None, "invalid_request", "a request with this id is being answered"))
            return None
        call = self._calls[type(request.id), request.id] = Call(request.id, request.method)
        return call

    def serve(self, call: Call, method: Method[Any] | None, sent: dict[str, Any]) -> None:
        """Has the method answer, now or later."""
        if method is None:
            self.refuse(call, "method_not_found", f"no method {call.method[:100]!r}")
            return
        with self._answering(call):
            try:
                params = method.params.model_validate(sent)
            except ValidationError as error:
                raise refusals.invalid_params(error, sent) from None
            result = method.handler(params, call)
            if inspect.isawaitable(result):
                self.wait(call, result)
            else:
                self._answer(call, jsonrpc.success(call.id, encoded(result)))

    def wait(self, call: Call, work: Awaitable[Any]) -> None:
        """Answers with what the work comes to."""
        call.task = self._spawn(self._finish(call, work))

    def refuse(self, call: Call, kind: str, message: str) -> None:
        """Answers with an error, unless it was answered."""
        self._answer(call, jsonrpc.failure(call.id, kind, message))

    def cancel(self, request_id: Any) -> None:
        """The client wants no answer to this request any more; one that is gone, or no id at all, is nothing."""
        if isinstance(request_id, str | int | float):
            call = self._calls.get((type(request_id), request_id))
            if call is not None:
                with self._answering(call):
                    call.cancel()

    def notified(self, method: str, params: dict[str, Any] | None, observer: Observer[Any] | None) -> None:
        """Takes a notification; one that nobody knows, or that does not fit, is only logged."""
        if observer is None:
            _log.info("a notification that nobody knows: %.100r", method)
            return
        with _observing(method):
            result = observer.handler(observer.params.model_validate(params or {}))
            if result is not None:
                self._spawn(_observe(method, result))

    async def _finish(self, call: Call, work: Awaitable[Any]) -> None:
        call.started = True
        with self._answering(call):
            if call.cancelled_early:
                _discard(work)
                raise asyncio.CancelledError
            self._answer(call, jsonrpc.success(call.id, encoded(await work)))
        self._flush()  # somebody has waited for it; what a read brings at once is answered together

    @contextmanager
    def _answering(self, call: Call) -> Generator[None]:
        try:
            yield
        except asyncio.CancelledError:
            self.refuse(call, "request_cancelled", "cancelled")
            raise
        except Exception as error:
            self._answer(call, self._failure(call.id, error))

    def _answer(self, call: Call, body: bytes) -> None:
        if call.answered:
            return
        del self._calls[type(call.id), call.id]
        self._post(body)
        call.settle()


async def _observe(method: str, work: Awaitable[None]) -> None:
    with _observing(method):
        await work


@contextmanager
def _observing(method: str) -> Generator[None]:
    """There is nobody to answer, so the log is told."""
    try:
        yield
    except ValidationError as error:
        _log.info("%s with params that do not fit: %d errors", method, error.error_count())
    except Exception:
        _log.exception("the handler of %s failed", method)


def _discard(work: Awaitable[Any]) -> None:
    if inspect.iscoroutine(work):
        work.close()
    elif isinstance(work, asyncio.Future):
        work.cancel()
