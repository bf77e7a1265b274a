"""What comes before a prompt's first decision: a shorter history, values named for it, a tool that is answered."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.loop import compression
from agent_lsp.loop.options import Limits, Preparation
from agent_lsp.loop.preparation import named_values
from agent_lsp.messages.content import Text, ToolCall, ToolCallOutput
from agent_lsp.messages.events import CompactionBegin, CompactionEnd, ContextSeed
from agent_lsp.providers.scripted import fail, text
from tests.engine.harness import said, virtual
from tests.loop.loop_rig import KINDS, LoopRig, replayed

LOW = {"history_compression_threshold_tokens": 10, "history_compression_keep_recent_entries": 2}
SUMMARY = [text("[summary]THE-SUMMARY[/summary]")]


# --- the history is summarised ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@virtual
async def test_a_long_history_is_summarised_before_anything_else(kind):
    async with LoopRig(kind, limits=LOW | {"history_compression_keep_recent_entries": 1}) as rig:
        rig.decide("x" * 100)
        await rig.prompt("first")
        rig.llm.script(SUMMARY)
        rig.decide(("work", {"out": "y"}), "done")
        await rig.prompt("second")
        assert "second" not in str(rig.told(1)) and "x" * 100 in str(rig.told(1))
        after = str(rig.told(2))
        assert "THE-SUMMARY" in after and "second" in after and "first" not in after and "x" * 99 in after
        assert rig.snap()["history"][0] == {"type": "history_summary", "summary": "THE-SUMMARY"}
        assert [one.reason for one in rig.of(CompactionBegin)] == ["history"]
        assert replayed(rig) == rig.snap()


@pytest.mark.parametrize("kind", KINDS)
@virtual
async def test_what_is_kept_is_committed_behind_a_seed_in_a_new_trace(kind):
    async with LoopRig(kind, limits=LOW | {"history_compression_keep_recent_entries": 1}) as rig:
        rig.decide("x" * 100)
        await rig.prompt("first")
        rig.llm.script(SUMMARY)
        rig.decide("done")
        await rig.prompt("second")
        start = rig.trace.contexts[1]
        opening = [one["type"] for one in rig.traced()[start:]]
        assert opening[:5] == ["session_meta", "tool_list_ready", "context_seed", "text", "text"]
        assert len(rig.llm.requests[2].history[0].messages) == 2
        rebuilt = LoopRig(kind)
        async with rebuilt:
            from agent_lsp.messages.envelope import MESSAGE

            lines = map(MESSAGE.validate_json, rig.trace.lines[start + 1 :])
            rebuilt.session.replay(lines)
            assert [c.messages for c in rebuilt.ledger.history] == [c.messages for c in rig.ledger.history]


@virtual
async def test_a_crash_right_behind_the_summary_loses_nothing():
    async with LoopRig(limits=LOW | {"history_compression_keep_recent_entries": 1}) as rig:
        rig.decide("x" * 100)
        await rig.prompt("first")
        rig.llm.script(SUMMARY)
        rig.decide("done")
        await rig.prompt("second")
        from agent_lsp.messages.envelope import MESSAGE

        lines = [MESSAGE.validate_json(line) for line in rig.trace.lines[1:]]
        end = next(at for at, one in enumerate(lines) if isinstance(one.payload, CompactionEnd))
        async with LoopRig() as rebuilt:
            rebuilt.session.replay(lines[: end + 1])
            assert rebuilt.ledger.history[0].messages == rig.ledger.history[0].messages


@virtual
async def test_the_threshold_is_strictly_more():
    for chars, compressed in ((38, False), (39, True)):  # with the prompt, a quarter of these is 10 and more than 10
        async with LoopRig(limits=LOW | {"history_compression_keep_recent_entries": 0}) as rig:
            rig.decide("x" * chars)
            await rig.prompt("go")
            rig.llm.script(SUMMARY if compressed else [text("done")])
            rig.decide("done")
            await rig.prompt("again")
            assert bool(rig.of(CompactionBegin)) == compressed


@virtual
async def test_it_can_be_switched_off():
    async with LoopRig(limits=LOW | {"history_compression_enabled": False}) as rig:
        rig.decide("x" * 1000, "done")
        await rig.prompt("go")
        await rig.prompt("again")
        assert rig.of(CompactionBegin) == []


@virtual
async def test_a_summary_that_fails_leaves_all_as_it_was():
    async with LoopRig(limits=LOW) as rig:
        rig.decide("x" * 100, ("work", {"out": "y"}), "two")
        await rig.prompt("first")
        await rig.prompt("first")
        rig.llm.script([fail("failed", "no", permanent=True)])
        rig.decide("three")
        assert (await rig.prompt("second")).text == "three"
        assert "history_summary" not in rig.kinds() and "x" * 100 in str(rig.told())


CALL = ToolCall(name="t", arguments="{}", tool_call_id="c")
OUTPUT = ToolCallOutput(tool_call_id="c", output="o")
USER, MODEL = Text(role="user", text="u" * 100), Text(role="assistant", text="m" * 100)

PROMPTS = [(USER, MODEL), (USER, CALL, OUTPUT, MODEL), (USER, MODEL, CALL, CALL, OUTPUT, OUTPUT)]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PROMPTS)), st.integers(0, 12))
def test_a_call_is_never_cut_from_its_result(prompts, keep):
    messages = [one for prompt in prompts for one in prompt]
    limits = Limits(history_compression_threshold_tokens=1, history_compression_keep_recent_entries=keep)
    plan = compression.plan(messages, limits, None)
    if plan is None or plan.kept == 0:
        return
    at = len(messages) - plan.kept
    assert not isinstance(messages[at], ToolCallOutput)
    assert messages[at].role == "user" or messages[at - 1].role == "user"
    assert plan.kept >= keep


# --- values are named for a prompt ------------------------------------------------------------------------------------


def test_the_lines_that_name_values():
    told = """Here they are:
