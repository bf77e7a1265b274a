"""HTTP/1.1 without TLS, for models on this machine: a transport for httpx on asyncio's own sockets.

h11 and anyio take 10 µs for each chunk, and a model server sends a chunk for each delta. Here whatever one read has
brought becomes one piece, and a request leaves in one write: 20,000 deltas take 0.17 s instead of 0.34, and a first
delta 2.4 ms instead of 3.1.

Raises what httpx raises. A connection is used again once its answer was read to the end, and let go of otherwise.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
from collections.abc import AsyncGenerator, Mapping
from functools import lru_cache

import httpx

from agent_lsp.providers.http1 import Answer, ToTheEnd, framing_of, head_of, read_head

_KEPT, _KEPT_S = 16, 60.0
_HELD_BYTES = 512 * 1024
"""So much waits for whoever reads slowly, then the server has to."""
_LARGE_BODY_BYTES = 64 * 1024
_SEND_BYTES = 2 * 1024 * 1024
"""A long context goes out at once, not in turns with the server's reads: a request of 550 kB is 0.6 ms quicker."""
_LONGEST_HEAD_BYTES = 128 * 1024
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")

_Origin = tuple[str, int]


class PlainTransport(httpx.AsyncBaseTransport):
    """Keeps the connections of one event loop."""

    def __init__(self) -> None:
        self._idle: dict[_Origin, list[_Connection]] = {}
        self._open: set[_Connection] = set()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends the request; the answer's body is still to be read."""
        head = head_of(request)  # what cannot be sent is found out before anybody is asked
        within_s = request.extensions.get("timeout", {})
        origin = request.url.host, request.url.port or 80
        return await self._exchange(origin, head, await request.aread(), within_s.get("connect"), within_s.get("read"))

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, *, connect_s: float, read_s: float
    ) -> httpx.Response:
        """Sends a POST; the answer's body is still to be read.

        What httpx's client would do around it (cookies, redirects, authentication) nobody wants here; it takes 0.1 ms.
        """
        origin, head = _prepared(url, tuple(headers.items()))
        return await self._exchange(origin, head % len(body), body, connect_s, read_s)

    async def _exchange(
        self, origin: _Origin, head: bytes, body: bytes, connect_s: float | None, read_s: float | None
    ) -> httpx.Response:
        connection = self._kept(origin) or await self._connect(origin, connect_s)
        try:
            connection.send(head, body)
            answer = await _answer(connection, read_s)
            stream = _Body(self, origin, connection, answer, read_s)
        except BaseException:
            connection.abort()
            raise
        return httpx.Response(answer.status, headers=answer.headers, stream=stream)

    async def aclose(self) -> None:
        """Closes every connection."""
        for connection in tuple(self._open):
            connection.abort()
        self._idle.clear()
        await asyncio.sleep(0)  # what is let go of in this turn of the loop is closed in the next

    def keep(self, origin: _Origin, connection: _Connection) -> None:
        """Takes back a connection whose answer was read to its end."""
        idle = self._idle.setdefault(origin, [])
        connection.idle_since_s = asyncio.get_running_loop().time()
        idle.append(connection)
        if len(idle) > _KEPT:
            idle.pop(0).abort()

    def _kept(self, origin: _Origin) -> _Connection | None:
        """A connection that is still good, the one that was used last."""
        idle, now_s = self._idle.get(origin, []), asyncio.get_running_loop().time()
        while idle:
            connection = idle.pop()
            if connection.is_fresh and now_s - connection.idle_since_s < _KEPT_S:
                return connection
            connection.abort()
        return None

    async def _connect(self, origin: _Origin, within_s: float | None) -> _Connection:
        """A new connection, to the first address of the name that takes one."""
        loop = asyncio.get_running_loop()
        refusal: OSError | None = None
        try:
            async with asyncio.timeout(within_s):
                for *_, address in await loop.getaddrinfo(*origin, type=socket.SOCK_STREAM):
                    try:
                        _, connection = await loop.create_connection(
                            lambda: _Connection(self._open), str(address[0]), origin[1]
                        )
                    except OSError as error:
                        refusal = error
                    else:
                        return connection
        except TimeoutError as error:
            raise httpx.ConnectTimeout(f"no connection within {within_s:g} s") from error
        except OSError as error:
            refusal = error
        raise httpx.ConnectError(str(refusal) or "no address") from refusal


