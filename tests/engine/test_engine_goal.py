"""Goal mode: rounds on one objective, and what ends them."""

import pytest

from agent_lsp.engine.account import GoalResult
from agent_lsp.engine.goal import MOST_ROUNDS, Goal
from agent_lsp.engine.options import EngineOptions
from agent_lsp.engine.ports import Ports
from agent_lsp.engine.session import Session
from agent_lsp.messages.content import ImageUrl, Text
from agent_lsp.messages.events import Abort, GoalFinished, GoalRound, RunBegin, TokenCounts
from agent_lsp.providers.scripted import Scripted, fail, text, usage
from tests.engine.harness import META, PIXEL, Lines, Rig, Screen, Shelf, Tools, said, virtual, work


def goal_blocks(rig):
    return [one.text for one in rig.of(Text) if one.text.startswith("[goal]\n") and one.text.endswith("\n[/goal]")]


@virtual
async def test_rounds_follow_each_other_until_the_file_says_complete():
    async with Rig() as rig:
        rig.slate.later = ["active", "complete"]
        rig.llm.script([text("one")], [text("two")])
        result = await rig.pursue("make it so")
        assert (result.status, result.text, result.turns) == ("completed", "two", 2)
        assert result.goal == GoalResult("complete", 2, 30)
        assert [one.round for one in rig.of(GoalRound)] == [1, 2]
        assert rig.labels()[-1] == "goal_finished"


@pytest.mark.parametrize("status", ["blocked", None], ids=["blocked", "missing or broken"])
@virtual
async def test_a_blocked_or_broken_file_ends_the_goal_as_blocked(status):
    async with Rig() as rig:
        rig.slate.now = status
        assert (await rig.pursue("x")).goal == GoalResult("blocked", 1, 15)


@virtual
async def test_each_round_begins_with_a_goal_block_and_then_the_objective():
    async with Rig() as rig:
        rig.slate.later = ["active", "complete"]
        await rig.pursue("make it so", "please")
        for number, request in enumerate(rig.llm.requests, 1):
            block, *objective = request.input
            assert block.text.startswith(f"[goal]\nRound {number} of") and block.text.endswith("[/goal]")
            assert block.sender == "harness" and "/pad/GOAL.yaml" in block.text
            assert [one.text for one in objective] == ["make it so", "please"]


@virtual
async def test_the_block_tells_the_budget_used_and_left():
    async with Rig() as rig:
        rig.slate.later = ["active", "complete"]
        rig.llm.script([text("one"), usage(100, 20, 30)])
        await rig.pursue("x", budget=500)
        first, second = goal_blocks(rig)
        assert "0 of 500 (500 left)" in first and "120 of 500 (380 left)" in second


@virtual
async def test_the_file_is_made_once_with_the_objective():
    async with Rig() as rig:
        rig.slate.later = ["active", "active", "complete"]
        await rig.pursue("first", "second")
        assert rig.slate.objectives == ["first\n\nsecond"]


@virtual
async def test_tokens_read_from_a_cache_cost_nothing():
    async with Rig() as rig:
        rig.slate.now = "complete"
        rig.llm.script([text("one"), usage(100, 20, 30)])
        result = await rig.pursue("x")
        assert result.goal.used == 120 and result.usage.total == 150


@virtual
async def test_every_request_counts_those_of_a_compaction_and_of_children_too():
    async with Rig(options=EngineOptions(max_context_length=20)) as rig:
        rig.slate.now = "complete"
        rig.when("text", lambda: rig.session.add_child_usage(TokenCounts(cache_read=1, output=7, total=8)))
        rig.llm.script([text("one"), usage(20, 5)], [text("[summary]s[/summary]"), usage(30, 3)])
        result = await rig.pursue("x")
        assert result.goal.used == 25 + 33 + 7 and result.usage.total == 25 + 33


@virtual
async def test_what_was_used_before_the_goal_does_not_count():
    async with Rig() as rig:
        await rig.run("before")
        rig.slate.now = "complete"
        assert (await rig.pursue("x", budget=10)).goal == GoalResult("complete", 1, 15)


