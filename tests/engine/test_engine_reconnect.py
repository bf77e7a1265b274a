"""Reconnecting: which failures are tried again, when, with what, and how it ends."""

import pytest

from agent_lsp.engine.backoff import Ladder
from agent_lsp.engine.options import EngineOptions
from agent_lsp.engine.ports import Outcome
from agent_lsp.messages.content import ImageUrl, Text, ToolCall
from agent_lsp.messages.events import Abort, ApprovalDecision, RequestEnd
from agent_lsp.providers.scripted import call, fail, text, thinking, torn
from tests.engine.harness import DENY, PIXEL, Person, Rig, block, passing, virtual, work

BUSY = [fail("timeout", "busy")]


def ladder(rig):
    return [(one.status, one.attempt, one.retry_in_ms) for one in rig.of(RequestEnd)]


def begun_at(rig):
    return [
        at for at, label in zip(rig.screen.at_s, rig.labels(partials=True), strict=True) if label == "request_begin"
    ]


def test_the_wait_doubles_up_to_its_cap():
    ladder = Ladder(max_retries=10, base_ms=250, cap_ms=30_000)
    waits = [ladder.wait_ms(attempt, Outcome("timeout")) for attempt in range(1, 12)]
    assert waits == [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, None]


@virtual
async def test_the_default_ladder_and_the_real_waits_are_the_announced_ones():
    async with Rig() as rig:
        rig.llm.script(*[BUSY] * 6)
        result = await rig.run("go")
        waits = [250, 500, 1000, 2000, 4000]
        assert ladder(rig) == [("timeout", n + 1, wait) for n, wait in enumerate([*waits, None])]
        assert begun_at(rig) == pytest.approx([0, 0.25, 0.75, 1.75, 3.75, 7.75])
        assert (result.status, result.error_message) == ("timeout", "reconnect failed after 5 retries: busy")
        assert rig.labels()[-2:] == ["request_end:timeout", "abort"]
        assert rig.of(Abort) == [Abort(reason="reconnect failed after 5 retries")]


@virtual
async def test_a_success_after_failures_has_its_attempt():
    async with Rig() as rig:
        rig.llm.script(BUSY, BUSY, [text("ok")])
        await rig.run("go")
        assert ladder(rig) == [("timeout", 1, 250), ("timeout", 2, 500), ("completed", 3, None)]
        failed, _, completed = rig.of(RequestEnd)
        assert (failed.error_message, failed.finish) == ("busy", None)
        assert (completed.error_message, completed.finish) == (None, "stop")


@pytest.mark.parametrize("status", ["timeout", "malformed", "failed"])
@virtual
async def test_every_failure_has_an_error_message(status):
    async with Rig() as rig:
        rig.llm.script([fail(status, None)], [text("ok")])
        assert (await rig.run("go")).status == "completed"
        assert rig.of(RequestEnd)[0].error_message


@pytest.mark.parametrize(("asked_ms", "wait_ms"), [(1000, 1000), (100, 250), (0, 250), (60_000, 60_000)])
@virtual
async def test_a_longer_retry_after_replaces_the_wait(asked_ms, wait_ms):
    async with Rig() as rig:
        rig.llm.script([fail("timeout", "slow down", retry_after_ms=asked_ms)], [text("ok")])
        await rig.run("go")
        assert ladder(rig)[0] == ("timeout", 1, wait_ms)
        assert begun_at(rig)[1] == pytest.approx(wait_ms / 1000)


@virtual
async def test_a_retry_after_above_a_minute_ends_the_run():
    async with Rig() as rig:
        rig.llm.script([fail("timeout", "slow down", retry_after_ms=600_000)], [text("ok")])
        result = await rig.run("go")
        reason = "llm request error: the provider asks to wait 600 s"
        assert (result.status, result.error_message) == ("timeout", reason)
        assert ladder(rig) == [("timeout", 1, None)] and rig.of(Abort)[0].reason == reason
        await rig.run("next")
        assert rig.sent() == [("user", "go"), ("user", "next")]


