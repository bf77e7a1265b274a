from __future__ import annotations

import asyncio
import itertools
import logging
from typing import Any

import pytest

from agent_lsp.engine.ports import ToolResult
from agent_lsp.policy.access import Access, TextPreview
from agent_lsp.tools.arguments import Arguments
from agent_lsp.tools.builtin import builtin_tools
from agent_lsp.tools.errands import NoSubagents
from agent_lsp.tools.late import ToolContext, late_tools
from agent_lsp.tools.tool import End, Spec, failed
from agent_lsp.tools.toolset import ToolLimits, Toolset
from agent_lsp.tools.workspace import Workspace

from .conftest import call, use


class EchoArgs(Arguments):
    """Arguments of the scripted tool."""

    text: str = ""
    times: int = 1
    loud: bool = False


class Scripted:
    """A tool that does what its script says; `stopped` is set when it was made to end."""

    def __init__(self, *script: Any, name="echo", timed=True, stubborn=False):
        self.spec = Spec(name, "Does as it is told.", EchoArgs, "r", timed=timed)
        self.script, self.stubborn = script, stubborn
        self.blocked, self.stopped, self.released = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def title(self, args):
        return f"Echo {args.text}"

    def access(self, args):
        return Access("own")

    async def preview(self, args):
        return TextPreview(args.text)

    async def run(self, args):
        for step in self.script or (args.text * args.times,):
            if isinstance(step, Exception):
                raise step
            if step is not ...:
                yield step
                continue
            self.blocked.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.stopped.set()
                if not self.stubborn:
                    raise
                await self.released.wait()


def toolset(tmp_path, *tools, limit=100, timeout_s=20.0, **more):
    return Toolset(tools, ToolLimits(limit, timeout_s), tmp_path / "scratch", **more)


def test_the_model_is_told_compact_schemas(tmp_path):
    (spec,) = toolset(tmp_path, Scripted()).tools()
    assert spec.parameters == {
        "type": "object",
        "properties": {
            "text": {"default": "", "type": "string"},
            "times": {"default": 1, "type": "integer"},
            "loud": {"default": False, "type": "boolean"},
        },
    }


def test_an_unknown_or_disabled_tool_fails(tmp_path):
    tools = toolset(tmp_path, Scripted(), disabled=["echo"])
    assert tools.tools() == ()
    for name in ("echo", "other"):
        assert tools.check(call(name, {})) == ToolResult(f"Unknown tool: {name}", "failed")


@pytest.mark.parametrize("arguments", ["", "{}", '{"times": "3", "loud": "true"}', '{"times": null, "more": 1}'])
def test_arguments_are_read_leniently(tmp_path, arguments):
    assert toolset(tmp_path, Scripted()).check(call("echo", arguments)) is None


def test_each_wrong_field_is_named(tmp_path):
    unfit = toolset(tmp_path, Scripted()).check(call("echo", {"text": 5, "times": []}))
    assert unfit.stop_reason == "failed" and "- text: " in unfit.output and "- times: " in unfit.output


@pytest.mark.asyncio
async def test_pieces_come_as_they_are_and_the_result_is_last(tmp_path):
    done = await use(toolset(tmp_path, Scripted("a", "b", End(note="[n]"))), "echo", {})
    assert done.pieces == ["a", "b", "\n[n]"] and done.result == ToolResult(note_chars=4)


@pytest.mark.asyncio
async def test_a_single_text_is_one_complete_output(tmp_path):
    done = await use(toolset(tmp_path, Scripted(End("a", "[n]", images=("data:",)))), "echo", {})
    assert (done.pieces, done.result) == ([], ToolResult("a\n[n]", images=("data:",), note_chars=4))


@pytest.mark.asyncio
async def test_a_tool_without_output_says_so(tmp_path):
    assert (await use(toolset(tmp_path, Scripted()), "echo", {})).output == "[no output]"


@pytest.mark.asyncio
async def test_an_exception_is_one_line_and_logged_without_secrets(tmp_path, caplog):
    tools = toolset(tmp_path, Scripted("a", ValueError("no\nway: s3cr3t")), secrets=["s3cr3t"])
    with caplog.at_level(logging.ERROR):
        done = await use(tools, "echo", {})
    assert done.output == "a\n[echo failed: ValueError: no\\nway: ***]" and done.failed
    assert "Traceback" in caplog.text and "s3cr3t" not in caplog.text


@pytest.mark.asyncio
async def test_a_tool_that_cancels_itself_fails(tmp_path):
    class Cancelling(Scripted):
        async def run(self, args):
            yield "a"
            raise asyncio.CancelledError

    assert (await use(toolset(tmp_path, Cancelling()), "echo", {})).failed


