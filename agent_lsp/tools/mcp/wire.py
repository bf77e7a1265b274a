"""Speaks with servers through the SDK, and makes plain values of what they say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2
import mcp_types as types
from mcp.client.session import ClientRequestContext, ClientSession, IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from agent_lsp.tools.mcp.content import answer, resource_answer
from agent_lsp.tools.mcp.remote import Answer, Failure, Progress, RemoteTool, Resource

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from mcp.client._transport import TransportStreams

    from agent_lsp.tools.mcp import remote

_OURS = types.Implementation(name="agent-lsp", version="1")
_MOST_PAGES, _MOST_TOOLS, _MOST_RESOURCES = 20, 256, 200
_MOST_NAMED = 3
_MOST_BYTES = 16 * 2**20
_CONNECT_S, _SILENT_S = 10.0, 300.0
_SESSION_GONE = "Session terminated"

M = TypeVar("M", bound=BaseModel)
V = TypeVar("V")


async def hold(
    transport: AbstractAsyncContextManager[TransportStreams],
    root: Path,
    greeted: Callable[[remote.Peer], None],
    until: asyncio.Event,
) -> None:
    """Holds a connection open until the event; `greeted` gets the server when it has answered.

    Raises whatever the transport does, in groups too, and `MCPError` when the server refuses.
    """
    peer: Connected | None = None

    async def heard(message: IncomingMessage) -> None:
        if peer and isinstance(message, types.ToolListChangedNotification):
            peer.is_stale = True

    async def roots(context: ClientRequestContext) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=root.as_uri(), name=root.name)])  # pyright: ignore[reportArgumentType]

    async with (
        transport as (read, write),
        ClientSession(read, write, message_handler=heard, list_roots_callback=roots, client_info=_OURS) as session,
    ):
        await _greet(session)
        peer = Connected(session)
        greeted(peer)
        await until.wait()


async def _greet(session: ClientSession) -> None:
    """The handshake that nearly every server knows, else the one that knows no sessions."""
    try:
        await session.initialize()
    except MCPError as error:
        if error.code not in (types.METHOD_NOT_FOUND, types.UNSUPPORTED_PROTOCOL_VERSION):
            raise
        await session.discover()


class Connected:
    """A server that has answered: a `Peer`."""

    def __init__(self, session: ClientSession) -> None:
        capabilities = session.server_capabilities
        self.has_resources = bool(capabilities and capabilities.resources)
        self.is_stale = False
        self._has_tools = not capabilities or capabilities.tools is not None
        self._session = session

    async def list_tools(self) -> tuple[RemoteTool, ...] | Failure:
        """The tools it has now, as many as anybody could use."""
        self.is_stale = False
        if not self._has_tools:
            return ()

        async def page(cursor: str | None) -> types.ListToolsResult:
            params = types.PaginatedRequestParams(cursor=cursor)
            return await self._session.send_request(types.ListToolsRequest(params=params), types.ListToolsResult)

        return await _tried(_all(page, lambda found: [_tool(one) for one in found.tools], _MOST_TOOLS))

    async def list_resources(self) -> tuple[Resource, ...] | Failure:
        """What can be read."""

        async def page(cursor: str | None) -> types.ListResourcesResult:
            params = types.PaginatedRequestParams(cursor=cursor)
            return await self._session.send_request(
                types.ListResourcesRequest(params=params), types.ListResourcesResult
            )

        def read(found: types.ListResourcesResult) -> list[Resource]:
            return [Resource(str(one.uri), one.name, one.description or "") for one in found.resources]

        return await _tried(_all(page, read, _MOST_RESOURCES))

    async def call(self, name: str, arguments: dict[str, Any], tell: Progress) -> Answer | Failure:
        """Calls a tool. What it returns is not held against the schema of its output: that is for programs."""

        async def told(progress: float, total: float | None, message: str | None) -> None:
            amount = f"{progress:g}/{total:g}" if total else f"{progress:g}"
            tell(f"[progress {amount}] {message or ''}".rstrip())

        request = types.CallToolRequest(params=types.CallToolRequestParams(name=name, arguments=arguments))
        made = self._session.send_request(request, types.CallToolResult, progress_callback=told)
        result = await _tried(made)
        return result if isinstance(result, Failure) else answer(result)

    async def read(self, uri: str) -> Answer | Failure:
        """Reads a resource."""
        request = types.ReadResourceRequest(params=types.ReadResourceRequestParams(uri=uri))  # pyright: ignore[reportArgumentType]
        result = await _tried(self._session.send_request(request, types.ReadResourceResult))
        return result if isinstance(result, Failure) else resource_answer(result)


def _tool(told: types.Tool) -> RemoteTool:
    only_reads = bool(told.annotations and told.annotations.read_only_hint)
    return RemoteTool(told.name, told.description or "", told.input_schema, only_reads)


async def _all(
    page: Callable[[str | None], Awaitable[Any]], read: Callable[[Any], list[V]], most: int
) -> tuple[V, ...]:
    """All pages of a list, within bounds: a server may well go on for ever."""
    found: list[V] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        result = await page(cursor)
        found += read(result)
        cursor = result.next_cursor
        if cursor is None or len(found) >= most:
            break
    return tuple(found[:most])


async def _tried(request: Awaitable[V]) -> V | Failure:
    try:
        return await request
    except MCPError as error:
        return Failure(error.message, is_lost=error.code == types.CONNECTION_CLOSED or error.message == _SESSION_GONE)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)[:_MOST_NAMED]
        places = (".".join(str(part) for part in one["loc"]) for one in found)
        return Failure(f"the server's answer is not what the protocol says: {', '.join(places)}")


# --- over HTTP ---


@asynccontextmanager
async def over_http(
    url: str, headers: Mapping[str, str], refused: Callable[[int], None]
) -> AsyncGenerator[TransportStreams]:
    """The streams of a server that is reached over HTTP; `refused` gets the status of each answer that is an error."""

    async def look(response: httpx2.Response) -> None:
        if response.status_code >= 400:
            refused(response.status_code)

    client = httpx2.AsyncClient(
        headers=dict(headers),
        timeout=httpx2.Timeout(_CONNECT_S, read=_SILENT_S),
        transport=_Bounded(httpx2.AsyncHTTPTransport()),
        event_hooks={"response": [look]},
    )
    async with client, streamable_http_client(url, http_client=client, max_sse_event_size=_MOST_BYTES) as streams:
        yield streams


class _Bounded(httpx2.AsyncBaseTransport):
    """Ends an answer in one piece that is larger than anybody could use; a stream of events is bounded by event."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _BoundedStream(response.stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for piece in self._inner:
            length += len(piece)
            if length > _MOST_BYTES:
                raise httpx2.ReadError(f"the answer is larger than {_MOST_BYTES} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()