@virtual
async def test_auth_ends_at_once_and_the_state_says_so():
    async with Rig() as rig:
        rig.llm.script(
            [text("half"), fail("timeout")], [fail("auth", "wrong key", retry_after_ms=90_000)], [text("ok")]
        )
        result = await rig.run("go")
        assert (result.status, result.error_message) == ("auth", "llm request error: wrong key")
        assert ladder(rig) == [("timeout", 1, 250), ("auth", 2, None)]
        assert rig.labels()[-1] == "abort" and rig.session.state.state == "auth_required"
        assert rig.session.state.hint == "llm request error: wrong key"
        rig.session.credential_changed()
        assert rig.session.state.state == "idle"
        await rig.run("next")
        assert rig.sent() == [("user", "go"), ("user", block("turn_retried", "[text]half[/text]")), ("user", "next")]


@pytest.mark.parametrize("kind", ["permanent", "context_length"])
@virtual
async def test_what_can_never_succeed_ends_at_once(kind):
    async with Rig() as rig:
        rig.llm.script([fail("failed", "no such model", **{kind: True})], [text("ok")])
        result = await rig.run("go")
        assert (result.status, result.error_message) == ("failed", "llm request error: no such model")
        assert ladder(rig) == [("failed", 1, None)] and rig.of(Abort)[0].reason == "llm request error: no such model"
        await rig.run("next")
        assert rig.sent() == [("user", "go"), ("user", "next")]


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (BUSY, "reconnect failed after 2 retries"),
        ([text("x"), fail("malformed")], "malformed response failed after 2 retries"),
        ([fail("failed", "no good")], "llm request failed after 2 retries: no good"),
    ],
)
@virtual
async def test_exhaustion_has_its_reason_and_carries_the_retry_input(last, reason):
    async with Rig(options=EngineOptions(max_retries=2)) as rig:
        rig.llm.script([text("one"), fail("timeout")], [text("two"), fail("timeout")], last, [text("ok")])
        result = await rig.run("go")
        assert (result.status, result.turns) == (last[-1].status, 0)
        assert result.error_message.startswith(reason) and result.error_message.endswith(last[-1].message)
        assert rig.of(Abort) == [Abort(reason=reason)] and rig.labels()[-1] == "abort"
        await rig.run("next")
        items = ["[text]one[/text]", "[text]two[/text]", *(["[text]x[/text]"] if len(last) > 1 else [])]
        assert rig.sent() == [("user", "go"), ("user", block("turn_retried", *items)), ("user", "next")]


@virtual
async def test_the_budget_is_one_turns():
    async with Rig(options=EngineOptions(max_retries=2)) as rig:
        rig.llm.script(BUSY, BUSY, [work("a")], BUSY, [text("a"), fail("malformed")], [text("ok")])
        result = await rig.run("go")
        assert (result.status, result.turns) == ("completed", 2)
        assert [one.attempt for one in rig.of(RequestEnd)] == [1, 2, 3, 1, 2, 3]


@virtual
async def test_no_retries_means_one_attempt():
    async with Rig(options=EngineOptions(max_retries=0)) as rig:
        rig.llm.script(BUSY)
        assert (await rig.run("go")).error_message == "reconnect failed after 0 retries: busy"
        assert ladder(rig) == [("timeout", 1, None)]


@virtual
async def test_retry_now_ends_the_wait_and_keeps_the_count():
    async with Rig(options=EngineOptions(retry_base_ms=20_000)) as rig:
        rig.llm.script(BUSY, BUSY, [text("ok")])
        skipped = []
        rig.at(1, lambda: skipped.extend([rig.session.retry_now(), rig.session.retry_now()]))
        await rig.run("go")
        assert skipped == [True, False]
        assert [one.attempt for one in rig.of(RequestEnd)] == [1, 2, 3]
        assert begun_at(rig) == pytest.approx([0, 1, 31])


