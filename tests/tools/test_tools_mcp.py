"""Servers of the Model Context Protocol over stdio, well-behaved and other ones; each is a real process."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from agent_lsp.config.sections import McpServer
from agent_lsp.messages.events import McpConnectBegin, McpConnectEnd
from agent_lsp.policy.access import Access
from agent_lsp.tools.mcp import server as one_server
from agent_lsp.tools.mcp import servers as all_servers
from agent_lsp.tools.mcp.servers import McpServers, once, secrets
from agent_lsp.tools.processes import Processes
from agent_lsp.tools.toolset import ToolLimits, Toolset

from .conftest import Done, call, use, wait_until_gone

pytestmark = pytest.mark.asyncio
SERVER = Path(__file__).with_name("mcp_server.py")


def stdio(how: str, **env: str) -> McpServer:
    return McpServer(command=sys.executable, args=("-B", str(SERVER), how), env=env)


@dataclass
class Setup:
    """The tools of a session with servers, and what was told of them."""

    toolset: Toolset
    servers: McpServers
    events: list[Any] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def announce(self, event: Any) -> None:
        self.events.append(event)
        if isinstance(event, McpConnectEnd):
            self.ended.set()

    async def prepare(self) -> None:
        if ready := self.toolset.prepare(self.announce):
            await ready

    async def connect(self) -> dict[str, Any]:
        """Until every server has answered or failed; what became of each."""
        await self.prepare()
        await self.ended.wait()
        self.toolset.renew()
        return {one.server: one for one in self.events[-1].results}

    def names(self) -> list[str]:
        return [spec.name for spec in self.toolset.tools()]

    async def use(self, name: str, **arguments: Any) -> Done:
        return await use(self.toolset, name, arguments)


@pytest_asyncio.fixture
async def setup(tmp_path):
    """setup(name=server, …) → Setup, closed in the end."""
    made: list[Setup] = []
    failed: set[str] = set()
    processes = Processes(scrub=frozenset({"PLANTED_KEY"}), environment={**os.environ, "PLANTED_KEY": "planted"})

    def _setup(*, offline=False, **configured: McpServer) -> Setup:
        said: list[str] = []
        servers = McpServers(configured, processes.session(), tmp_path, offline=offline, say=said.append, failed=failed)
        toolset = Toolset((), ToolLimits(timeout_s=20), tmp_path / "scratch", secrets(configured.values()))
        toolset.add_late(servers)
        made.append(Setup(toolset, servers, said=said))
        return made[-1]

    yield _setup
    await asyncio.gather(*(one.toolset.close() for one in made))
    await processes.close()


async def test_tools_are_called_by_their_long_names_and_name_their_server(setup):
    one = setup(files=stdio("plain"))
    results = await one.connect()
    assert (results["files"].status, results["files"].transport, results["files"].tools) == ("completed", "stdio", 13)
    assert (await one.use("mcp__files__echo", text="hi")).output == "echo: hi"
    told = {tool["name"]: tool for tool in one.toolset.described()}
    assert told["mcp__files__echo"]["source"] == "mcp:files"
    assert told["mcp__files__echo"]["parameters"]["required"] == ["text"]


async def test_nothing_starts_before_the_first_run(setup):
    one = setup(files=stdio("plain"))
    assert one.names() == [] and not one.events
    await one.connect()
    assert [type(event) for event in one.events] == [McpConnectBegin, McpConnectEnd]
    await one.prepare()
    assert len(one.events) == 2


async def test_what_only_reads_says_so_and_all_else_changes_the_world(setup):
    one = setup(files=stdio("plain"))
    await one.connect()
    look, echo = call("mcp__files__look", {}), call("mcp__files__echo", {"text": "x"})
    assert (one.toolset.permission(look), one.toolset.access(look)) == ("r", Access("read"))
    assert (one.toolset.permission(echo), one.toolset.access(echo)) == ("rw", Access("other"))
    assert one.toolset.title(echo) == 'files: echo {"text": "x"}'


async def test_arguments_that_do_not_fit_are_named_and_not_sent(setup):
    one = setup(files=stdio("plain"))
    await one.connect()
    unfit = await one.use("mcp__files__echo", text=[1])
    assert unfit.failed and "- text: [1] is not of type 'string'" in unfit.output


async def test_results_keep_images_errors_and_questions(setup):
    one = setup(files=stdio("plain"))
    await one.connect()
    assert (await one.use("mcp__files__picture")).result.images[0].startswith("data:image/png;base64,iVBOR")
    wrong = await one.use("mcp__files__wrong")
    assert wrong.failed and wrong.output == "it went wrong"
    assert (await one.use("mcp__files__ask")).result.needs_input


async def test_an_answer_that_is_none_is_a_failed_output(setup):
    one = setup(files=stdio("plain"))
    await one.connect()
    done = await one.use("mcp__files__garbage")
    assert done.failed and "not what the protocol says" in done.output
    assert not (await one.use("mcp__files__echo", text="still there")).failed


async def test_progress_is_output_with_its_control_characters_visible(setup):
    one = setup(files=stdio("plain"))
    await one.connect()
    done = await one.use("mcp__files__progress")
    assert done.output == "[progress 1/2] step 1\\x1b[0m\n[progress 2/2] step 2\\x1b[0m\ndone"


async def test_a_flood_of_progress_is_bounded_and_the_result_still_comes(setup):
    one = setup(files=stdio("plain"))
    await one.connect()
    done = await one.use("mcp__files__flood")
    assert done.output.endswith("\ndone") and done.output.count("\n") <= 500


async def test_cancelling_a_call_reaches_the_server(setup, tmp_path):
    os.mkfifo(tmp_path / "told")
    one = setup(files=stdio("plain"))
    await one.connect()
    this = call("mcp__files__slow", {"tell": str(tmp_path / "told")})
    running = asyncio.create_task(anext(aiter(one.toolset.execute(this))))
    done, _ = await asyncio.wait((running,), timeout=0.3)  # the call has to be on its way, and says nothing of that
    assert not done
    running.cancel()
    assert await asyncio.to_thread((tmp_path / "told").read_text) == "cancelled"


async def test_a_server_that_died_is_a_failed_output_and_comes_back_with_the_next_call(setup):
    one = setup(files=stdio("plain"))
    await one.connect()
    died = await one.use("mcp__files__die")
    assert died.failed and "has gone" in died.output
    assert (await one.use("mcp__files__echo", text="again")).output == "echo: again"


async def test_tools_that_change_join_with_the_next_context(setup):
    one = setup(files=stdio("plain"))
    await one.connect()
    before = one.names()
    await one.use("mcp__files__grow")
    await one.use("mcp__files__echo", text="the news were before this")
    await one.servers.look_again()
    assert one.names() == before
    one.toolset.renew()
    assert set(one.names()) - set(before) == {"mcp__files__grown"}


async def test_resources_are_listed_and_read(setup):
    one = setup(files=stdio("plain"))
    await one.connect()
    assert (await one.use("mcp__files__resources")).output == "note://one One The first note."
    assert (await one.use("mcp__files__resources", uri="note://one")).output == "text of note://one"


async def test_a_server_has_its_own_variables_and_no_keys_of_others(setup):
    one = setup(files=stdio("plain", ROOT="mine", API_TOKEN="PLANTED-token"), other=stdio("plain"))
    await one.connect()
    seen = (await one.use("mcp__files__env")).output
    assert '"ROOT": "mine"' in seen and "PLANTED" not in seen
    assert '"API_TOKEN": "***"' in seen
    others = json.loads((await one.use("mcp__other__env")).output)
    assert not {"ROOT", "API_TOKEN", "PLANTED_KEY"} & others.keys()


# --- servers that do not work -----------------------------------------------------------------------------------------


async def test_a_server_that_never_answers_holds_up_nobody_for_long(setup, monkeypatch):
    monkeypatch.setattr(all_servers, "WAIT_S", 0.1)
    monkeypatch.setattr(one_server, "CONNECT_S", 3)
    one = setup(dead=stdio("never"), files=stdio("plain"))
    await one.prepare()
    assert not one.ended.is_set()
    results = await one.connect()
    assert (results["dead"].status, results["dead"].error) == ("timeout", "no answer within 3 s")
    assert one.said == ["the MCP server dead is left out: no answer within 3 s"]
    assert "mcp__files__echo" in one.names()


async def test_a_server_that_failed_in_one_session_holds_up_no_other(setup, monkeypatch):
    monkeypatch.setattr(one_server, "CONNECT_S", 0.5)
    await setup(dead=stdio("never")).connect()
    monkeypatch.setattr(all_servers, "WAIT_S", 600)
    monkeypatch.setattr(one_server, "CONNECT_S", 600)
    await setup(dead=stdio("never")).prepare()
    other = setup(dead=stdio("never"), files=stdio("plain"))
    await other.prepare()
    assert "mcp__files__echo" in other.names() and not other.ended.is_set()


async def test_a_server_that_dies_leaves_its_last_words_without_secrets(setup):
    one = setup(dead=stdio("dies", KEY="PLANTED-secret"))
    results = await one.connect()
    assert results["dead"].status == "failed"
    assert results["dead"].error == "Connection closed (the key *** is wrong)"


async def test_a_program_that_is_not_there_is_named(setup):
    one = setup(bad=McpServer(command="no-such-program-at-all"))
    assert (await one.connect())["bad"].error == "no such program: no-such-program-at-all"


@pytest.mark.parametrize(("how", "why"), [("noise", "Listening on nothing!"), ("endless", "a line of more than")])
async def test_a_server_that_floods_is_given_up(setup, how, why):
    one = setup(bad=stdio(how), files=stdio("plain"))
    results = await one.connect()
    assert results["bad"].status == "failed" and why in results["bad"].error
    assert results["files"].status == "completed"


async def test_names_and_schemas_that_nobody_could_use_do_no_harm(setup):
    one = setup(odd=stdio("odd"))
    await one.connect()
    names = one.names()
    assert len(names) == len(set(names)) and all(len(name) <= 64 and name.isascii() for name in names)
    assert not any(odd in spec.description for spec in one.toolset.tools() for odd in "\x1b\u202e")
    assert "mcp__odd__huge" not in names
    assert {"mcp__odd__a_b", "mcp__odd__same", "mcp__odd__deep", "mcp__odd__circles"} <= set(names)
    same = next(spec for spec in one.toolset.tools() if spec.name == "mcp__odd__same")
    assert same.description == "The first."
    assert not (await one.use("mcp__odd__circles", x=1)).failed
    assert not (await one.use("mcp__odd__slow_pattern", x="a" * 40 + "b")).failed


async def test_a_list_of_tools_against_the_protocol_is_said_with_what_is_wrong_in_it(setup):
    one = setup(bad=stdio("invalid"))
    results = await one.connect()
    assert (results["bad"].status, one.names()) == ("failed", [])
    assert "not what the protocol says: tools.1.inputSchema.type" in results["bad"].error


async def test_offline_leaves_out_what_is_not_on_this_machine(setup):
    one = setup(offline=True, far=McpServer(url="https://example.com/mcp"), files=stdio("plain"))
    results = await one.connect()
    assert results["far"].error == "it is not on this machine, and offline is set"
    assert results["far"].status == "aborted"
    assert results["files"].status == "completed"
    assert one.events[-1].status == "completed"


async def test_a_failure_is_said_once_though_every_session_has_it():
    said = []
    say = once(said.append)
    say("a"), say("b"), say("a")
    assert said == ["a", "b"]


# --- their end --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["plain", "locked"])
async def test_a_server_and_what_it_started_end_with_the_session(setup, how):
    one = setup(files=stdio(how))
    await one.connect()
    pids = [int(pid) for pid in (await one.use("mcp__files__pid")).output.split()]
    await one.toolset.close()
    for pid in pids:
        await asyncio.to_thread(wait_until_gone, pid)


async def test_a_session_that_is_closed_while_it_connects_says_nothing_more(setup):
    one = setup(dead=stdio("never"))
    assert one.toolset.prepare(one.announce) is not None
    await one.toolset.close()
    assert [type(event) for event in one.events] in ([], [McpConnectBegin]) and not one.said


CRASHES = """
import asyncio, os, sys
from agent_lsp.config.sections import McpServer
from agent_lsp.tools.mcp.servers import McpServers
from agent_lsp.tools.processes import Processes
from pathlib import Path

async def main():
    command = McpServer(command=sys.executable, args=("-B", sys.argv[1], "locked"))
    servers = McpServers({"files": command}, Processes().session(), Path("/"), offline=False, say=print, failed=set())
    ready = asyncio.Event()
    servers.prepare(lambda event: ready.set() if event.type == "mcp_connect_end" else None)
    await ready.wait()
    pid = next(tool for tool in servers.tools() if tool.spec.name.endswith("pid"))
    async for piece in pid.run(pid.spec.parse("{}")):
        print(piece.text, flush=True)
    os._exit(9)

asyncio.run(main())
"""


async def test_a_server_does_not_outlive_a_crash_of_ours():
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", CRASHES, str(SERVER)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 9, done.stderr
    for pid in done.stdout.split():
        await asyncio.to_thread(wait_until_gone, int(pid))
