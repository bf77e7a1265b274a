"""Requests from the server to the client: who waits for which answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pydantic_core import to_json, to_jsonable_python

from agent_lsp.wire import jsonrpc
from agent_lsp.wire.peer_errors import ConnectionLost, PeerError


class Questions:
    """The open requests of one connection. `post` queues a body for the client.

    `withdrawal` is how a request is taken back: the method, and the name of the field with the request's id.
    """

    def __init__(self, post: Callable[[bytes], None], withdrawal: tuple[str, str] = ("$/cancelRequest", "id")) -> None:
        self._post, self._withdrawal = post, withdrawal
        self._open: dict[int, asyncio.Future[Any]] = {}
        self._last_id = 0
        self._lost = False

    async def ask(self, method: str, params: Any) -> Any:
        """The client's result. Raises PeerError or ConnectionLost. Cancelling withdraws the question at once."""
        if self._lost:
            raise ConnectionLost
        self._last_id += 1
        request_id = self._last_id
        self._open[request_id] = answer = asyncio.get_running_loop().create_future()
        try:
            self._post(jsonrpc.request(request_id, method, encoded(params)))
            return await answer
        finally:
            if self._open.pop(request_id, None) is not None:
                method, field = self._withdrawal
                self._post(jsonrpc.notification(method, encoded({field: request_id})))

    def settle(self, response: jsonrpc.Response) -> bool:
        """Gives an answer to whoever waits for it; False when nobody does."""
        given = response.id
        if not isinstance(given, int) or isinstance(given, bool):
            return False
        answer = self._open.pop(given, None)
        if answer is None or answer.done():
            return False
        if response.error is None:
            answer.set_result(response.result)
        else:
            message = response.error.get("message")
            code = response.error.get("code")
            words = message if isinstance(message, str) else "the client refused"
            answer.set_exception(PeerError(code, words, response.error.get("data")))
        return True

    def lose(self) -> None:
        """The client is gone: everyone who waits gets ConnectionLost."""
        self._lost = True
        questions, self._open = self._open, {}
        for answer in questions.values():
            if not answer.done():
                answer.set_exception(ConnectionLost())


def encoded(value: Any) -> bytes:
    """A result or params as JSON: models by alias without what is None, anything else as it is, `bytes` untouched."""
    if isinstance(value, bytes):
        return value
    try:
        return to_json(value, by_alias=True, exclude_none=True)
    except ValueError:  # a lone surrogate, which UTF-8 cannot hold
        return jsonrpc.dumps(jsonrpc.scrubbed(to_jsonable_python(value, by_alias=True, exclude_none=True)))