@virtual
async def test_retry_now_is_false_when_nothing_waits():
    async with Rig(gap_s=1) as rig:
        assert rig.session.retry_now() is False
        ticket = rig.start("go")
        await passing(0.5)
        assert rig.session.retry_now() is False
        await ticket.result
        assert rig.session.retry_now() is False


@virtual
async def test_the_state_tells_of_the_wait():
    async with Rig() as rig:
        rig.llm.script(BUSY, [text("ok")])
        await rig.run("go")
        assert rig.states() == ["running", "reconnecting", "running", "idle"]
        assert (rig.screen.states[1].attempt, rig.screen.states[1].retry_in_ms) == (1, 250)
        assert rig.screen.states[2].attempt is rig.screen.states[2].retry_in_ms is None


@virtual
async def test_a_request_without_product_is_sent_again_as_it_was():
    async with Rig() as rig:
        rig.llm.script(BUSY, BUSY, [text("ok")])
        await rig.run("look", ImageUrl(image_url=PIXEL))
        assert rig.sent(0) == rig.sent(1) == rig.sent(2) == [("user", "look"), ("image", PIXEL)]


@virtual
async def test_the_retried_block_holds_what_all_attempts_produced():
    async with Rig() as rig:
        rig.llm.script(
            [thinking("a"), text("b"), fail("timeout")],
            BUSY,
            [text("c"), call("nope", {}, "t1"), text("d"), fail("failed")],
            [text("ok")],
        )
        await rig.run("go")
        first = ["[thinking]a[/thinking]", "[text]b[/text]"]
        assert rig.sent(1) == rig.sent(2) == [("user", "go"), ("user", block("turn_retried", *first))]
        assert rig.sent(3) == [
            ("user", "go"),
            (
                "user",
                block(
                    "turn_retried",
                    *first,
                    "[text]c[/text]",
                    "[text]d[/text]",
                    '[tool_call name="nope" id="t1"]{}[/tool_call]',
                    '[tool_call_output id="t1" status="failed"]Unknown tool: nope[/tool_call_output]',
                ),
            ),
        ]
        assert not any("turn_retried" in str(one) for one in rig.traced())


@virtual
async def test_blank_thinking_and_text_are_nothing_produced():
    async with Rig() as rig:
        rig.llm.script([thinking(""), text(" \n"), fail("timeout")], [text("ok")])
        await rig.run("go")
        assert rig.sent() == [("user", "go")]


@virtual
async def test_open_segments_are_closed_with_the_status_of_their_attempt():
    async with Rig() as rig:
        rig.llm.script([text("par", "tial"), torn("work", '{"cmd": "ec', "t1"), fail("malformed")], [text("ok")])
        rig.llm.script([text("x"), fail("timeout")], [text("ok")])
        await rig.run("go")
        await rig.run("next")
        assert [(one.text, one.stop_reason) for one in rig.of(Text)] == [
            ("partial", None),
            ("ok", None),
            ("x", "timeout"),
            ("ok", None),
        ]
        (called,) = rig.of(ToolCall)
        assert (called.arguments, called.stop_reason) == ('{"cmd": "ec', "malformed")


@virtual
async def test_a_call_cut_in_its_arguments_is_neither_approved_nor_listed():
    async with Rig() as rig:
        rig.llm.script([text("half"), torn("work", '{"cmd": "ec', "t1"), fail("timeout")], [text("ok")])
        await rig.run("go")
        assert not rig.person.asked and not rig.of(ApprovalDecision)
        assert rig.sent() == [("user", "go"), ("user", block("turn_retried", "[text]half[/text]"))]


@virtual
async def test_a_tool_of_a_failed_attempt_is_waited_for_and_not_run_again():
    async with Rig(gap_s=0.5) as rig:
        rig.llm.script([work("t1", say=["out"], gap=7), fail("timeout")], [text("ok")])
        await rig.run("go")
        assert rig.tools.ran == ["t1"] and begun_at(rig) == pytest.approx([0, 8.5])
        assert ladder(rig)[0] == ("timeout", 1, 250)
        arguments = '{"say": ["out"], "gap": 7}'
        assert rig.sent()[-1] == (
            "user",
            block(
                "turn_retried",
                f'[tool_call name="work" id="t1"]{arguments}[/tool_call]',
                '[tool_call_output id="t1" status="completed"]out[/tool_call_output]',
            ),
        )


