"""A context gives way to its summary, or to nothing: when, how, and what goes on afterwards."""

import pytest

from agent_lsp.engine.options import EngineOptions
from agent_lsp.messages import markers
from agent_lsp.messages.content import PartialText, PartialThinking, Text, ToolCallOutput
from agent_lsp.messages.events import Abort, CompactionBegin, CompactionEnd, RequestEnd, ToolListReady
from agent_lsp.providers.scripted import fail, finish, text, thinking, torn, usage
from tests.engine.harness import Rig, block, now_s, passing, said, virtual, work

PROMPT = "Sum up."
TOO_LONG = fail("failed", "too long", context_length=True)
SUMMARY = [text("[summary]", "so far", "[/summary]")]
CARRIED = ("user", "[context_summary]\nso far\n[/context_summary]")
FULL = usage(90, 10)
REPAIR = ("output", "c", markers.NOT_A_SUMMARY)
CORRECTION = (
    "user",
    "That was no summary. Call no tool now; answer with the summary alone, between [summary] and [/summary].",
)


def settings(**more):
    return EngineOptions(**{"max_context_length": 100, "compaction_prompt": PROMPT, **more})


def ends(rig):
    return [(one.reason, one.mode, one.status) for one in rig.of(CompactionEnd)]


# --- when -------------------------------------------------------------------------------------------------------------


@virtual
async def test_the_tokens_of_the_last_request_are_what_makes_it_due():
    async with Rig(options=settings()) as rig:
        rig.llm.script([text("one"), usage(89, 10)], [text("two"), FULL], SUMMARY)
        await rig.run("a")
        assert not ends(rig)
        await rig.run("b")
        assert ends(rig) == [("context", "summarize", "completed")]
        begin = rig.of(CompactionBegin)[0]
        assert (begin.context, begin.turns) == (100, 2)


@virtual
async def test_turns_count_across_tasks_and_from_the_last_compaction():
    async with Rig(options=settings(max_session_turns=2, max_context_length=-1)) as rig:
        rig.llm.script([text("1")], [text("2")], SUMMARY, [text("3")], [text("4")], SUMMARY)
        for words in "abcd":
            await rig.run(words)
        assert ends(rig) == [("turns", "summarize", "completed")] * 2
        assert [one.turns for one in rig.of(CompactionBegin)] == [2, 2]


@virtual
async def test_context_wins_over_turns():
    async with Rig(options=settings(max_session_turns=1)) as rig:
        rig.llm.script([text("1"), FULL], SUMMARY)
        await rig.run("a")
        assert ends(rig) == [("context", "summarize", "completed")]


@virtual
async def test_limits_of_zero_or_less_are_off():
    async with Rig(options=settings(max_context_length=0, max_session_turns=0)) as rig:
        rig.llm.script([text("1"), usage(10**9, 1)])
        await rig.run("a")
        assert not ends(rig) and rig.session.options.compaction_at is None


@pytest.mark.parametrize(
    ("window", "output", "limit", "at"),
    [
        (None, None, 100, 100),
        (10_000, None, 128_000, 7500),
        (200_000, 8000, 128_000, 128_000),
        (10_000, 100, 9000, 7952),
    ],
)
def test_a_models_window_less_room_for_a_reply_lowers_the_limit(window, output, limit, at):
    options = EngineOptions(context_window=window, max_output_tokens=output, max_context_length=limit)
    assert options.compaction_at == at


@virtual
async def test_a_mode_that_is_off_compacts_never_not_even_a_refused_request():
    async with Rig(options=settings(compaction_mode="off", max_session_turns=1)) as rig:
        rig.llm.script([text("1"), FULL], [TOO_LONG], [text("never")])
        await rig.run("a")
        result = await rig.run("b")
        assert (result.status, result.error_message) == ("failed", "llm request error: too long")
        assert rig.session.compactability() == "unsupported"
        assert (await rig.session.compact()).status == "completed" and not rig.of(CompactionBegin)


# --- summarize --------------------------------------------------------------------------------------------------------


@virtual
async def test_the_prompt_extends_the_old_context_with_the_same_prompt_and_tools():
    async with Rig(options=settings()) as rig:
        rig.llm.script([text("one"), FULL], SUMMARY)
        await rig.run("a")
        turn, compaction = rig.llm.requests
        assert (compaction.system, compaction.tools) == (turn.system, turn.tools)
        assert rig.sent(1) == [("user", "a"), ("assistant", "one"), ("user", PROMPT)]