@pytest.mark.asyncio
@pytest.mark.parametrize("stubborn", [False, True])
async def test_a_timeout_ends_the_call_even_if_the_tool_does_not_listen(tmp_path, stubborn):
    tool = Scripted("before", ..., "late", stubborn=stubborn)
    done = await use(toolset(tmp_path, tool, timeout_s=0.02), "echo", {})
    assert done.output == "before\n[tool timeout: exceeded 20 ms]" and done.failed
    tool.released.set()


@pytest.mark.asyncio
async def test_time_does_not_count_for_exempt_tools_or_without_a_limit(tmp_path):
    for tool, timeout_s in ((Scripted(..., timed=False), 0.01), (Scripted(...), 0)):
        tools = toolset(tmp_path, tool, timeout_s=timeout_s)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await use(tools, "echo", {})


@pytest.mark.asyncio
async def test_a_cancelled_call_stops_its_tool_and_waits_for_nothing(tmp_path):
    tool = Scripted("a", ..., stubborn=True)
    tools = toolset(tmp_path, tool)
    items = tools.execute(call("echo", {}))
    assert await anext(items) == "a"
    waiting = asyncio.ensure_future(anext(items))
    await tool.blocked.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.wait_for(tool.stopped.wait(), 5)
    tool.released.set()


@pytest.mark.asyncio
async def test_a_closed_call_stops_its_tool(tmp_path):
    tool = Scripted("a", ...)
    tools = toolset(tmp_path, tool)
    items = tools.execute(call("echo", {}))
    await anext(items)
    waiting = asyncio.ensure_future(anext(items))
    await tool.blocked.wait()
    waiting.cancel()
    await asyncio.wait([waiting])
    await items.aclose()
    await asyncio.wait_for(tool.stopped.wait(), 5)


@pytest.mark.asyncio
async def test_closing_ends_what_runs_and_gives_up_on_the_stubborn(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("agent_lsp.tools.toolset._CLOSE_TOOLS_S", 0.01)
    tool = Scripted("a", ..., stubborn=True)
    tools = toolset(tmp_path, tool)
    items = tools.execute(call("echo", {}))
    await anext(items)
    waiting = asyncio.ensure_future(anext(items))
    await tool.blocked.wait()
    await tools.close()
    assert tool.stopped.is_set() and "did not end" in caplog.text
    waiting.cancel()
    tool.released.set()
    await asyncio.wait([waiting])


@pytest.mark.asyncio
async def test_the_third_same_failure_in_a_row_gets_a_note(tmp_path):
    tools = toolset(tmp_path, Scripted(failed("no")), Scripted("fine", name="other"))
    outputs = [(await use(tools, "echo", {})).output for _ in range(4)]
    assert outputs[:2] == ["no", "no"] and "3 times in a row" in outputs[2] and "4 times" in outputs[3]
    await use(tools, "other", {})
    assert (await use(tools, "echo", {})).output == "no"


def test_unfit_arguments_count_as_failures_too(tmp_path):
    tools = toolset(tmp_path, Scripted())
    outputs = [tools.check(call("echo", {"text": 1})).output for _ in range(3)]
    assert outputs[0] == outputs[1] and outputs[2].startswith(outputs[0]) and "3 times" in outputs[2]


@pytest.mark.asyncio
async def test_titles_and_previews_are_safe_to_look_at(tmp_path):
    tools = toolset(tmp_path, Scripted(), secrets=["s3cr3t"])
    this = call("echo", {"text": "a\nb\x1b[31m \u202e s3cr3t"})
    assert tools.title(this) == "Echo a\\nb\\x1b[31m \\u202e ***"
    assert await tools.preview(this) == TextPreview("a\nb\\x1b[31m \\u202e ***")
    assert (tools.permission(this), tools.access(this)) == ("r", Access("own"))


@pytest.mark.asyncio
async def test_a_secret_cut_between_pieces_is_masked(tmp_path):
    done = await use(toolset(tmp_path, Scripted("is s3c", "r3t", "!"), secrets=["s3cr3t"]), "echo", {})
    assert done.pieces == ["is ", "***", "!"]


async def _nobody(path):
    return ()


@pytest.mark.parametrize("has", list(itertools.product((False, True), repeat=4)))
def test_a_built_in_tool_is_known_by_the_name_that_it_has(tmp_path, has):
    given = dict(zip(("findings", "subagents", "plan_mode", "fetch"), has, strict=True))
    kinds = {"findings": _nobody, "subagents": NoSubagents({}), "plan_mode": object(), "fetch": _nobody}
    workspace = Workspace(tmp_path, tmp_path)
    context = ToolContext(workspace, None, None, **{name: kinds[name] for name, is_there in given.items() if is_there})
    real = [tool.spec.name for tool in builtin_tools(context)]
    late = late_tools(context)
    assert [tool.name for tool in late] == real
    assert [tool.real().spec.name for tool in late] == real