@virtual
async def test_a_running_tool_counts_into_the_announced_wait():
    async with Rig(options=EngineOptions(retry_base_ms=3000), gap_s=0.5) as rig:
        rig.llm.script([work("t1", then=2.5), fail("timeout")], [text("ok")])
        await rig.run("go")
        assert begun_at(rig) == pytest.approx([0, 5]) and rig.tools.ran == ["t1"]


@virtual
async def test_a_pending_approval_of_a_failed_attempt_is_withdrawn_and_its_call_listed_without_output():
    async with Rig(person=Person(never={"t1"}), gap_s=1) as rig:
        rig.llm.script([work("t1"), text("."), fail("timeout")], [text("ok")])
        await rig.run("go")
        assert rig.person.withdrawn == ["t1"] and rig.tools.ran == []
        assert not rig.of(ApprovalDecision) and "tool_call_output" not in rig.labels()
        assert rig.sent()[-1][1] == block(
            "turn_retried", "[text].[/text]", '[tool_call name="work" id="t1"]{}[/tool_call]'
        )


@virtual
async def test_a_denied_call_of_a_failed_attempt_is_listed_with_its_denial():
    async with Rig(person=Person({"t1": DENY}), gap_s=1) as rig:
        rig.llm.script([work("t1"), text("."), fail("timeout")], [text("ok")])
        await rig.run("go")
        assert rig.sent()[-1][1] == block(
            "turn_retried",
            "[text].[/text]",
            '[tool_call name="work" id="t1"]{}[/tool_call]',
            '[tool_call_output id="t1" status="aborted"]Tool call denied by user.[/tool_call_output]',
        )


@virtual
async def test_an_abort_in_the_wait_carries_the_retry_input():
    async with Rig(options=EngineOptions(retry_base_ms=20_000)) as rig:
        rig.llm.script([text("half"), fail("timeout")], [text("ok")])
        rig.at(3, rig.abort)
        assert (await rig.run("go")).status == "aborted"
        assert rig.labels()[-2:] == ["request_end:timeout", "abort"] and rig.screen.at_s[-1] == 3
        assert rig.of(Abort) == [Abort(reason="aborted during reconnect backoff")]
        await rig.run("next")
        assert rig.sent() == [("user", "go"), ("user", block("turn_retried", "[text]half[/text]")), ("user", "next")]


@virtual
async def test_an_abort_while_a_failed_attempts_tool_still_runs_carries_its_output():
    async with Rig(gap_s=0.5) as rig:
        rig.llm.script([work("t1", say=["out\n"], then="inf"), fail("timeout")], [text("ok")])
        rig.at(3, rig.abort)
        assert (await rig.run("go")).status == "aborted"
        assert rig.labels()[-2:] == ["tool_call_output", "abort"]
        await rig.run("next")
        (first, note, last) = rig.sent()
        assert (first, last) == (("user", "go"), ("user", "next"))
        assert note[1].startswith('[turn_retried]\n  [tool_call name="work" id="t1"]')
        ended = '[tool_call_output id="t1" status="aborted"]out\n[interrupted: tool aborted by user][/tool_call_output]'
        assert ended in note[1]


@virtual
async def test_steering_in_a_wait_comes_after_the_turn():
    async with Rig(options=EngineOptions(retry_base_ms=20_000)) as rig:
        rig.llm.script(BUSY, [text("one")], [text("two")])
        rig.at(1, lambda: rig.session.steer([Text(role="user", text="more")]))
        assert (await rig.run("go")).text == "two"
        assert rig.sent(1) == [("user", "go")]
        assert rig.sent(2)[2:] == [("user", "[user_steering]\nmore\n[/user_steering]")]
