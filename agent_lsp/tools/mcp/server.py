"""One configured server in one session: connected at first, and again when it has died and is called."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent_lsp.messages.events import McpServerResult
from agent_lsp.tools.mcp.arguments import is_usable
from agent_lsp.tools.mcp.link import Greeting, Link, Reach
from agent_lsp.tools.mcp.names import long_names
from agent_lsp.tools.mcp.remote import Answer, Failure, Peer, Progress, RemoteTool, Resource

if TYPE_CHECKING:
    from agent_lsp.engine.scope import TaskScope
    from agent_lsp.tools.mask import Mask

CONNECT_S = 30.0


class Server:
    """`tools` are those it had when it was asked last, each with the name that the model knows.

    `name` is the person's for it, `slug` that in the names of its tools.
    """

    def __init__(self, name: str, slug: str, reach: Reach, scope: TaskScope, mask: Mask) -> None:
        self.name, self.slug = name, slug
        self.tools: dict[str, RemoteTool] = {}
        self.has_resources = False
        self._reach, self._scope, self._mask = reach, scope, mask
        self.link: Link | None = None

    async def connect(self) -> McpServerResult:
        """Connects it; what came of that."""
        link = self._new_link()
        greeting = await self._greeted(link)
        failed = isinstance(greeting, Failure)
        return McpServerResult(
            server=self.name,
            transport=self._reach.transport,
            status="completed" if not failed else "timeout" if greeting.timed_out else "failed",
            duration_ms=link.took_ms,
            tools=None if failed else len(self.tools),
            error=greeting.reason if failed else None,
        )

    async def look_again(self) -> None:
        """Lists its tools again, if it has said that they are others now."""
        link = self.link
        if not link or link.is_over or not link.greeting.done():
            return
        greeting = link.greeting.result()
        if isinstance(greeting, Greeting) and greeting.peer.is_stale:
            tools = await greeting.peer.list_tools()
            if not isinstance(tools, Failure):
                self._take(tools)

    async def call(self, tool: str, arguments: dict[str, Any], progress: Progress) -> Answer | Failure:
        """Calls one of its tools, by its own name for it."""
        return await self._ask(lambda peer: peer.call(tool, arguments, progress))

    async def read(self, uri: str) -> Answer | Failure:
        """Reads one of its resources."""
        return await self._ask(lambda peer: peer.read(uri))

    async def resources(self) -> tuple[Resource, ...] | Failure:
        """What it lets be read."""
        return await self._ask(lambda peer: peer.list_resources())

    def close(self) -> None:
        """Ends its connection, without waiting."""
        if self.link:
            self.link.close()

    async def _ask(self, question: Callable[[Peer], Any]) -> Any:
        """Puts a question over the connection there is, or over a new one when the last is gone."""
        link = self.link if self.link and not self.link.is_over else self._new_link()
        greeting = await self._greeted(link)
        if isinstance(greeting, Failure):
            return Failure(f"the MCP server {self.name} cannot be reached: {greeting.reason}")
        answer = await question(greeting.peer)
        if not isinstance(answer, Failure):
            return answer
        if answer.is_lost:
            link.close()
            return Failure(
                f"the MCP server {self.name} has gone ({self._mask(answer.reason)}); a call connects it again"
            )
        return Failure(self._mask(answer.reason))

    def _new_link(self) -> Link:
        self.link = link = Link(self._scope, self._reach, CONNECT_S)
        link.greeting.add_done_callback(self._met)
        return link

    async def _greeted(self, link: Link) -> Greeting | Failure:
        greeting = await asyncio.shield(link.greeting)
        if isinstance(greeting, Failure):
            return Failure(self._mask(greeting.reason), greeting.is_lost, greeting.timed_out)
        return greeting

    def _met(self, met: asyncio.Future[Greeting | Failure]) -> None:
        greeting = met.result()
        if isinstance(greeting, Greeting):
            self.has_resources = greeting.peer.has_resources
            self._take(greeting.tools)

    def _take(self, tools: tuple[RemoteTool, ...]) -> None:
        """Of several tools of one name the first counts; one whose arguments nobody could describe does not."""
        usable: dict[str, RemoteTool] = {}
        for tool in tools:
            if tool.name and is_usable(tool.schema):
                usable.setdefault(tool.name, tool)
        names = long_names(self.slug, tuple(usable))
        self.tools = {names[name]: tool for name, tool in usable.items()}
