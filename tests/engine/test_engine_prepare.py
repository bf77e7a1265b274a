"""What an environment needs before a run, and tools that change from one context to the next."""

from agent_lsp.messages.events import McpConnectBegin, ToolListReady
from agent_lsp.providers.scripted import text
from tests.engine.harness import Rig, now_s, virtual


@virtual
async def test_the_first_request_waits_for_the_environment():
    async with Rig() as rig:
        rig.tools.prepare_s = 1.5
        rig.llm.script([text("end")])
        assert (await rig.run("go")).status == "completed"
        assert now_s() == 1.5


@virtual
async def test_an_abort_ends_the_wait_for_the_environment_and_keeps_the_input():
    async with Rig() as rig:
        rig.tools.prepare_s = 60
        rig.at(1, rig.abort)
        assert (await rig.run("go")).status == "aborted"
        assert now_s() == 1 and not rig.llm.requests
        rig.tools.prepare_s = 0
        rig.llm.script([text("end")])
        await rig.run("on")
        assert rig.sent() == [("user", "go"), ("user", "on")]


@virtual
async def test_what_the_environment_announces_is_in_the_stream_and_the_trace():
    async with Rig() as rig:
        rig.llm.script([text("end")])
        await rig.run("go")
        rig.tools.announce(McpConnectBegin(servers=("a",)))
        assert rig.labels()[-1] == "mcp_connect_begin" == rig.traced()[-1]["type"]


@virtual
async def test_the_environment_hears_of_each_new_context_before_its_tools_are_asked_for():
    async with Rig() as rig:
        rig.llm.script([text("end")], [text("[summary]s[/summary]")], [text("end")])
        await rig.run("go")
        assert rig.tools.renewed == 0
        await rig.session.compact()
        assert rig.tools.renewed == 1
        rig.tools.names = ("work", "new")
        await rig.run("on")
        assert [spec.name for spec in rig.of(ToolListReady)[-1].tools] == ["work", "new"]