@a := "one"
  @b: 'two'
@c = three = 3
@d := "un"even
@a := "again"
not@one := "x"
@ := "x"
"""
    assert named_values(told) == {"a": "again", "b": "two", "c": "three = 3", "d": '"un"even'}


@virtual
async def test_a_child_names_values_for_each_prompt_and_they_do_not_pile_up_in_one():
    async with LoopRig(preparation=Preparation("look around")) as rig:
        rig.child_llm.script([text('Well:\n@branch := "main"')], [text('@branch := "next"')])
        rig.decide("one", "two")
        await rig.prompt("first")
        await rig.prompt("second")
        assert [words for _, words in rig.told(0)] == ["first", '[preparation]\n@branch := "main"\n[/preparation]']
        assert rig.told()[-2:] == [("user", "second"), ("user", '[preparation]\n@branch := "next"\n[/preparation]')]
        assert rig.llm.requests[0].system == rig.llm.requests[1].system
        assert rig.child_llm.requests[0].input[0].text == "look around"
        assert [turn["prompt"] for turn in rig.snap()["turns"]] == ["first", "second"]
        assert len(rig.children) == 2 and replayed(rig) == rig.snap()


@virtual
async def test_a_child_has_the_tools_and_the_context_it_is_given():
    async with LoopRig(preparation=Preparation("look", tools=("work",), context=True)) as rig:
        rig.child_llm.script([text("nothing")], [text("nothing")])
        rig.decide("one", "two")
        await rig.prompt("first")
        await rig.prompt("second")
        asked = rig.child_llm.requests[1]
        assert "## work" in asked.system and "## other" not in asked.system
        assert any(getattr(one, "text", "") == "first" for commit in asked.history for one in commit.messages)


@pytest.mark.parametrize("retries, children, ends", [(1, 2, "final_answer"), (0, 1, "failed")])
@virtual
async def test_a_failing_child_is_tried_again(retries, children, ends):
    async with LoopRig(preparation=Preparation("look", retries=retries)) as rig:
        rig.child_llm.script([fail("failed", "no", permanent=True)], [text('@a := "1"')])
        rig.decide("done")
        assert (await rig.prompt("go")).outcome == ends
        assert len(rig.children) == children


@virtual
async def test_a_preparation_that_fails_for_good_fails_the_prompt_without_a_request():
    async with LoopRig(preparation=Preparation("look")) as rig:
        rig.child_llm.script(*[[fail("failed", "no model", permanent=True)]] * 2)
        result = await rig.prompt("go")
        assert (result.status, result.outcome) == ("failed", "failed") and rig.llm.requests == []
        assert rig.ending() == ("failed", "failed", 1, "error") and "no model" in result.text
        assert result.text == rig.snap()["lastAnswer"] and replayed(rig) == rig.snap()


@virtual
async def test_a_cancelled_child_is_not_tried_again():
    async with LoopRig(preparation=Preparation("look", retries=5)) as rig:
        import asyncio

        from agent_lsp.providers.scripted import gate

        rig.child_llm.script([gate(asyncio.Event())])
        ticket = rig.session.submit(said("go"))
        rig.at(5, rig.abort)
        assert (await ticket.result).outcome == "interrupted" and len(rig.children) == 1


# --- a tool that has asked --------------------------------------------------------------------------------------------


async def asked(rig):
    rig.decide(("ask", {}))
    await rig.prompt("do it")
    assert rig.snap()["pending"] == {"tool": "ask", "question": "which one?"}


@pytest.mark.parametrize("kind", KINDS)
@virtual
async def test_the_next_prompt_goes_to_the_tool_as_the_answer(kind):
    async with LoopRig(kind) as rig:
        await asked(rig)
        rig.small.script([text("ANSWER")])
        rig.decide("done")
        result = await rig.prompt("the second")
        assert result.text == "done" and len(rig.llm.requests) == 2
        step = rig.snap()["turns"][-1]["steps"][0]
        assert step["decision"]["input"] == {"answer": "the second"} and step["result"] == "the person says the second"
        assert "pending" not in rig.snap() and replayed(rig) == rig.snap()


@pytest.mark.parametrize("verdict", [[text("PROMPT")], [fail("timeout", "x")], [text("I think it is an ANSWER")]])
@virtual
async def test_what_is_no_answer_is_a_prompt(verdict):
    async with LoopRig() as rig:
        await asked(rig)
        rig.small.script(verdict)
        rig.decide("something else")
        assert (await rig.prompt("forget it")).text == "something else"
        assert len(rig.tools.ran) == 1 and len(rig.small.requests) == 1


@virtual
async def test_a_prompt_that_names_another_tool_is_one_without_a_question():
    async with LoopRig() as rig:
        await asked(rig)
        rig.decide("done")
        await rig.prompt("use other for it")
        assert rig.small.requests == [] and len(rig.tools.ran) == 1


@virtual
async def test_the_answer_goes_there_once():
    async with LoopRig() as rig:
        await asked(rig)
        rig.small.script([text("ANSWER")])
        rig.decide("done", "again")
        await rig.prompt("the second")
        await rig.prompt("and now?")
        assert len(rig.small.requests) == 1 and len(rig.tools.ran) == 2


@virtual
async def test_nothing_is_guessed_from_prose():
    async with LoopRig() as rig:
        rig.decide(("work", {"out": "Please give me more input. Which one?"}), "done")
        assert (await rig.prompt("go")).outcome == "final_answer"


# --- a history that is brought along ----------------------------------------------------------------------------------


@virtual
async def test_a_history_that_is_brought_along_is_in_request_and_records():
    async with LoopRig() as rig:
        rig.session.seed([Text(role="user", text="I am Ada."), Text(role="assistant", text="Hello Ada.")])
        rig.decide("You are Ada.")
        await rig.prompt("who am I?")
        assert [role for role, _ in rig.told()] == ["user", "assistant", "user"]
        assert rig.kinds() == ["user", "final_answer", "user", "final_answer"]
        assert isinstance(rig.ledger.opening(), tuple) and rig.traced()[0]["type"] == ContextSeed(count=2).type
        assert replayed(rig) == rig.snap()