@virtual
async def test_at_the_end_of_a_task_the_summary_waits_for_the_next_run():
    async with Rig(options=settings()) as rig:
        rig.llm.script([text("one"), FULL], SUMMARY, [text("two")])
        first = await rig.run("a")
        assert (first.status, first.text, first.turns) == ("completed", "one", 1) and first.usage.total == 115
        await rig.run("b")
        assert rig.sent(2) == [CARRIED, ("user", "b")]


@virtual
async def test_within_a_task_the_outputs_go_into_the_summary_and_the_task_goes_on_from_it_with_steering():
    async with Rig(options=settings()) as rig:
        rig.llm.script([work("a", out="found"), FULL], SUMMARY, [text("done")])
        rig.when("compaction_begin", lambda: rig.session.steer(said("hurry")))
        assert (await rig.run("go")).text == "done"
        assert rig.sent(1)[-2:] == [("output", "a", "found"), ("user", PROMPT)]
        assert rig.sent(2) == [CARRIED, ("user", markers.steering("hurry"))]


@virtual
async def test_the_client_hears_the_summary_and_the_usage_and_nothing_else_of_the_request():
    async with Rig(options=settings()) as rig:
        rig.llm.script([text("one"), FULL], [thinking("hm"), *SUMMARY])
        await rig.run("a")
        labels = rig.labels(partials=True)
        heard = labels[labels.index("compaction_begin") :]
        assert heard == [
            "compaction_begin",
            "partial_text:start",
            *["partial_text:delta"] * 3,
            "partial_text:stop",
            "text",
            "token_usage",
            "compaction_end",
            "tool_list_ready",
        ]
        assert not rig.of(PartialThinking) and len(rig.of(PartialText)) > 5
        traced = [one["type"] for one in rig.traced()]
        traced = traced[traced.index("compaction_begin") :]
        assert traced == [
            "compaction_begin",
            "text",
            "request_begin",
            "thinking",
            "text",
            "token_usage",
            "request_end",
            "compaction_end",
        ]


@virtual
async def test_the_trace_turns_over_at_the_next_write_and_begins_with_what_goes_on():
    async with Rig(options=settings()) as rig:
        rig.llm.script([text("one"), FULL], SUMMARY)
        await rig.run("a")
        assert rig.trace.contexts == [0]
        await rig.run("b")
        second = [one["type"] for one in rig.traced()[rig.trace.contexts[1] :]]
        assert second[:4] == ["session_meta", "tool_list_ready", "text", "run_begin"]
        assert len(rig.of(ToolListReady)) == 2, "the client is told for each context"


@pytest.mark.parametrize(
    ("reply", "summary"),
    [
        ("[summary]a[/summary] and [summary]b[/summary]", "a"),
        ("[summary] [/summary][summary]b[/summary]", "b"),
        ("x[summary] [/summary]y", "x y"),
        ("<summary>old</summary>", "old"),
        ("just words", "just words"),
        ("[summary]never closed", "[summary]never closed"),
    ],
)
@virtual
async def test_the_summary_is_the_first_pair_that_is_not_empty_else_the_rest_without_tags(reply, summary):
    async with Rig(options=settings()) as rig:
        rig.llm.script([text("one"), FULL], [text(reply)])
        await rig.run("a")
        assert [one.text for one in rig.ledger.request_input()] == [markers.context_summary(summary)]


@virtual
async def test_the_sessions_own_thinking_level_is_kept_for_a_compaction():
    async with Rig(options=settings()) as rig:
        rig.session.thinking_level = "high"
        rig.llm.script([text("one"), FULL], SUMMARY)
        await rig.session.run(said("a"), "low")
        assert [one.thinking_level for one in rig.llm.requests] == ["low", "high"]


# --- attempts ---------------------------------------------------------------------------------------------------------


@virtual
async def test_transport_failures_climb_the_same_ladder_with_the_same_request():
    async with Rig(options=settings()) as rig:
        rig.llm.script([text("one"), FULL], [text("half"), fail("timeout")], [fail("malformed")], SUMMARY)
        await rig.run("a")
        assert rig.sent(1) == rig.sent(2) == rig.sent(3) == [("user", "a"), ("assistant", "one"), ("user", PROMPT)]
        waits = [one["retry_in_ms"] for one in rig.traced() if one["type"] == "request_end" and "retry_in_ms" in one]
        assert waits == [250, 500] and rig.of(CompactionEnd)[0].attempt == 3
        assert "reconnecting" in rig.states() and rig.session.state.state == "idle"


