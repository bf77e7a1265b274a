"""Streaming POSTs: the only module that knows the HTTP library.

Connections are kept and used again, one pool a running event loop. Leaving the context, cancelling and closing let go
of a connection at once; only a body that was read to its end gives its connection back.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import httpx

from agent_lsp.providers.diagnosis import diagnose
from agent_lsp.providers.failure import Reason, TransportError

if TYPE_CHECKING:
    from agent_lsp.providers.plain_http import PlainTransport

CONNECT_TIMEOUT_S = 15.0
_MAX_ERROR_BYTES = 256 * 1024
_MAX_LISTING_BYTES = 4 * 1024 * 1024
_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=16, keepalive_expiry=60)

_Pools = dict[str, httpx.AsyncClient]
_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, _Pools] = WeakKeyDictionary()
_plain_transports: WeakKeyDictionary[asyncio.AbstractEventLoop, PlainTransport] = WeakKeyDictionary()

_REASONS: tuple[tuple[type[Exception], Reason], ...] = (
    (httpx.ConnectTimeout, "connect"),
    (httpx.ConnectError, "connect"),
    (httpx.ProxyError, "connect"),
    (httpx.TimeoutException, "silent"),
    (httpx.NetworkError, "broken"),
    (httpx.RemoteProtocolError, "broken"),
    (httpx.DecodingError, "protocol"),
    (httpx.LocalProtocolError, "unusable"),
    (httpx.UnsupportedProtocol, "unusable"),
    (httpx.InvalidURL, "unusable"),
    (httpx.HTTPError, "broken"),
    (httpx.StreamError, "broken"),
    (ssl.SSLError, "broken"),
    (ValueError, "unusable"),
)


_EXCEPTIONS: tuple[type[Exception], ...] = tuple(kind for kind, _ in _REASONS)


class Answer:
    """An answer whose body has not been read yet. Header names in lower case."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.status = response.status_code
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in response.headers.items()}

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes, content encoding undone. Raises TransportError where it breaks."""
        encoded = self.headers.get("content-encoding", "identity") != "identity"
        source = self._response.aiter_bytes() if encoded else self._response.aiter_raw()
        try:
            async for chunk in source:
                yield chunk
        except _EXCEPTIONS as error:
            raise _translated(error) from error

    async def error_body(self) -> bytes:
        """As much of the body as an error can need; what breaks off is what there is."""
        body = bytearray()
        try:
            async with aclosing(self.chunks()) as chunks:
                async for chunk in chunks:
                    body += chunk
                    if len(body) > _MAX_ERROR_BYTES:
                        break
        except TransportError:
            pass
        return bytes(body[:_MAX_ERROR_BYTES])


@asynccontextmanager
async def post(
    url: str, headers: Mapping[str, str], body: bytes, *, silence_s: float, is_loopback: bool
) -> AsyncGenerator[Answer, None]:
    """Sends a POST and gives its answer as soon as the headers are there. Raises TransportError.

    `silence_s` is how long the peer may send nothing; the clock runs only while we are reading. Redirects are not
    followed: a credential goes to the configured host and nowhere else.
    """
    connect_s = min(CONNECT_TIMEOUT_S, silence_s)
    given = {"accept-encoding": "identity", **headers}
    try:
        if _kind(url, is_loopback=is_loopback) == "loopback":
            response = await _plain().post(url, given, body, connect_s=connect_s, read_s=silence_s)
        else:
            client = _pool(url, is_loopback=is_loopback)
            timeout = httpx.Timeout(silence_s, connect=connect_s)
            request = client.build_request("POST", url, content=body, headers=given, timeout=timeout)
            response = await client.send(request, stream=True)
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
        reason, detail = diagnose(error, url, is_loopback=is_loopback) or ("connect", _said(error))
        raise TransportError(reason, detail) from error
    except _EXCEPTIONS as error:
        raise _translated(error) from error
    try:
        yield Answer(response)
    finally:
        await response.aclose()


async def get(url: str, *, within_s: float) -> bytes | None:
    """The body of a small answer from this machine; None unless it is a success that comes whole and in time."""
    try:
        client = _pool(url, is_loopback=True)
        async with asyncio.timeout(within_s), client.stream("GET", url, timeout=within_s) as response:
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _MAX_LISTING_BYTES:
                    return None
            return bytes(body) if response.is_success else None
    except (TimeoutError, *_EXCEPTIONS):
        return None


async def close() -> None:
    """Closes every connection of the running event loop."""
    loop = asyncio.get_running_loop()
    for client in _pools.pop(loop, {}).values():
        await client.aclose()
    if transport := _plain_transports.pop(loop, None):
        await transport.aclose()


def _pool(url: str, *, is_loopback: bool) -> httpx.AsyncClient:
    """The pool for such a URL. Proxies of the environment are for other machines only."""
    kind = _kind(url, is_loopback=is_loopback)
    pools = _pools.setdefault(asyncio.get_running_loop(), {})
    if kind not in pools:
        pools[kind] = httpx.AsyncClient(
            transport=_plain() if kind == "loopback" else None,
            verify=_trusted(kind),
            trust_env=not is_loopback,
            limits=_LIMITS,
            headers={"accept-encoding": "identity"},
            follow_redirects=False,
        )
    return pools[kind]


def _kind(url: str, *, is_loopback: bool) -> str:
    return "remote" if not is_loopback else "loopback, TLS" if url.startswith("https:") else "loopback"


def _plain() -> PlainTransport:
    """The quicker way to a server on this machine; the test says by how much."""
    from agent_lsp.providers.plain_http import PlainTransport

    return _plain_transports.setdefault(asyncio.get_running_loop(), PlainTransport())


def _trusted(kind: str) -> ssl.SSLContext | bool:
    """What TLS is held to; without TLS there is nothing to verify, and loading certificates is slow."""
    if kind == "loopback":
        return False
    from agent_lsp.providers.certificates import context

    return context()


def _translated(error: Exception) -> TransportError:
    reason: Reason = next(reason for kind, reason in _REASONS if isinstance(error, kind))
    if reason == "unusable":  # its text may quote a header in a form in which no mask would find the credential
        return TransportError(reason, "the address, the key or a header has characters that HTTP does not allow")
    return TransportError(reason, _said(error))


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
