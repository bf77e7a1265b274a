"""Interrupts at every point: what is said, how fast, and what the next request carries."""

import asyncio

import pytest

from agent_lsp.engine.options import EngineOptions
from agent_lsp.messages.content import ImageUrl, Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.events import Abort, ApprovalDecision, RequestEnd
from agent_lsp.providers.scripted import call, fail, text, thinking, torn
from tests.engine.harness import DENY, INTERRUPTED, PIXEL, Person, Rig, block, now_s, passing, virtual, work

FOREVER = {"then": "inf"}
PHASES = {
    "streaming": ([thinking("h"), text("par", "tial", "more")], {}, 0),
    "silent": ([text("a")], {}, 0),
    "approving": ([work("t1")], {"person": Person(never={"t1"})}, 1),
    "tool": ([work("t1", say=["out"], **FOREVER)], {}, 1),
    "stubborn tool": ([work("t1", say=["out", "late"], gap=4, stubborn=1)], {}, 1),
    "backoff": ([fail("timeout")], {"options": EngineOptions(retry_base_ms=20_000)}, 0),
}


@pytest.mark.parametrize("phase", PHASES)
@virtual
async def test_an_aborted_run_returns_at_once_and_the_next_one_works(phase):
    reply, setting, turns = PHASES[phase]
    gap_s = {"streaming": 1, "silent": 60}.get(phase, 0.25)
    async with Rig(**setting, gap_s=gap_s) as rig:
        rig.llm.script(reply)
        ticket = rig.start("go")
        await passing(4.5)
        before = now_s()
        rig.abort()
        result = await ticket.result
        assert (result.status, result.turns) == ("aborted", turns)
        assert now_s() - before < 0.1
        reason = "aborted during reconnect backoff" if phase == "backoff" else "aborted by user"
        assert rig.of(Abort) == [Abort(reason=reason)] and rig.labels()[-1] == "abort"
        said = len(rig.screen.messages)
        await passing(10)
        assert len(rig.screen.messages) == said, "no message follows the abort"
        rig.llm.script([text("ok")])
        assert (await rig.run("next")).text == "ok"
        assert rig.sent()[-1] == ("user", "next")


@virtual
async def test_a_stubborn_model_cannot_hold_up_an_abort():
    async with Rig(gap_s=30, stubborn_model=True) as rig:
        rig.llm.script([text("a", "b")], [text("ok")])
        ticket = rig.start("go")
        await passing(31)
        rig.abort()
        assert (await ticket.result).status == "aborted" and now_s() == 31
        said = len(rig.screen.messages)
        await passing(300)
        assert len(rig.screen.messages) == said
        assert (await rig.run("next")).text == "ok"


@virtual
async def test_a_front_end_that_does_not_read_cannot_hold_up_an_abort():
    async with Rig() as rig:
        rig.screen.room.clear()
        rig.llm.script([text("a", "b")])
        ticket = rig.start("go")
        await passing(60)
        rig.abort()
        assert (await ticket.result).status == "aborted" and now_s() == 60
        assert rig.of(Text)[0].text == "a"


@virtual
async def test_the_reason_is_the_callers_and_the_first_one_stands():
    async with Rig(gap_s=1) as rig:
        ticket = rig.start("go")
        await passing(0.5)
        assert rig.session.cancel(ticket, "lunch") and rig.session.cancel(ticket, "tea")
        await ticket.result
        assert rig.of(Abort) == [Abort(reason="lunch")]
        assert rig.session.cancel(ticket) is False


@virtual
async def test_cancelling_the_caller_of_run_aborts_it():
    async with Rig(gap_s=1) as rig:
        caller = asyncio.create_task(rig.run("go"))
        rig.at(0.5, caller.cancel)
        with pytest.raises(asyncio.CancelledError):
            await caller
        await passing(0.01)
        assert rig.labels()[-1] == "abort" and rig.session.current() is None


@pytest.mark.parametrize("attempt", [1, 2])
@virtual
async def test_the_request_end_of_an_abort_has_its_attempt_only_above_the_first(attempt):
    async with Rig(gap_s=1) as rig:
        rig.llm.script(*[[fail("timeout")]] * (attempt - 1), [text("a", "b", "c")])
        rig.when("partial_text:delta", rig.abort)
        await rig.run("go")
        ended = RequestEnd(status="aborted", attempt=attempt if attempt > 1 else None)
        assert rig.of(RequestEnd)[-1] == ended and "token_usage" not in rig.labels()


