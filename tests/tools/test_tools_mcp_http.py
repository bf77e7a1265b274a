"""Servers that are reached over HTTP: a small one on loopback that can be told to misbehave."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from agent_lsp.config.sections import McpServer
from agent_lsp.messages.events import McpConnectEnd
from agent_lsp.tools.mcp.servers import McpServers, secrets
from agent_lsp.tools.processes import Processes
from agent_lsp.tools.toolset import ToolLimits, Toolset

from .conftest import Done, use

pytestmark = pytest.mark.asyncio


@dataclass
class Web:
    """A server: `status` is what it answers instead of working, `as_events` how it answers."""

    status: int = 200
    as_events: bool = False
    huge: bool = False
    session: str = "one"
    heard: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        message = json.loads(body) if body else None
        self.heard.append((head[0].split()[0], headers, message))
        self.arrived.set()
        status, answer = self._answer(head[0].split()[0], headers, message)
        if answer is None and message and message.get("params", {}).get("name") == "hang":
            await asyncio.get_running_loop().create_future()
        data = b"" if answer is None else json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}).encode()
        kind = "application/json"
        if data and self.as_events:
            kind, data = "text/event-stream", b"event: message\ndata: " + data + b"\n\n"
        lines = [f"HTTP/1.1 {status} X", f"content-type: {kind}", f"content-length: {len(data)}"]
        writer.write("\r\n".join([*lines, f"mcp-session-id: {self.session}", "", ""]).encode() + data)
        await writer.drain()
        return True

    def _answer(self, method: str, headers: dict[str, str], message: Any) -> tuple[int, dict[str, Any] | None]:
        if self.status != 200:
            return self.status, None
        if method != "POST":
            return (405 if method == "GET" else 200), None
        if headers.get("mcp-session-id", self.session) != self.session:
            return 404, None
        if "id" not in message:
            return 202, None
        match message["method"]:
            case "initialize":
                about = {"name": "web", "version": "1"}
                version = message["params"]["protocolVersion"]
                result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
            case "tools/list":
                known = [{"name": name, "inputSchema": {"type": "object"}} for name in ("hello", "hang", "secret")]
                result = {"tools": known}
            case _ if message["params"]["name"] == "hang":
                return 200, None
            case _:
                text = headers.get("authorization", "") if message["params"]["name"] == "secret" else "hello"
                result = {"content": [{"type": "text", "text": text * (4_000_000 if self.huge else 1)}]}
        return 200, {"result": result}


@asynccontextmanager
async def connected(web: Web, folder, **headers: str):
    """The tools of a session that has this server, and how connecting it ended."""
    listening = await asyncio.start_server(web.serve, "127.0.0.1", 0, limit=2**26)
    web.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/mcp"
    async with on_url(web.url, folder, **headers) as both:
        yield both
    listening.close()


@asynccontextmanager
async def on_url(url: str, folder, **headers: str):
    configured = {"web": McpServer(url=url, headers=headers)}
    ended: asyncio.Future[McpConnectEnd] = asyncio.get_running_loop().create_future()
    processes = Processes()
    servers = McpServers(configured, processes.session(), folder, offline=True, say=lambda _: None, failed=set())
    toolset = Toolset((), ToolLimits(timeout_s=20), folder / "scratch", secrets(configured.values()))
    toolset.add_late(servers)
    toolset.prepare(lambda event: ended.set_result(event) if isinstance(event, McpConnectEnd) else None)
    result = (await ended).results[0]
    toolset.renew()
    try:
        yield toolset, result
    finally:
        await toolset.close()
        await processes.close()


async def hello(toolset: Toolset, name: str = "hello") -> Done:
    return await use(toolset, f"mcp__web__{name}", {})


@pytest.mark.parametrize("as_events", [False, True])
async def test_tools_are_called_over_http(tmp_path, as_events):
    async with connected(Web(as_events=as_events), tmp_path) as (toolset, result):
        assert (result.status, result.transport, result.tools) == ("completed", "http", 3)
        assert (await hello(toolset)).output == "hello"


async def test_headers_go_with_every_request_and_into_no_log_and_no_output(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    web = Web()
    async with connected(web, tmp_path, Authorization="Bearer PLANTED-1234") as (toolset, _):
        assert (await hello(toolset, "secret")).output == "***"
    assert len(web.heard) >= 4
    assert {headers["authorization"] for _, headers, _ in web.heard} == {"Bearer PLANTED-1234"}
    assert "PLANTED" not in caplog.text


async def test_a_refused_credential_is_told_by_its_status(tmp_path):
    async with connected(Web(status=401), tmp_path) as (_, result):
        assert result.status == "failed" and result.error.endswith("(HTTP 401)")


async def test_nobody_at_the_address_is_told(tmp_path):
    async with on_url("http://127.0.0.1:9/mcp", tmp_path) as (toolset, result):
        assert (result.status, result.error) == ("failed", "All connection attempts failed")
        assert toolset.tools() == ()


async def test_a_session_that_the_server_has_forgotten_is_begun_anew_with_the_next_call(tmp_path):
    web = Web()
    async with connected(web, tmp_path) as (toolset, _):
        web.session = "two"
        lost = await hello(toolset)
        assert lost.failed and "has gone" in lost.output
        assert (await hello(toolset)).output == "hello"


async def test_a_server_that_breaks_in_the_middle_of_a_call_is_a_failed_output(tmp_path):
    web = Web()
    async with connected(web, tmp_path) as (toolset, _):
        web.status = 500
        assert (await hello(toolset)).failed
        web.status = 200
        assert (await hello(toolset)).output == "hello"


async def test_an_answer_larger_than_anybody_could_use_is_cut_off(tmp_path):
    web = Web()
    async with connected(web, tmp_path) as (toolset, _):
        web.huge = True
        assert (await hello(toolset)).failed
        web.huge = False
        assert (await hello(toolset)).output == "hello"


async def test_cancelling_a_call_reaches_the_server(tmp_path):
    web = Web()
    async with connected(web, tmp_path) as (toolset, _):
        running = asyncio.create_task(hello(toolset, "hang"))
        while not any(message and message.get("method") == "tools/call" for _, _, message in web.heard):
            web.arrived.clear()
            await web.arrived.wait()
        running.cancel()
        while not any(message and message.get("method") == "notifications/cancelled" for _, _, message in web.heard):
            web.arrived.clear()
            await web.arrived.wait()