@virtual
async def test_a_reply_that_calls_a_tool_is_repaired_and_corrected_and_the_tool_never_runs():
    async with Rig(options=settings()) as rig:
        rig.llm.script([work("a", out="found"), FULL], [text("hm"), work("c")], SUMMARY, [text("done")])
        assert (await rig.run("go")).status == "completed"
        assert rig.tools.ran == ["a"] and rig.person.asked == ["a"]
        assert rig.sent(2)[-5:] == [("assistant", "hm"), ("call", "c"), REPAIR, CORRECTION, ("user", PROMPT)]
        assert rig.ids(ToolCallOutput) == ["a"], "the client hears of neither call nor repair"
        assert rig.of(CompactionEnd)[0].attempt == 2 and rig.sent(3) == [CARRIED]


@virtual
async def test_an_empty_summary_is_a_failed_attempt_too():
    async with Rig(options=settings()) as rig:
        rig.llm.script([text("one"), FULL], [text("[summary] [/summary]")], SUMMARY)
        await rig.run("a")
        assert rig.sent(2)[-2:] == [CORRECTION, ("user", PROMPT)]
        assert rig.of(CompactionEnd)[0].attempt == 2


@virtual
async def test_the_usage_of_every_attempt_is_told_and_counts():
    async with Rig(options=settings()) as rig:
        rig.llm.script([text("one"), FULL], [work("c"), usage(3, 4)], [*SUMMARY, usage(5, 6)])
        result = await rig.run("a")
        assert result.usage.total == 100 + 7 + 11 == rig.session.usage.total and result.turns == 1
        assert rig.labels().count("token_usage") == 3


@virtual
async def test_a_spent_budget_keeps_the_old_context_and_the_next_trigger_tries_again():
    async with Rig(options=settings(max_retries=1)) as rig:
        rig.llm.script([text("one"), FULL], [fail("timeout")], [fail("failed", "no")], [text("two"), FULL], SUMMARY)
        assert (await rig.run("a")).status == "completed"
        end = rig.of(CompactionEnd)[0]
        assert (end.status, end.attempt, end.error_message) == ("failed", 2, "no")
        await rig.run("b")
        assert rig.sent(3) == [("user", "a"), ("assistant", "one"), ("user", "b")]
        assert [one[2] for one in ends(rig)] == ["failed", "completed"] and rig.trace.contexts == [0]


@virtual
async def test_a_task_goes_on_in_the_old_context_with_the_outputs_that_were_not_taken_in():
    async with Rig(options=settings(max_retries=0)) as rig:
        rig.llm.script([work("a", out="found"), FULL], [fail("timeout")], [text("done")])
        assert (await rig.run("go")).text == "done"
        assert rig.sent(2) == [("user", "go"), ("call", "a"), ("output", "a", "found")]


@virtual
async def test_a_task_goes_on_with_its_repairs_first_and_outputs_are_never_sent_twice():
    async with Rig(options=settings(max_retries=0)) as rig:
        rig.llm.script([work("a", out="found"), FULL], [work("c")], [text("done")])
        rig.when("compaction_begin", lambda: rig.session.steer(said("hurry")))
        assert (await rig.run("go")).text == "done"
        assert rig.sent(2)[-3:] == [("call", "c"), REPAIR, ("user", markers.steering("hurry"))]
        assert rig.sent(2).count(("output", "a", "found")) == 1


@virtual
async def test_a_task_that_has_nothing_left_to_send_is_told_to_go_on():
    async with Rig(options=settings(max_retries=0)) as rig:
        rig.llm.script([work("a", out="found"), FULL], [text("[summary][/summary]")], [text("done")])
        assert (await rig.run("go")).text == "done"
        assert rig.sent(2)[-1] == ("user", "Go on.") and rig.of(Text)[-2].sender == "harness"


@virtual
async def test_repairs_of_a_failed_compaction_at_a_tasks_end_come_before_the_next_prompt():
    async with Rig(options=settings(max_retries=0)) as rig:
        rig.llm.script([text("one"), FULL], [work("c")], [text("two")])
        await rig.run("a")
        await rig.run("b")
        assert rig.sent(2)[-3:] == [("call", "c"), REPAIR, ("user", "b")]