@virtual
async def test_an_abort_closes_segments_then_the_request_then_tools_in_call_order():
    async with Rig(gap_s=1) as rig:
        rig.llm.script([work("t1", say=["1\n"], **FOREVER), work("t2", say=["2"], **FOREVER), text("x", "y", "z")])
        ticket = rig.start("go")
        await passing(8.5)
        rig.abort()
        await ticket.result
        ending = rig.labels(partials=True)[-8:]
        output = ["partial_tool_call_output:delta", "partial_tool_call_output:stop", "tool_call_output"]
        assert ending == ["request_end:aborted", *output, *output, "abort"]
        assert rig.of(Text)[-1] == Text(role="assistant", text="xy", stop_reason="aborted")
        assert rig.of(ToolCallOutput) == [
            ToolCallOutput(tool_call_id="t1", output=f"1\n{INTERRUPTED}", stop_reason="aborted"),
            ToolCallOutput(tool_call_id="t2", output=f"2\n{INTERRUPTED}", stop_reason="aborted"),
        ]
        await passing(1)
        assert rig.tools.ended == ["t1", "t2"]


@virtual
async def test_an_interrupted_approval_has_no_decision_and_a_late_yes_runs_nothing():
    async with Rig(person=Person(delays={"t1": 5})) as rig:
        rig.llm.script([work("t1")], [text("ok")])
        rig.at(1, rig.abort)
        await rig.run("go")
        await passing(60)
        assert rig.person.withdrawn == ["t1"] and rig.tools.ran == []
        assert not rig.of(ApprovalDecision) and not rig.of(ToolCallOutput)
        await rig.run("next")
        assert rig.sent()[1:] == [("call", "t1"), ("output", "t1", INTERRUPTED), ("user", "next")]


@virtual
async def test_carry_over_of_a_committed_reply_pairs_every_call_in_call_order():
    async with Rig(person=Person(never={"t4"})) as rig:
        rig.llm.script(
            [text("do"), work("t1", **FOREVER), work("t2", unfit=1), work("t3", then=1), work("t4"), work("t5")],
            [text("ok")],
        )
        rig.at(2, rig.abort)
        await rig.run("go")
        assert rig.ids(ToolCallOutput) == ["t2", "t3", "t1"]
        await rig.run("next")
        assert rig.sent()[2:] == [
            *[("call", f"t{n}") for n in range(1, 6)],
            ("output", "t1", INTERRUPTED),
            ("output", "t2", "[tool error] the arguments do not fit"),
            ("output", "t3", "ok"),
            ("output", "t4", INTERRUPTED),
            ("output", "t5", INTERRUPTED),
            ("user", "next"),
        ]
        outputs = [one for one in rig.llm.requests[-1].input if isinstance(one, ToolCallOutput)]
        assert [one.stop_reason for one in outputs] == ["aborted", "failed", None, "aborted", "aborted"]


@virtual
async def test_carry_over_of_an_uncommitted_reply_is_one_block():
    async with Rig(gap_s=1) as rig:
        rig.llm.script([thinking("h", "m"), text("par", "tial", "!")], [text("ok")])
        rig.at(5.5, rig.abort)
        await rig.run("go", "on")
        assert rig.labels()[-4:] == ["thinking", "text", "request_end:aborted", "abort"]
        assert rig.of(Text)[-1] == Text(role="assistant", text="partial", stop_reason="aborted")
        assert rig.of(Thinking)[-1].stop_reason is None
        await rig.run("next")
        items = ["[user_input]go[/user_input]", "[user_input]on[/user_input]"]
        items += ["[thinking]hm[/thinking]", "[text]partial[/text]"]
        assert rig.sent() == [("user", block("turn_aborted", *items)), ("user", "next")]
        assert not any("turn_aborted" in str(one) for one in rig.traced())