@virtual
async def test_a_spent_budget_is_followed_by_one_round_to_wrap_up():
    async with Rig() as rig:
        rig.llm.script([text("one")], [text("to sum up")], [text("never")])
        result = await rig.pursue("x", budget=15)
        assert result.goal == GoalResult("budget_limited", 2, 30) and result.text == "to sum up"
        assert "last round" in goal_blocks(rig)[-1] and "last round" not in goal_blocks(rig)[0]


@virtual
async def test_a_goal_that_is_complete_when_its_budget_is_spent_is_complete():
    async with Rig() as rig:
        rig.slate.now = "complete"
        assert (await rig.pursue("x", budget=1)).goal == GoalResult("complete", 1, 15)


@virtual
async def test_there_are_at_most_a_hundred_rounds():
    async with Rig() as rig:
        result = await rig.pursue("x")
        assert result.goal == GoalResult("budget_limited", MOST_ROUNDS, 15 * MOST_ROUNDS)
        assert len(rig.llm.requests) == 100


@virtual
async def test_one_abort_ends_the_goal_and_is_the_last_message():
    async with Rig() as rig:
        rig.llm.script([text("one")], [work("a", then="inf")])
        rig.at(1, rig.abort, "enough")
        result = await rig.pursue("x")
        assert (result.status, result.text, result.goal) == ("aborted", "", GoalResult("aborted", 2, 30))
        assert rig.labels()[-2:] == ["goal_finished", "abort"] and rig.of(Abort)[0].reason == "enough"
        assert rig.session.state.state == "idle"
        assert (await rig.run("next")).status == "completed"


@virtual
async def test_an_abort_at_any_message_ends_the_goal_exactly_once():
    async def told(at):
        async with Rig() as rig:
            rig.slate.later = ["active", "complete"]
            rig.llm.script([text("one")], [work("a")], [text("two")])
            count = 0

            def look(_):
                nonlocal count
                count += 1
                if count - 1 == at:
                    rig.abort()

            rig.screen.on_push.append(look)
            result = await rig.pursue("x")
            assert len(rig.of(GoalFinished)) == 1
            assert result.goal == GoalResult(**rig.of(GoalFinished)[0].model_dump(exclude={"type"}))
            assert (result.goal.outcome == "aborted") == (result.status == "aborted") == (rig.labels()[-1] == "abort")
            return rig.labels(partials=True), result.status

    labels, _ = await told(None)
    last_request = max(at for at, label in enumerate(labels) if label == "request_begin")
    ends = [(await told(at))[1] for at in range(len(labels))]
    assert ends[: last_request + 1] == ["aborted"] * (last_request + 1) and ends[-1] == "completed"


@virtual
async def test_an_abort_of_the_compaction_at_a_rounds_end_ends_the_goal():
    async with Rig(options=EngineOptions(max_context_length=1)) as rig:
        rig.when("compaction_begin", rig.abort)
        result = await rig.pursue("x")
        assert (result.status, result.goal) == ("aborted", GoalResult("aborted", 1, 15))
        assert rig.labels()[-3:] == ["compaction_end", "goal_finished", "abort"]


@pytest.mark.parametrize("status", ["auth", "failed", "timeout", "malformed"])
@virtual
async def test_a_failure_ends_the_goal_as_aborted_with_the_runs_own_status(status):
    async with Rig(options=EngineOptions(max_retries=0)) as rig:
        rig.llm.script([text("one")], [fail(status, "no")])
        result = await rig.pursue("x")
        assert (result.status, result.goal, result.text, result.turns) == (
            status,
            GoalResult("aborted", 2, 15),
            "one",
            1,
        )
        assert rig.labels()[-2:] == ["goal_finished", "abort"] and result.error_message
        assert rig.session.state.state == ("auth_required" if status == "auth" else "idle")


