"""Titles: one request beside everything else."""

import pytest

from agent_lsp.messages.content import Text
from agent_lsp.providers.scripted import fail, text, thinking
from tests.engine.harness import Rig, virtual, work


@virtual
async def test_the_request_has_no_tools_no_history_and_no_system_prompt():
    async with Rig() as rig:
        await rig.run("mend the fence")
        rig.llm.script([text("Fence ", "mended")])
        assert await rig.session.generate_title() == "Fence mended"
        request = rig.llm.requests[-1]
        assert (request.system, request.tools, request.history) == ("", (), ())
        [ask] = request.input
        assert ask.sender == "harness" and "user: mend the fence" in ask.text and "assistant: unscripted" in ask.text


@virtual
async def test_it_is_in_no_history_no_trace_and_no_count():
    async with Rig() as rig:
        await rig.run("a")
        before = (list(rig.trace.lines), len(rig.screen.messages), rig.session.usage, rig.session.history())
        await rig.session.generate_title()
        assert before == (rig.trace.lines, len(rig.screen.messages), rig.session.usage, rig.session.history())


@virtual
async def test_without_a_conversation_nothing_is_asked():
    async with Rig() as rig:
        assert await rig.session.generate_title() is None and not rig.llm.requests


@pytest.mark.parametrize("reply", [[fail("timeout")], [text("half"), fail("auth")], [text(" \n ")], [thinking("hm")]])
@virtual
async def test_a_model_that_gives_none_gives_none(reply):
    async with Rig() as rig:
        await rig.run("a")
        rig.llm.script(reply)
        assert await rig.session.generate_title() is None
        assert rig.session.state.state == "idle"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ('"Fence mended."', "Fence mended"),
        ("\n\n# Fence\nand more", "Fence"),
        ("**Fence**", "Fence"),
        ("x" * 200, "x" * 80),
    ],
)
@virtual
async def test_a_title_is_one_short_line_without_quotes(said, title):
    async with Rig() as rig:
        await rig.run("a")
        rig.llm.script([text(said)])
        assert await rig.session.generate_title() == title


@virtual
async def test_what_the_engine_composed_is_no_part_of_the_conversation_but_a_summary_is():
    async with Rig() as rig:
        rig.slate.now = "complete"
        await rig.pursue("mend the fence")
        await rig.session.generate_title()
        assert "[goal]" not in rig.llm.requests[-1].input[0].text
        rig.llm.script([text("[summary]a fence was mended[/summary]")])
        await rig.session.compact()
        await rig.run("go on")
        await rig.session.generate_title()
        assert "a fence was mended" in rig.llm.requests[-1].input[0].text


@virtual
async def test_a_title_can_be_made_while_a_task_runs():
    async with Rig() as rig:
        await rig.run("a")
        rig.llm.script([work("w", then=5)], [text("Title")], [text("done")])
        ticket = rig.start("b")
        await rig.until("tool_call:work")
        assert await rig.session.generate_title() == "Title"
        assert (await ticket.result).text == "done"
        assert not [one for one in rig.of(Text) if one.text == "Title"]