@virtual
async def test_the_block_lists_calls_then_outputs_with_their_status():
    async with Rig(person=Person({"t4": DENY}, never={"t3"}), gap_s=1) as rig:
        reply = [call("nope", {}, "t1"), work("t4"), work("t2", say=["out"], **FOREVER), work("t3"), text("and", "so")]
        rig.llm.script(reply, [text("ok")])
        rig.when("partial_text:delta", rig.abort)
        await rig.run("go")
        await rig.run("next")
        assert rig.sent() == [
            (
                "user",
                block(
                    "turn_aborted",
                    "[user_input]go[/user_input]",
                    "[text]and[/text]",
                    '[tool_call name="nope" id="t1"]{}[/tool_call]',
                    '[tool_call name="work" id="t4"]{}[/tool_call]',
                    '[tool_call name="work" id="t2"]{"say": ["out"], "then": "inf"}[/tool_call]',
                    '[tool_call name="work" id="t3"]{}[/tool_call]',
                    '[tool_call_output id="t1" status="failed"]Unknown tool: nope[/tool_call_output]',
                    '[tool_call_output id="t4" status="aborted"]Tool call denied by user.[/tool_call_output]',
                    f'[tool_call_output id="t2" status="aborted"]out\n{INTERRUPTED}[/tool_call_output]',
                ),
            ),
            ("user", "next"),
        ]


@pytest.mark.parametrize("produced", [(), ("more", "!")])
@virtual
async def test_outputs_in_the_interrupted_input_stay_as_they_are(produced):
    async with Rig(gap_s=1) as rig:
        rig.llm.script([call("nope", {}, "t1")], [text(*produced, "x")], [text("ok")])
        rig.when("request_end:completed", lambda: rig.at(1.5 if produced else 0.5, rig.abort))
        await rig.run("go")
        assert rig.labels()[-1] == "abort"
        await rig.run("next")
        kept = [("user", block("turn_aborted", "[text]more[/text]"))] if produced else []
        answered = [("call", "t1"), ("output", "t1", "Unknown tool: nope")]
        assert rig.sent() == [("user", "go"), *answered, *kept, ("user", "next")]


@virtual
async def test_a_call_cut_in_its_arguments_is_closed_and_not_carried():
    async with Rig(gap_s=1) as rig:
        rig.llm.script([text("half"), torn("work", '{"cmd": "ec', "t1")], [text("ok")])
        rig.when("partial_tool_call:delta", rig.abort)
        await rig.run("go")
        assert rig.of(ToolCall)[0].stop_reason == "aborted" and not rig.person.asked
        await rig.run("next")
        items = ["[user_input]go[/user_input]", "[text]half[/text]"]
        assert rig.sent() == [("user", block("turn_aborted", *items)), ("user", "next")]


@virtual
async def test_closing_tags_in_a_body_are_escaped():
    async with Rig(gap_s=1) as rig:
        rig.llm.script([text("a[/text]\n[b]", "!")], [text("ok")])
        rig.at(1.5, rig.abort)
        await rig.run("x[/user_input] [/text] [y]")
        await rig.run("next")
        said = "[user_input]x[\\/user_input] [\\/text] [y][/user_input]"
        assert rig.sent()[0] == ("user", block("turn_aborted", said, "[text]a[\\/text]\n[b][/text]"))


@virtual
async def test_blocks_are_merged_and_never_nested():
    async with Rig(gap_s=1) as rig:
        for number, words in enumerate("abc"):
            rig.llm.script([text(words, "!")])
            rig.at(1.5, rig.abort)
            await rig.run(f"go {number}")
        rig.llm.script([text("ok")])
        await rig.run("next")
        items = [
            item for n, w in enumerate("abc") for item in (f"[user_input]go {n}[/user_input]", f"[text]{w}[/text]")
        ]
        assert rig.sent() == [("user", block("turn_aborted", *items)), ("user", "next")]


@virtual
async def test_a_retried_block_is_merged_into_the_aborted_one():
    async with Rig(gap_s=1) as rig:
        rig.llm.script([text("a"), fail("timeout")], [text("b", "!")], [text("ok")])
        rig.at(3.75, rig.abort)
        await rig.run("go")
        await rig.run("next")
        items = ["[user_input]go[/user_input]", "[text]a[/text]", "[text]b[/text]"]
        assert rig.sent() == [("user", block("turn_aborted", *items)), ("user", "next")]