@virtual
async def test_max_turns_holds_for_each_round_and_ends_the_goal_as_aborted():
    async with Rig(options=EngineOptions(max_turns=2)) as rig:
        rig.llm.script([work("a")], [text("one")], [work("b")], [work("c")])
        result = await rig.pursue("x")
        assert (result.status, result.turns, result.goal.outcome) == ("max_turns", 4, "aborted")
        assert rig.labels()[-1] == "goal_finished" and result.goal.rounds == 2


@virtual
async def test_steering_works_in_each_round():
    async with Rig() as rig:
        rig.slate.later = ["active", "complete"]
        heard = []

        def steer(message):
            if isinstance(message.payload, GoalRound):
                heard.append(rig.session.steer(said(f"in {message.payload.round}")))

        rig.screen.on_push.append(steer)
        assert (await rig.pursue("x")).turns == 4
        assert all(heard) and [one.text for one in rig.of(Text) if "user_steering" in one.text] == [
            "[user_steering]\nin 1\n[/user_steering]",
            "[user_steering]\nin 2\n[/user_steering]",
        ]


@virtual
async def test_a_goal_is_one_run_and_is_never_idle_between_its_rounds():
    async with Rig() as rig:
        rig.slate.later = ["active", "active", "complete"]
        result = await rig.pursue("x")
        assert [one["run_id"] for one in rig.traced() if one["type"] == RunBegin(run_id="").type] == [result.run_id]
        assert set(rig.screen.run_ids) == {result.run_id} and rig.states() == ["running", "idle"]


@virtual
async def test_images_of_a_goal_are_files_in_every_round_though_the_model_sees():
    async with Rig(pictures=(shelf := Shelf())) as rig:
        rig.slate.later = ["active", "complete"]
        await rig.pursue("like this", ImageUrl(image_url=PIXEL))
        assert shelf.kept == [PIXEL] and rig.slate.objectives == ["like this\n\n[attached image: /pad/1.png]"]
        for request in rig.llm.requests:
            assert [one.text for one in request.input[1:]] == ["like this", "[attached image: /pad/1.png]"]


@virtual
async def test_a_goal_can_be_queued_and_others_wait_for_all_of_its_rounds():
    async with Rig() as rig:
        rig.slate.later = ["active", "complete"]
        first, goal, last = rig.start("first"), rig.start("x", goal=Goal()), rig.start("last")
        await last.result
        assert (await goal.result).goal.rounds == 2 and first.result.done()
        assert [request.input[-1].text for request in rig.llm.requests] == ["first", "x", "x", "last"]


@virtual
async def test_a_context_that_is_full_gives_way_between_rounds_and_the_objective_is_said_again():
    async with Rig(options=EngineOptions(max_context_length=15)) as rig:
        rig.slate.later = ["active", "complete"]
        rig.llm.script([text("one")], [text("[summary]half[/summary]")], [text("two")], [text("[summary]s[/summary]")])
        assert (await rig.pursue("make it so")).goal.rounds == 2
        second = [one.text for one in rig.llm.requests[2].input]
        assert (
            second[0].startswith("[context_summary]") and second[1].startswith("[goal]") and second[2] == "make it so"
        )


@virtual
async def test_an_engine_that_fails_inside_ends_the_goal_too():
    async with Rig() as rig:
        rig.slate.status = None
        result = await rig.pursue("x")
        assert result.status == "failed" and rig.labels()[-2:] == ["goal_finished", "abort"]
        assert (await rig.run("next")).status == "completed"


@virtual
async def test_a_goal_that_is_ended_in_one_step_says_so_in_its_result():
    async with Rig() as rig:
        rig.llm.script([work("a", then="inf")])
        ticket = rig.start("x", goal=Goal())
        await rig.until("approval_decision:allow")
        rig.session.end_now("closing")
        assert rig.labels()[-2:] == ["goal_finished", "abort"]
        assert (await ticket.result).goal.outcome == "aborted"


@virtual
async def test_a_session_without_a_goal_file_takes_no_goal():
    session = Session(META, Ports(Scripted(), Tools(), None, Lines(), Screen()))
    with pytest.raises(ValueError, match="goal file"):
        session.submit(said("x"), goal=Goal())
    assert not session.is_busy
    await session.close()
