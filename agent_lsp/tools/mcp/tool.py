"""A server's tool as one of ours, and the tool by which a server's resources are read."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from agent_lsp.policy.access import Access, Preview, TextPreview
from agent_lsp.policy.visible import visible
from agent_lsp.tools.arguments import Arguments
from agent_lsp.tools.mcp.arguments import McpArguments, parser
from agent_lsp.tools.mcp.remote import Answer, Failure, RemoteTool, Resource
from agent_lsp.tools.tool import End, Spec, failed

if TYPE_CHECKING:
    from agent_lsp.tools.mcp.server import Server

_LONGEST_DESCRIPTION = 4000
_MOST_LINES = 500
_KEPT_LINES = 50


class McpTool:
    """Calls one tool of a server. What it is called and shown as is ours: a server may say anything of itself."""

    def __init__(self, server: Server, name: str, remote: RemoteTool) -> None:
        self._server, self._remote = server, remote
        self.spec = Spec(
            name=name,
            description=_bounded(remote.description or f"{remote.name} of the MCP server {server.name}"),
            args=McpArguments,
            permission="r" if remote.only_reads else "rw",
            parameters=dict(remote.schema),
            parse=parser(remote.schema),
            source=f"mcp:{server.name}",
        )

    def title(self, args: McpArguments) -> str:
        """Server, tool and arguments."""
        return f"{self._server.name}: {self._remote.name} {json.dumps(args.root, ensure_ascii=False)}"

    def access(self, args: McpArguments) -> Access:
        """What a server says of itself decides whether it only looks."""
        return Access("read" if self._remote.only_reads else "other")

    async def preview(self, args: McpArguments) -> Preview | None:
        """The arguments in full."""
        return TextPreview(json.dumps(args.root, ensure_ascii=False, indent=2))

    async def run(self, args: McpArguments) -> AsyncGenerator[str | End, None]:
        """What the server tells of its progress, then the result."""
        lines, news = deque[str](maxlen=_KEPT_LINES), asyncio.Event()

        def progress(line: str) -> None:
            lines.append(line)
            news.set()

        call = asyncio.create_task(self._server.call(self._remote.name, args.root, progress))
        call.add_done_callback(lambda _: news.set())
        told = 0
        try:
            while not call.done():
                await news.wait()
                news.clear()
                while lines and told < _MOST_LINES:
                    told += 1
                    yield f"{visible(lines.popleft())}\n"
        finally:
            call.cancel()
        yield _end(await call)


class ResourcesArgs(Arguments):
    """Arguments of the tool for resources."""

    uri: str | None = None


class McpResources:
    """Lists and reads what a server lets be read."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.spec = Spec(
            name=resources_name(server.slug),
            description=f"Reads the resource `uri` of the MCP server {server.name}; without it, lists them.",
            args=ResourcesArgs,
            permission="r",
            source=f"mcp:{server.name}",
        )

    def title(self, args: ResourcesArgs) -> str:
        """Server and address."""
        return f"{self._server.name}: read {args.uri}" if args.uri else f"{self._server.name}: list resources"

    def access(self, args: ResourcesArgs) -> Access:
        """It looks."""
        return Access("read")

    async def preview(self, args: ResourcesArgs) -> Preview | None:
        """The title says all."""
        return None

    async def run(self, args: ResourcesArgs) -> AsyncGenerator[str | End, None]:
        """The contents, or a line for each resource."""
        if args.uri:
            yield _end(await self._server.read(args.uri))
            return
        found = await self._server.resources()
        if isinstance(found, Failure):
            yield failed(found.reason)
        else:
            yield End(text="\n".join(map(_listed, found)) or "[no resources]")


def resources_name(slug: str) -> str:
    """The name of the tool that reads the resources of the server with this slug."""
    return f"mcp__{slug}__resources"


def _listed(resource: Resource) -> str:
    words = " ".join(f"{resource.name} {_bounded(resource.description)}".split())
    return f"{resource.uri} {words}".rstrip()


def _end(answer: Answer | Failure) -> End:
    if isinstance(answer, Failure):
        return failed(answer.reason)
    return End(
        text=answer.text,
        stop_reason="failed" if answer.is_error else None,
        images=answer.images or None,
        needs_input=answer.needs_input,
    )


def _bounded(description: str) -> str:
    text = visible(description.strip())
    return text if len(text) <= _LONGEST_DESCRIPTION else f"{text[:_LONGEST_DESCRIPTION]}…"