@virtual
async def test_a_refused_credential_stops_at_once():
    async with Rig(options=settings()) as rig:
        rig.llm.script([text("one"), FULL], [fail("auth", "no key")], [text("never")])
        assert (await rig.run("a")).status == "completed"
        assert ends(rig) == [("context", "summarize", "auth")] and len(rig.llm.requests) == 2


@virtual
async def test_a_compaction_that_is_itself_too_long_is_made_again_with_shorter_outputs_at_most_three_times():
    async with Rig(options=settings(max_retries=0)) as rig:
        rig.llm.script([work("a", out="x" * 9000), FULL], *[[TOO_LONG]] * 4, [text("done")])
        assert (await rig.run("go")).text == "done"
        lengths = [len(request.input[0].output) for request in rig.llm.requests[1:5]]
        assert lengths[0] == 9000 and [one // 100 * 100 for one in lengths[1:]] == [4000, 1000, 200]
        assert ends(rig) == [("context", "summarize", "failed")]
        assert rig.sent(5)[-1] == ("output", "a", "x" * 9000), "what goes on is whole"


@virtual
async def test_retry_now_ends_the_wait_of_a_compaction():
    async with Rig(options=settings(retry_base_ms=60_000, retry_cap_ms=60_000)) as rig:
        rig.llm.script([text("one"), FULL], [fail("timeout")], SUMMARY)
        ticket = rig.start("a")
        await passing(1)
        assert rig.session.state.state == "reconnecting" and rig.session.retry_now()
        assert (await ticket.result).status == "completed" and now_s() < 2 and not rig.session.retry_now()


# --- a request that was refused as too long ---------------------------------------------------------------------------


@virtual
async def test_a_refused_request_is_made_again_once_in_the_compacted_context():
    async with Rig(options=settings()) as rig:
        rig.llm.script([text("one")], [TOO_LONG], SUMMARY, [text("two")])
        await rig.run("a")
        result = await rig.run("b")
        assert (result.status, result.text) == ("completed", "two")
        refusal = [one for one in rig.of(RequestEnd) if one.status == "failed"]
        assert [(one.attempt, one.retry_in_ms) for one in refusal] == [(1, None)]
        assert rig.sent(2) == [("user", "a"), ("assistant", "one"), ("user", PROMPT)], "without what was refused"
        assert rig.sent(3) == [CARRIED, ("user", "b")] and ends(rig)[0][0] == "context"


@virtual
async def test_a_second_refusal_ends_the_run():
    async with Rig(options=settings()) as rig:
        rig.llm.script([text("one")], [TOO_LONG], SUMMARY, [TOO_LONG], [text("never")])
        await rig.run("a")
        result = await rig.run("b")
        assert (result.status, result.error_message) == ("failed", "llm request error: too long")
        assert len(rig.llm.requests) == 4 and rig.of(Abort)


@virtual
async def test_without_anything_to_compact_a_refusal_ends_the_run_at_once():
    async with Rig(options=settings()) as rig:
        rig.llm.script([TOO_LONG], [text("never")])
        assert (await rig.run("a")).status == "failed"
        assert len(rig.llm.requests) == 1 and not rig.of(CompactionBegin)


@virtual
async def test_a_refusal_drops_the_context_at_once_in_mode_discard_and_the_tasks_input_goes_on():
    async with Rig(options=settings(compaction_mode="discard")) as rig:
        rig.llm.script([text("one")], [TOO_LONG], [text("two")])
        await rig.run("a")
        assert (await rig.run("b")).text == "two"
        assert rig.sent(2) == [("user", "b")] and ends(rig) == [("context", "discard", "completed")]


@virtual
async def test_a_refusal_whose_compaction_fails_carries_its_input_over():
    async with Rig(options=settings(max_retries=0)) as rig:
        rig.llm.script([text("one")], [TOO_LONG], [fail("timeout")])
        await rig.run("a")
        assert (await rig.run("b")).status == "failed"
        await rig.run("c")
        assert rig.sent(-1)[-2:] == [("user", "b"), ("user", "c")]


@virtual
async def test_carried_over_outputs_of_a_refused_request_stay_with_their_calls():
    async with Rig(options=settings(max_retries=0)) as rig:
        rig.llm.script([work("a", out="found")], [fail("timeout")], [TOO_LONG], SUMMARY, [text("two")])
        await rig.run("a")
        assert (await rig.run("b")).text == "two"
        assert rig.sent(3) == [("user", "a"), ("call", "a"), ("output", "a", "found"), ("user", PROMPT)]
        assert rig.sent(4) == [CARRIED, ("user", "b")]


@virtual
async def test_a_call_of_the_refused_request_is_waited_for_before_the_compaction():
    async with Rig(options=settings(), gap_s=0.1) as rig:
        rig.llm.script([text("one")], [work("a", then=5, out="late"), TOO_LONG], SUMMARY, [text("two")])
        await rig.run("a")
        assert (await rig.run("b")).text == "two"
        labels = rig.labels()
        assert labels.index("tool_call_output") < labels.index("compaction_begin")
        assert 'status="completed"]late' in rig.sent(3)[-1][1]


# --- discard ----------------------------------------------------------------------------------------------------------


@virtual
async def test_discard_makes_no_request_and_leaves_an_empty_context():
    async with Rig(options=settings(compaction_mode="discard")) as rig:
        rig.llm.script([text("one"), FULL])
        await rig.run("a")
        assert rig.labels()[-3:-1] == ["compaction_begin", "compaction_end"] and len(rig.llm.requests) == 1
        await rig.run("b")
        assert rig.sent(1) == [("user", "b")]


@pytest.mark.parametrize("what", ["outputs", "steering", "a cut call"])
@virtual
async def test_discard_within_a_task_waits_for_its_end(what):
    async with Rig(options=settings(compaction_mode="discard")) as rig:
        first = {
            "outputs": [work("a"), FULL],
            "steering": [text("one"), FULL],
            "a cut call": [text("one"), torn("work", "{"), finish("length"), FULL],
        }[what]
        if what == "steering":
            rig.when("token_usage", lambda: rig.session.steer(said("more")))
        rig.llm.script(first, [text("done"), FULL])
        await rig.run("go")
        assert rig.sent(1)[0] == ("user", "go"), "the context is still there"
        assert rig.labels().index("compaction_begin") > rig.labels().index("request_begin", 3) and len(ends(rig)) == 1


# --- by hand ----------------------------------------------------------------------------------------------------------


@virtual
async def test_compactability_says_what_a_compaction_by_hand_would_do():
    async with Rig(options=settings()) as rig:
        assert rig.session.compactability() == "empty"
        assert (await rig.session.compact()).status == "completed" and not rig.screen.messages
        await rig.run("a")
        assert rig.session.compactability() == "ok"
        rig.llm.script(SUMMARY)
        assert (await rig.session.compact()).status == "completed"
        assert rig.session.compactability() == "just_compacted"
        await rig.run("b")
        await rig.session.compact("discard")
        assert rig.session.compactability() == "just_compacted"
        assert [one[:2] for one in ends(rig)] == [("manual", "summarize"), ("manual", "discard")]


@virtual
async def test_a_seeded_context_can_be_compacted_and_then_is_just_compacted():
    async with Rig(options=settings()) as rig:
        rig.session.seed([Text(role="user", text="hi"), Text(role="assistant", text="ho")])
        assert rig.session.compactability() == "ok"
        await rig.session.compact("discard")
        assert rig.session.compactability() == "just_compacted"


@virtual
async def test_a_compaction_by_hand_takes_the_carry_over_in():
    async with Rig(options=settings()) as rig:
        rig.llm.script([text("one")], [text("half"), work("x", then="inf")], SUMMARY, [text("three")])
        await rig.run("a")
        rig.when("tool_call:work", lambda: rig.at(1, rig.abort))
        await rig.run("b")
        assert (await rig.session.compact()).status == "completed"
        assert rig.sent(2)[-2:] == [("output", "x", markers.INTERRUPTED), ("user", PROMPT)]
        await rig.run("c")
        assert rig.sent(3) == [CARRIED, ("user", "c")]


@virtual
async def test_a_compaction_by_hand_that_commits_nothing_gives_the_carry_over_back_as_it_was():
    async with Rig(options=settings(max_retries=0)) as rig:
        rig.llm.script([text("one")], [text("half"), fail("timeout")], [text("junk"), fail("timeout")], [text("two")])
        await rig.run("a")
        await rig.run("b")
        before = rig.ledger.request_input()
        result = await rig.session.compact()
        assert (result.status, rig.ledger.request_input()) == ("failed", before)
        await rig.run("c")
        assert rig.sent(-1)[-3:] == [("user", "b"), ("user", block("turn_retried", "[text]half[/text]")), ("user", "c")]


@virtual
async def test_an_abort_of_a_compaction_by_hand_is_its_result_and_no_abort_is_said():
    async with Rig(options=settings(), gap_s=0.1) as rig:
        rig.llm.script([text("one")], SUMMARY)
        await rig.run("a")
        ticket = rig.session.start_compaction()
        rig.when("partial_text:start", ticket.interrupt.fire)
        assert (await ticket.result).status == "aborted"
        assert rig.labels()[-1] == "compaction_end" and not rig.of(Abort)
        assert rig.session.compactability() == "ok" and rig.session.state.state == "idle"


@virtual
async def test_the_prompt_of_a_compaction_is_never_taken_for_input():
    async with Rig(options=settings(max_retries=0)) as rig:
        rig.llm.script([text("one"), FULL], [fail("timeout")], [text("two")])
        await rig.run("a")
        await rig.run("b")
        assert ("user", PROMPT) not in rig.sent(2)


# --- interrupted ------------------------------------------------------------------------------------------------------


@virtual
async def test_an_abort_within_a_task_ends_compaction_and_run_and_the_outputs_are_carried_over():
    async with Rig(options=settings()) as rig:
        rig.llm.script([work("a", out="found"), FULL], SUMMARY)
        rig.when("compaction_begin", rig.abort)
        assert (await rig.run("go")).status == "aborted"
        assert rig.labels()[-2:] == ["compaction_end", "abort"]
        assert rig.of(Abort)[0].reason == "aborted during compaction"
        await rig.run("next")
        assert rig.sent(-1)[-2:] == [("output", "a", "found"), ("user", "next")]


@virtual
async def test_an_abort_at_the_end_of_a_task_ends_the_compaction_alone():
    async with Rig(options=settings()) as rig:
        rig.llm.script([text("one"), FULL], SUMMARY)
        rig.when("compaction_begin", rig.abort)
        assert (await rig.run("go")).status == "completed"
        assert rig.labels()[-1] == "compaction_end" and ends(rig)[0][2] == "aborted"


@pytest.mark.parametrize("what", ["steering", "a cut call"])
@virtual
async def test_a_task_that_would_go_on_is_not_at_its_end_and_its_abort_is_one(what):
    async with Rig(options=settings(), gap_s=0.1) as rig:
        cut = [torn("work", "{"), finish("length")] if what == "a cut call" else []
        if what == "steering":
            rig.when("compaction_begin", lambda: rig.session.steer(said("more")))
        rig.llm.script([text("one"), *cut, FULL], SUMMARY)
        rig.when("compaction_begin", lambda: rig.when("partial_text:start", rig.abort))
        result = await rig.run("go")
        assert (result.status, rig.labels()[-2:]) == ("aborted", ["compaction_end", "abort"])


@virtual
async def test_an_abort_of_the_compaction_that_a_refusal_called_for_keeps_the_input():
    async with Rig(options=settings()) as rig:
        rig.llm.script([text("one")], [TOO_LONG], SUMMARY)
        await rig.run("a")
        rig.when("compaction_begin", rig.abort)
        assert (await rig.run("b")).status == "aborted"
        assert rig.of(Abort)[0].reason == "aborted during compaction"
        await rig.run("c")
        assert rig.sent(-1)[-2:] == [("user", "b"), ("user", "c")]


@virtual
async def test_an_abort_in_the_wait_between_two_attempts_is_an_abort_of_the_compaction():
    async with Rig(options=settings()) as rig:
        rig.llm.script([work("a"), FULL], [fail("timeout")])
        rig.at(0.1, rig.abort)
        result = await rig.run("go")
        assert (result.status, ends(rig)[0][2]) == ("aborted", "aborted")


@virtual
async def test_the_state_is_compacting_meanwhile():
    async with Rig(options=settings()) as rig:
        rig.llm.script([work("a"), FULL], SUMMARY, [text("done")])
        await rig.run("go")
        assert [one for one in rig.states() if one != "waiting_approval"][-4:] == [
            "running",
            "compacting",
            "running",
            "idle",
        ]
