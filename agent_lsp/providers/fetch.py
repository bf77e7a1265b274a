"""Pages from the web, and only from there: every address is looked at before anything is sent to it.

A name is resolved once and the connection goes to the very address that was looked at, so a name that leads elsewhere a
moment later leads nowhere. Each redirect begins anew. Proxies of the environment are not used: behind one, nobody here
knows whom it asks.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any
from urllib.parse import urljoin

import httpx

from agent_lsp.slotted import frozen

MOST_BYTES = 2 * 1024 * 1024
_MOST_REDIRECTS = 5
_WITHIN_S = 30.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = {
    "user-agent": "agent-lsp (web_fetch)",
    "accept": "text/html,text/*;q=0.9,application/json;q=0.9,*/*;q=0.1",
    "accept-encoding": "gzip, identity",
}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

Resolve = Callable[[str, int], Coroutine[Any, Any, list[str]]]
"""The addresses of a host. Raises OSError."""


@frozen
class Fetched:
    """What a server has answered; `is_cut`: the body goes on."""

    url: str
    status: int
    content_type: str
    body: bytes
    is_cut: bool


class _Refused(Exception):
    """Why nothing was asked, in one sentence."""


async def resolve(host: str, port: int) -> list[str]:
    """Asks the system for the addresses of the host."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class WebFetcher:
    """Fetches pages. `allow_private` lets private, loopback and link-local addresses be asked too."""

    def __init__(
        self,
        *,
        allow_private: bool = False,
        find: Resolve = resolve,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._allow_private, self._find, self._transport = allow_private, find, transport

    async def fetch(self, url: str) -> Fetched | str:
        """The page behind all redirects, or why there is none."""
        try:
            async with asyncio.timeout(_WITHIN_S), self._client() as client:
                for _ in range(_MOST_REDIRECTS + 1):
                    found = await self._hop(client, url)
                    if isinstance(found, Fetched):
                        return found
                    url = found
            return f"it redirects more than {_MOST_REDIRECTS} times"
        except _Refused as refused:
            return str(refused)
        except TimeoutError:
            return f"it took longer than {_WITHIN_S:.0f} s"
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, ValueError, zlib.error) as error:
            return f"the connection failed ({str(error) or type(error).__name__})"

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(trust_env=False, follow_redirects=False, transport=self._transport)

    async def _hop(self, client: httpx.AsyncClient, url: str) -> Fetched | str:
        """The answer, or where it redirects to."""
        parts = _parsed(url)
        refusal: httpx.HTTPError | None = None
        for address in await self._addresses(parts):
            request = _pinned(client, parts, address)
            try:
                response = await client.send(request, stream=True)
            except httpx.ConnectError as error:
                refusal = error  # perhaps another of its addresses answers
                continue
            try:
                target = response.headers.get("location")
                if response.status_code in _REDIRECTS and target:
                    return urljoin(url, target)
                body, is_cut = await _body(response.aiter_raw(), response.headers)
                return Fetched(url, response.status_code, response.headers.get("content-type", ""), body, is_cut)
            finally:
                await response.aclose()
        raise refusal or _Refused("its name has no address")

    async def _addresses(self, url: httpx.URL) -> list[str]:
        """The addresses to try. One that may not be asked spoils all of them: such a name is not to be trusted."""
        host = url.raw_host.decode("ascii")
        port = url.port or (443 if url.scheme == "https" else 80)
        try:
            found = await self._find(host, port)
        except (OSError, UnicodeError) as error:
            raise _Refused(f"{host} cannot be found ({getattr(error, 'strerror', None) or error})") from None
        if not self._allow_private and (private := next((one for one in found if not is_public(one)), None)):
            raise _Refused(
                f"{host} leads to {private}, which is not on the public web; the setting tools.web_fetch_private would"
                " allow it"
            )
        return found


def is_public(address: str) -> bool:
    """Whether the address is one of the public internet, also by whatever older one it stands for."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        inner = [one for one in (ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())) if one is not None]
        if ip in _NAT64:
            inner.append(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF))
        if int(ip) >> 32 == 0:  # an IPv4 address in the oldest of disguises, or `::1`
            return False
        if inner:
            return all(is_public(str(one)) for one in inner)
    return ip.is_global and not ip.is_multicast


def _parsed(url: str) -> httpx.URL:
    try:
        parts = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError, ValueError):
        raise _Refused("it is no web address") from None
    if parts.scheme not in ("http", "https") or not parts.host:
        raise _Refused("only http and https addresses can be fetched")
    if parts.userinfo:
        raise _Refused("an address with a name or a password in it is not fetched")
    return parts


def _pinned(client: httpx.AsyncClient, url: httpx.URL, address: str) -> httpx.Request:
    """A request that goes to this address and nowhere else, and asks it for the host of the URL."""
    headers = {**_HEADERS, "host": url.netloc.decode("ascii")}
    return client.build_request(
        "GET",
        url.copy_with(host=address, fragment=None),
        headers=headers,
        extensions={"sni_hostname": url.raw_host.decode("ascii")},
        timeout=_WITHIN_S,
    )


async def _body(chunks: AsyncIterator[bytes], headers: Mapping[str, str]) -> tuple[bytes, bool]:
    """As much of the body as we take, unpacked within that bound, and whether there is more."""
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip"):
        raise _Refused(f"it comes packed as {encoding}")
    unpack = zlib.decompressobj(31) if "gzip" in encoding else None
    body = bytearray()
    async for chunk in chunks:
        room = MOST_BYTES + 1 - len(body)
        body += unpack.decompress(chunk, room) if unpack else chunk[:room]
        if len(body) > MOST_BYTES:
            return bytes(body[:MOST_BYTES]), True
    return bytes(body), False
