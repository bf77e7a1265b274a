"""One connection to a server, held open by a task of its own: the SDK must be left in the task that entered it."""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from agent_lsp.policy.visible import visible_line
from agent_lsp.slotted import frozen
from agent_lsp.tools.mcp.remote import Failure, Peer, RemoteTool

if TYPE_CHECKING:
    from agent_lsp.engine.scope import TaskScope
    from agent_lsp.tools.processes import Commands

_NOT_INSTALLED = "the package `mcp` is not installed (pip install 'agent-lsp[mcp]')"
_WIRE, _STDIO = "agent_lsp.tools.mcp.wire", "agent_lsp.tools.mcp.stdio"
_LONGEST_REASON = 400


@frozen
class Greeting:
    """What a server had to say when it was connected."""

    peer: Peer
    tools: tuple[RemoteTool, ...]


@frozen
class Reach:
    """How a server is reached: by starting `argv` among the `commands`, or at `url`. `root` is the session's folder."""

    commands: Commands
    root: Path
    argv: Sequence[str] = ()
    env: tuple[tuple[str, str], ...] = ()
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def transport(self) -> str:
        """`stdio` or `http`."""
        return "http" if self.url else "stdio"


class Link:
    """`greeting` is the server's, or why there is none; `is_over` when the connection is of no use any more."""

    def __init__(self, scope: TaskScope, reach: Reach, budget_s: float) -> None:
        loop = asyncio.get_running_loop()
        self.greeting: asyncio.Future[Greeting | Failure] = loop.create_future()
        self.is_over = False
        self.took_ms = 0
        self._began_s, self._budget_s = time.monotonic(), budget_s
        self._reach, self._until = reach, asyncio.Event()
        self._details: Callable[[], str] = lambda: ""
        self._status: int | None = None
        self.task = scope.spawn(self._hold(), self._ended)
        self._timer = loop.call_later(budget_s, self._too_late)

    def close(self) -> None:
        """Ends the connection properly; `task` is over when that is done."""
        self.is_over = True
        self._until.set()
        self._greet(Failure("it was closed", is_lost=True))

    async def _hold(self) -> None:
        wire = await _import(_WIRE)
        transport = await self._over_stdio() if self._reach.argv else self._over_http(wire)
        peers: asyncio.Queue[Peer] = asyncio.Queue()
        async with asyncio.TaskGroup() as group:
            listing = group.create_task(self._list(peers))
            await wire.hold(transport, self._reach.root, peers.put_nowait, self._until)
            listing.cancel()

    async def _list(self, peers: asyncio.Queue[Peer]) -> None:
        peer = await peers.get()
        tools = await peer.list_tools()
        self._greet(tools if isinstance(tools, Failure) else Greeting(peer, tools))
        if isinstance(tools, Failure):
            self.close()

    async def _over_stdio(self) -> Any:
        stdio = await _import(_STDIO)
        reach = self._reach
        transport = stdio.StdioTransport(
            lambda: reach.commands.spawn(reach.argv, reach.root, dict(reach.env)),
            reach.commands.release,
            self._lost,
        )
        self._details = lambda: transport.errors or transport.noise
        return transport

    def _over_http(self, wire: Any) -> Any:
        def refused(status: int) -> None:
            self._status = status

        self._details = lambda: f"HTTP {self._status}" if self._status else ""
        return wire.over_http(self._reach.url, dict(self._reach.headers), refused)

    def _lost(self) -> None:
        """The server has gone; what was asked of it fails by itself."""
        self.is_over = True
        self._until.set()

    def _too_late(self) -> None:
        if not self.greeting.done():
            self._greet(Failure(self._told(f"no answer within {self._budget_s:g} s"), is_lost=True, timed_out=True))
            self.task.cancel()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._timer.cancel()
        self.is_over = True
        error = None if task.cancelled() else task.exception()
        self._greet(Failure(self._told(_why(error) if error else "it ended before it had answered"), is_lost=True))

    def _greet(self, greeting: Greeting | Failure) -> None:
        if not self.greeting.done():
            self.took_ms = round((time.monotonic() - self._began_s) * 1000)
            self.greeting.set_result(greeting)

    def _told(self, reason: str) -> str:
        details = visible_line(self._details().rpartition("\n")[2], _LONGEST_REASON)
        return f"{reason} ({details})" if details else reason


def import_sdk() -> None:
    """Imports the SDK ahead of its time, if it is installed. Blocks for most of a second."""
    with suppress(ImportError):
        importlib.import_module(_WIRE)
        importlib.import_module(_STDIO)


def _import(module: str) -> Awaitable[Any]:
    """The SDK takes most of a second to import."""
    return asyncio.to_thread(importlib.import_module, module)


def _why(error: BaseException) -> str:
    """What went wrong, without the groups that it went through."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, ImportError) and (error.name or "").partition(".")[0] in ("mcp", "mcp_types", "httpx2"):
        return _NOT_INSTALLED
    if isinstance(error, FileNotFoundError):
        return f"no such program: {error.filename}"
    return visible_line(str(error) or type(error).__name__, _LONGEST_REASON)
