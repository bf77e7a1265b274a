"""Servers that others have written: AGENT_LSP_REAL_MCP=1 installs some from PyPI and npm, and tries them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_lsp.config.sections import McpServer
from agent_lsp.messages.events import McpConnectEnd
from agent_lsp.tools.mcp.servers import McpServers
from agent_lsp.tools.processes import Processes
from agent_lsp.tools.toolset import ToolLimits, Toolset

from .conftest import use

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.timeout(600),
    pytest.mark.skipif("AGENT_LSP_REAL_MCP" not in os.environ, reason="AGENT_LSP_REAL_MCP is not set"),
]


@pytest.fixture(scope="module")
def pypi(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("pypi")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(folder / "bin/pip"), "install", "-q", "mcp-server-time", "mcp-server-git"], check=True)
    return folder / "bin"


@pytest.fixture(scope="module")
def npm(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("npm")
    scope = "@modelcontextprotocol"
    wanted = [f"{scope}/server-filesystem", f"{scope}/server-everything"]
    subprocess.run(["npm", "install", "--silent", "--prefix", str(folder), *wanted], check=True)
    return folder / "node_modules/.bin"


async def with_tools(folder: Path, trial, **configured: McpServer):
    """The trial gets the tools of these servers, all of which have to answer."""
    processes, ended = Processes(), asyncio.get_running_loop().create_future()
    servers = McpServers(configured, processes.session(), folder, offline=False, say=print, failed=set())
    toolset = Toolset((), ToolLimits(timeout_s=60), folder / "scratch")
    toolset.add_late(servers)
    toolset.prepare(lambda event: ended.set_result(event) if isinstance(event, McpConnectEnd) else None)
    assert {one.server: one.error for one in (await ended).results} == dict.fromkeys(configured)
    toolset.renew()
    try:
        await trial(toolset)
    finally:
        await toolset.close()
        await processes.close()


@pytest.fixture
def repository(tmp_path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


async def test_the_servers_for_time_and_git(pypi, repository):
    async def trial(toolset):
        now = await use(toolset, "mcp__time__get_current_time", {"timezone": "UTC"})
        assert '"timezone": "UTC"' in now.output and not now.failed
        assert "- timezone:" in (await use(toolset, "mcp__time__get_current_time", {})).output
        status = await use(toolset, "mcp__git__git_status", {"repo_path": str(repository)})
        assert "No commits yet" in status.output

    time, git = (McpServer(command=str(pypi / f"mcp-server-{name}")) for name in ("time", "git"))
    await with_tools(repository, trial, time=time, git=git)


async def test_the_server_for_files(npm, tmp_path):
    (tmp_path / "a.txt").write_text("hello")

    async def trial(toolset):
        path = str(tmp_path / "a.txt")
        assert (await use(toolset, "mcp__files__read_text_file", {"path": path})).output == "hello"
        assert (await use(toolset, "mcp__files__read_text_file", {"path": "/etc/passwd"})).failed
        told = {tool["name"]: tool["permission"] for tool in toolset.described()}
        assert (told["mcp__files__read_text_file"], told["mcp__files__write_file"]) == ("r", "rw")

    await with_tools(
        tmp_path, trial, files=McpServer(command=str(npm / "mcp-server-filesystem"), args=(str(tmp_path),))
    )


async def test_the_server_that_shows_everything(npm, tmp_path):
    async def trial(toolset):
        assert (await use(toolset, "mcp__all__echo", {"message": "hi"})).output.endswith("hi")
        assert (await use(toolset, "mcp__all__get-tiny-image", {})).result.images
        long = await use(toolset, "mcp__all__trigger-long-running-operation", {"duration": 1, "steps": 2})
        assert "[progress 2/2]" in long.output
        assert tmp_path.as_uri() in (await use(toolset, "mcp__all__get-roots-list", {})).output
        listed = (await use(toolset, "mcp__all__resources", {})).output
        first = listed.partition(" ")[0]
        assert not (await use(toolset, "mcp__all__resources", {"uri": first})).failed

    await with_tools(tmp_path, trial, all=McpServer(command=str(npm / "mcp-server-everything"), args=("stdio",)))


async def test_the_server_that_shows_everything_over_http(npm, tmp_path, unused_tcp_port):
    environ = {**os.environ, "PORT": str(unused_tcp_port)}
    process = await asyncio.create_subprocess_exec(
        str(npm / "mcp-server-everything"), "streamableHttp", env=environ, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr
    while b"listening" not in await process.stderr.readline():
        assert process.returncode is None

    async def trial(toolset):
        assert (await use(toolset, "mcp__all__echo", {"message": "hi"})).output.endswith("hi")
        long = await use(toolset, "mcp__all__trigger-long-running-operation", {"duration": 1, "steps": 2})
        assert "[progress 2/2]" in long.output

    try:
        await with_tools(tmp_path, trial, all=McpServer(url=f"http://127.0.0.1:{unused_tcp_port}/mcp"))
    finally:
        process.terminate()
        await process.wait()
