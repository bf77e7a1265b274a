"""The servers of one session: connected when it first runs, beside it, and ended with it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agent_lsp.engine.scope import TaskScope
from agent_lsp.messages.events import Event, McpConnectBegin, McpConnectEnd, McpServerResult
from agent_lsp.tools.mask import Mask
from agent_lsp.tools.mcp.link import Reach
from agent_lsp.tools.mcp.names import server_slugs
from agent_lsp.tools.mcp.server import Server
from agent_lsp.tools.mcp.tool import McpResources, McpTool, resources_name

if TYPE_CHECKING:
    from agent_lsp.config.sections import McpServer
    from agent_lsp.tools.processes import Commands
    from agent_lsp.tools.shared import LateTools
    from agent_lsp.tools.tool import Tool

WAIT_S = 2.0
"""So long the first request of a session waits for servers; those that need longer join with its next context."""
_LEAVE_S, _CANCEL_S = 2.2, 0.5
_SECRET_NAME = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class McpServers:
    """`LateTools` of a session.

    `commands` are the session's for nothing but these servers. `say` tells the person of a server that failed. No run
    waits for one that is in `failed`, which sessions share: the servers that did not answer when they were last asked.
    """

    def __init__(
        self,
        configured: Mapping[str, McpServer],
        commands: Commands,
        root: Path,
        *,
        offline: bool,
        say: Callable[[str], None],
        failed: set[str],
    ) -> None:
        self._commands, self._say, self._failed = commands, say, failed
        self._scope = TaskScope("mcp")
        self._ready: asyncio.Future[None] | None = None
        self._is_closed = False
        slugs, mask = server_slugs(tuple(configured)), Mask(secrets(configured.values()))
        self._refused = {name for name, one in configured.items() if offline and one.url and not _is_here(one.url)}
        self._servers = [
            Server(name, slugs[name], _reach(one, commands, root), self._scope, mask)
            for name, one in configured.items()
            if name not in self._refused
        ]

    def prepare(self, announce: Callable[[Event], None]) -> asyncio.Future[None] | None:
        """Connects the servers, once; what the first run has to wait for, a moment at most."""
        if self._is_closed:
            return None
        if self._ready is not None:
            self._scope.spawn(self.look_again())
            return None if self._ready.done() else self._ready
        loop = asyncio.get_running_loop()
        self._ready = loop.create_future()
        timer = loop.call_later(WAIT_S, _resolve, self._ready)
        self._ready.add_done_callback(lambda _: timer.cancel())
        self._scope.spawn(self._connect(announce))
        return self._ready

    def tools(self) -> Sequence[Tool[Any]]:
        """The tools of the servers that have answered, in the order of the configuration."""
        return [tool for server in self._servers for tool in _tools(server)]

    def owners(self) -> tuple[str, ...]:
        """The names of the servers."""
        return tuple(one.name for one in self._servers)

    def take_reports(self) -> Sequence[str]:
        """Nothing: a server that has ended says so when it is called."""
        return ()

    async def close(self) -> None:
        """Ends every connection and every process, within 4 s."""
        self._is_closed = True
        for server in self._servers:
            server.close()
        if open_links := [link.task for server in self._servers if (link := server.link)]:
            await asyncio.wait(open_links, timeout=_LEAVE_S)
        await self._scope.close(_CANCEL_S)
        await self._commands.close()

    async def _connect(self, announce: Callable[[Event], None]) -> None:
        announce(McpConnectBegin(servers=(*(one.name for one in self._servers), *sorted(self._refused))))
        refused = [_not_offline(name) for name in sorted(self._refused)]
        awaited = {one.name for one in self._servers} - self._failed
        self._arrived(awaited)
        results = (*await asyncio.gather(*(self._connect_one(one, awaited) for one in self._servers)), *refused)
        if self._is_closed:
            return
        all_well = all(one.status in ("completed", "aborted") for one in results)
        announce(McpConnectEnd(status="completed" if all_well else "failed", results=results))
        for one in results:
            if one.error:
                self._say(f"the MCP server {one.server} is left out: {one.error}")

    async def _connect_one(self, server: Server, awaited: set[str]) -> McpServerResult:
        result = await server.connect()
        note = self._failed.discard if result.status == "completed" else self._failed.add
        note(server.name)
        awaited.discard(server.name)
        self._arrived(awaited)
        return result

    def _arrived(self, awaited: set[str]) -> None:
        if self._ready and not awaited:
            _resolve(self._ready)

    async def look_again(self) -> None:
        """Has servers that have said that their tools are others now list them again."""
        await asyncio.gather(*(server.look_again() for server in self._servers))


def once(say: Callable[[str], None]) -> Callable[[str], None]:
    """Says each thing the first time only: every session connects the same servers."""
    said: set[str] = set()

    def say_once(message: str) -> None:
        if message not in said:
            said.add(message)
            say(message)

    return say_once


def secrets(configured: Iterable[McpServer]) -> frozenset[str]:
    """What no output may show: values of headers, and of variables whose names say that they are secret."""
    servers = tuple(configured)
    headers = [value for one in servers for value in one.headers.values()]
    variables = [value for one in servers for name, value in one.env.items() if _SECRET_NAME.search(name)]
    return frozenset((*headers, *(value.rpartition(" ")[2] for value in headers), *variables))


def _reach(configured: McpServer, commands: Commands, root: Path) -> Reach:
    argv = (configured.command, *configured.args) if configured.command else ()
    env, headers = tuple(configured.env.items()), tuple(configured.headers.items())
    return Reach(commands, root, argv, env, configured.url or "", headers)


def _tools(server: Server) -> list[Tool[Any]]:
    tools: list[Tool[Any]] = [McpTool(server, name, remote) for name, remote in server.tools.items()]
    if server.has_resources and resources_name(server.slug) not in server.tools:
        tools.append(McpResources(server))
    return tools


def _is_here(url: str) -> bool:
    return (urlsplit(url).hostname or "") in _LOOPBACK


def _not_offline(name: str) -> McpServerResult:
    """Not a failure: nobody has tried."""
    why = "it is not on this machine, and offline is set"
    return McpServerResult(server=name, transport="http", status="aborted", duration_ms=0, error=why)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


if TYPE_CHECKING:
    _late: type[LateTools] = McpServers