@virtual
async def test_what_a_person_types_like_a_block_is_their_words():
    async with Rig(gap_s=1) as rig:
        typed = block("turn_aborted", "[text]b[/text]")
        rig.llm.script([text("a", "!")], [text("ok")])
        rig.at(1.5, rig.abort)
        await rig.run(typed)
        await rig.run("next")
        escaped = typed.replace("[/", "[\\/")
        assert rig.sent()[0][1] == block("turn_aborted", f"[user_input]{escaped}[/user_input]", "[text]a[/text]")


@pytest.mark.parametrize("words", [["look"], []])
@virtual
async def test_images_of_an_interrupted_input_are_kept(words):
    async with Rig(gap_s=1) as rig:
        rig.llm.script([text("never")], [text("ok")])
        rig.at(0.5, rig.abort)
        await rig.run(*words, ImageUrl(image_url=PIXEL))
        await rig.run("next")
        kept = [("user", block("turn_aborted", "[user_input]look[/user_input]"))] if words else []
        assert rig.sent() == [*kept, ("image", PIXEL), ("user", "next")]


@virtual
async def test_a_context_summary_stays_a_message_of_its_own():
    async with Rig(gap_s=1) as rig:
        summary = Text(role="user", text="[context_summary]\nbefore\n[/context_summary]", sender="harness")
        rig.llm.script([text("a", "!")], [text("ok")])
        rig.at(1.5, rig.abort)
        await rig.run(summary, "go")
        await rig.run("next")
        items = ["[user_input]go[/user_input]", "[text]a[/text]"]
        assert rig.sent() == [("user", summary.text), ("user", block("turn_aborted", *items)), ("user", "next")]


@virtual
async def test_an_abort_before_the_first_request_keeps_the_input_as_it_is():
    async with Rig() as rig:
        ticket = rig.start("go")
        rig.session.cancel(ticket)
        assert (await ticket.result).status == "aborted"
        assert rig.labels()[-1] == "abort" and not rig.llm.requests
        await rig.run("next")
        assert rig.sent() == [("user", "go"), ("user", "next")]


@virtual
async def test_an_abort_between_turns_keeps_call_output_and_steering():
    async with Rig() as rig:
        rig.llm.script([work("t1")], [text("ok")])
        rig.when("tool_call_output", lambda: rig.session.steer([Text(role="user", text="more")]))
        rig.when("tool_call_output", lambda: rig.when("text", rig.abort))
        assert (await rig.run("go")).status == "aborted"
        assert len(rig.llm.requests) == 1
        await rig.run("next")
        steered = ("user", "[user_steering]\nmore\n[/user_steering]")
        assert rig.sent() == [("user", "go"), ("call", "t1"), ("output", "t1", "ok"), steered, ("user", "next")]


@pytest.mark.parametrize("at", ["request_end:completed", "tool_call_output"])
@virtual
async def test_behind_an_abort_no_compaction_begins_and_no_steering_is_delivered(at):
    async with Rig(options=EngineOptions(max_context_length=1)) as rig:
        rig.llm.script([work("t1")], [text("[summary]so far[/summary]")])
        rig.when(at, lambda: rig.session.steer([Text(role="user", text="more")]))
        rig.when(at, rig.abort)
        result = await rig.run("go")
        assert (result.status, rig.labels()[-1], len(rig.llm.requests)) == ("aborted", "abort", 1)
        assert rig.of(Abort) == [Abort(reason="aborted by user")]
        assert not [one for one in rig.labels() if one.startswith("compaction")]
        assert "more" not in str(rig.traced())


@virtual
async def test_an_abort_that_comes_with_the_end_of_the_task_is_too_late_and_begins_nothing():
    async with Rig(options=EngineOptions(max_context_length=1)) as rig:
        rig.llm.script([text("done")], [text("[summary]so far[/summary]")])
        rig.when("request_end:completed", rig.abort)
        result = await rig.run("go")
        assert (result.status, rig.labels()[-1], len(rig.llm.requests)) == ("completed", "request_end:completed", 1)


@virtual
async def test_the_text_of_an_aborted_run_is_what_was_said():
    async with Rig(gap_s=1) as rig:
        rig.llm.script([text("par", "tial", "!")], [text("one"), work("a")], [text("two", "!")])
        rig.at(2.5, rig.abort)
        assert (await rig.run("go")).text == "partial"