class _Connection(asyncio.Protocol):
    """One connection, with at most one exchange at a time."""

    def __init__(self, open_ones: set[_Connection]) -> None:
        self.idle_since_s = 0.0
        self._loop = asyncio.get_running_loop()
        self._open_ones = open_ones
        self._transport: asyncio.Transport
        self._pieces: list[bytes] = []
        self._held_bytes = 0
        self._is_held = self._is_over = False
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    @property
    def is_fresh(self) -> bool:
        """Whether a request can be sent: it is open, and nothing has come that nobody asked for."""
        return not (self._is_over or self._pieces)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is open."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        with contextlib.suppress(OSError):  # as much as the system allows
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BYTES)
        self._open_ones.add(self)

    def data_received(self, data: bytes) -> None:
        """Keeps what comes for whoever reads."""
        self._pieces.append(data)
        self._held_bytes += len(data)
        if self._held_bytes > _HELD_BYTES and not self._is_held:
            self._is_held = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """The server says nothing more."""
        self._is_over = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone, whoever has closed it."""
        self._is_over, self._error = True, exc
        self._open_ones.discard(self)
        self._wake()

    def send(self, head: bytes, body: bytes) -> None:
        """Sends both, now or later: in one write, unless it costs more to join them."""
        if len(body) < _LARGE_BODY_BYTES:
            self._transport.write(head + body)
        else:
            self._transport.write(head)
            self._transport.write(body)

    async def read(self, within_s: float | None) -> bytes:
        """All that has come, once something has; empty at the end. Raises ReadTimeout and ReadError."""
        if not self._pieces and not self._is_over:
            await self._something(within_s)
        data = b"".join(self._pieces)
        self._pieces.clear()
        self._held_bytes = 0
        if self._is_held:
            self._is_held = False
            self._transport.resume_reading()
        if not data and self._error:
            raise httpx.ReadError(str(self._error)) from self._error
        return data

    def abort(self) -> None:
        """Lets go of it at once."""
        self._transport.abort()

    async def _something(self, within_s: float | None) -> None:
        self._waiter = waiter = self._loop.create_future()
        timer = self._loop.call_later(within_s, _time_out, waiter, within_s) if within_s is not None else None
        try:
            await waiter
        finally:
            self._waiter = None
            if timer:
                timer.cancel()

    def _wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)


class _Body(httpx.AsyncByteStream):
    """The body of one answer; gives its connection back at the end."""

    def __init__(
        self,
        transport: PlainTransport,
        origin: _Origin,
        connection: _Connection,
        answer: Answer,
        within_s: float | None,
    ) -> None:
        self._give_back = lambda: transport.keep(origin, connection)
        self._connection, self._framing, self._stays = connection, framing_of(answer), answer.stays
        self._within_s = within_s
        self._is_closed = False

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        """The body, what one read has brought at a time."""
        framing = self._framing
        data = b""
        while True:
            if piece := framing.feed(data):
                yield piece
            if framing.is_over:
                return
            if framing.fault:
                raise framing.fault
            data = await self._connection.read(self._within_s)
            if not data:
                if isinstance(framing, ToTheEnd):
                    return
                raise httpx.RemoteProtocolError("peer closed connection without sending complete message body")

    async def aclose(self) -> None:
        """Keeps the connection if the answer was read to its end, else lets go of it."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._framing.is_over and self._stays and self._connection.is_fresh:
            self._give_back()
        else:
            self._connection.abort()


@lru_cache(maxsize=16)
def _prepared(url: str, headers: tuple[tuple[str, str], ...]) -> tuple[_Origin, bytes]:
    """Where POSTs with these headers go, and their head, in which the length of the body (`%d`) is left open."""
    request = httpx.Request("POST", url, headers=[*headers, ("connection", "keep-alive")])
    del request.headers["content-length"]
    head = head_of(request).removesuffix(b"\r\n").replace(b"%", b"%%")
    return (request.url.host, request.url.port or 80), head + b"content-length: %d\r\n\r\n"


async def _answer(connection: _Connection, within_s: float | None) -> Answer:
    """The head of the answer; whatever comes before it (100 Continue) is passed by."""
    data = b""
    while True:
        more = await connection.read(within_s)
        if not more:
            raise httpx.RemoteProtocolError("Server disconnected without sending a response.")
        data += more
        while end := _END_OF_HEAD.search(data):
            answer = read_head(data[: end.start()], data[end.end() :])
            if answer.status >= 200:
                return answer
            data = answer.rest
        if len(data) > _LONGEST_HEAD_BYTES:
            raise httpx.RemoteProtocolError("the headers do not end")


def _time_out(waiter: asyncio.Future[None], within_s: float) -> None:
    if not waiter.done():
        waiter.set_exception(httpx.ReadTimeout(f"nothing came for {within_s:g} s"))
