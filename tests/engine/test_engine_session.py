"""A session: one task at a time, a queue, states, and a close that always comes to an end."""

import asyncio

import pytest

from agent_lsp.engine.hooks import Hooks
from agent_lsp.engine.options import EngineOptions
from agent_lsp.errors import SessionBusy
from agent_lsp.messages.content import PARTIAL_TYPES, Text, ToolCall, ToolCallOutput
from agent_lsp.messages.events import SessionUpdate
from agent_lsp.messages.partial import Aggregator
from agent_lsp.providers.scripted import fail, text
from tests.engine.harness import Person, Rig, now_s, other_tasks, passing, said, virtual, work


@virtual
async def test_a_busy_session_refuses_a_second_run_and_names_the_first():
    async with Rig(gap_s=1) as rig:
        ticket = rig.start("a")
        with pytest.raises(SessionBusy) as refused:
            await rig.run("b")
        assert (refused.value.session_id, refused.value.run_id) == ("s", ticket.run_id)
        await ticket.result
        assert len(rig.llm.requests) == 1


@virtual
async def test_queued_runs_wait_their_turn_first_come_first_served():
    async with Rig(gap_s=1) as rig:
        rig.llm.script([text("1")], [text("2")], [text("3")])
        tickets = [rig.start(words) for words in ("a", "b", "c")]
        assert [one.queued for one in tickets] == [False, True, True]
        assert [one.run_id for one in rig.session.waiting()] == [one.run_id for one in tickets[1:]]
        assert [(await one.result).text for one in tickets] == ["1", "2", "3"]
        assert [one.queued for one in rig.screen.states][:4] == [0, 1, 2, 2]
        runs = [one for one in rig.screen.run_ids if one]
        assert list(dict.fromkeys(runs)) == [one.run_id for one in tickets]


@virtual
async def test_a_queued_run_that_is_cancelled_leaves_nothing():
    async with Rig(gap_s=1) as rig:
        rig.llm.script([text("1")], [text("3")])
        first, second, third = (rig.start(words) for words in ("first", "second", "third"))
        assert rig.session.cancel(second) is True
        result = await second.result
        assert (result.status, result.turns, result.run_id) == ("aborted", 0, second.run_id)
        assert (await first.result).text == "1" and (await third.result).text == "3"
        assert "abort" not in rig.labels() and "second" not in str(rig.traced()) + str(rig.llm.requests)
        assert rig.session.cancel(second) is False


@virtual
async def test_an_aborted_run_makes_way_for_the_next_one():
    async with Rig(gap_s=1) as rig:
        first, second = rig.start("a"), rig.start("b")
        rig.at(0.5, rig.session.cancel, first)
        assert (await first.result).status == "aborted"
        assert (await second.result).status == "completed"


@virtual
async def test_what_is_streamed_right_now_can_be_seen():
    async with Rig(gap_s=1) as rig:
        rig.llm.script([text("x"), work("a", say=["1", "2", "3"], gap=2), work("b", then=4), text("y", "z", "!")])
        ticket = rig.start("go")
        await passing(10.5)
        joined = Aggregator()
        for fragment in rig.session.so_far():
            assert isinstance(fragment, PARTIAL_TYPES) and joined.apply(fragment) is None
        assert joined.open == {("text", ""): "yz", ("tool_call_output", "a"): "12"}
        await ticket.result
        assert rig.session.so_far() == ()


@virtual
async def test_a_change_of_settings_is_told_and_traced():
    async with Rig() as rig:
        rig.session.record(SessionUpdate(title="t"))
        assert rig.labels() == ["session_update"] and rig.screen.run_ids == [None]
        assert rig.traced() == [{"type": "session_update", "title": "t"}]


@virtual
async def test_seeded_messages_are_committed_as_they_stand():
    async with Rig() as rig:
        rig.session.seed(
            [
                *said("a"),
                ToolCall(name="work", arguments="{}", tool_call_id="t"),
                ToolCallOutput(tool_call_id="t", output="o"),
                Text(role="assistant", text="b"),
            ]
        )
        await rig.run("go")
        assert rig.sent() == [
            *[("user", "a"), ("call", "t"), ("output", "t", "o"), ("assistant", "b")],
            ("user", "go"),
        ]
        assert "text" not in rig.labels()[: rig.labels().index("request_begin")]


@virtual
async def test_seeding_nothing_changes_nothing():
    async with Rig() as rig:
        rig.session.seed([])
        await rig.run("go")
        assert rig.sent() == [("user", "go")]


# --- close ---


@pytest.mark.parametrize(
    ("reply", "setting"),
    [
        ([text("a", "b")], {"gap_s": 60}),
        ([text("a", "b")], {"gap_s": 3, "stubborn_model": True}),
        ([work("a", then="inf"), work("b", say=["x"] * 9, gap=0.5, stubborn=1)], {}),
        ([work("a")], {"person": Person(never={"a"})}),
        ([fail("timeout")], {"options": EngineOptions(retry_base_ms=20_000)}),
    ],
)
@virtual
async def test_close_ends_everything_within_five_seconds(reply, setting):
    rig = Rig(**setting)
    rig.tools.close_s = 4.9
    rig.llm.script(reply)
    running, queued = rig.start("go"), rig.start("next")
    await passing(4)
    await rig.session.close()
    assert now_s() <= 9 and not other_tasks()
    assert running.result.result().status == queued.result.result().status == "aborted"
    assert rig.labels()[-1] == "abort" and rig.trace.synced == len(rig.trace.lines)
    with pytest.raises(SessionBusy):
        await rig.run("late")


@virtual
async def test_close_leaves_behind_what_will_not_end(caplog):
    rig = Rig()
    rig.tools.close_s = 4.9
    rig.llm.script([work("a", then=60, stubborn=1)])
    rig.start("go")
    await passing(1)
    await rig.session.close()
    assert now_s() <= 6.1 and len(other_tasks()) == 1
    assert "did not end" in caplog.text


@virtual
async def test_closing_while_the_trace_is_brought_to_the_disk_keeps_the_result():
    rig = Rig()
    rig.trace.sync_s = 3
    rig.llm.script([text("ok")])
    ticket = rig.start("go")
    await passing(1)
    assert rig.labels()[-1] == "request_end:completed"
    await rig.session.close()
    assert (await ticket.result).status == "completed"
    assert rig.trace.synced == len(rig.trace.lines) and not other_tasks()


@virtual
async def test_closing_twice_is_closing_once():
    rig = Rig(gap_s=1)
    rig.start("go")
    await passing(0.5)
    await asyncio.gather(rig.session.close(), rig.session.close())
    await rig.session.close()
    assert rig.labels().count("abort") == 1


class Broken(Hooks):
    """A policy with a bug at one place."""

    def __init__(self, place):
        self._place = place

    def _here(self, place):
        if place == self._place:
            self._place = ""
            raise RuntimeError("a bug")

    def before_request(self):
        self._here("before_request")

    def after_attempt(self, outcome):
        self._here("after_attempt")

    def prepare_call(self, call):
        self._here("prepare_call")
        return call

    def after_tool(self, call, output, end):
        self._here("after_tool")

    def before_end(self):
        self._here("before_end")
        return ()


@pytest.mark.parametrize("place", ["before_request", "after_attempt", "prepare_call", "after_tool", "before_end"])
@virtual
async def test_a_bug_inside_ends_the_run_at_worst_and_the_session_stays_usable(place, caplog):
    async with Rig(hooks=Broken(place), gap_s=1) as rig:
        rig.llm.script([work("a"), text("x"), fail("timeout")], [work("b")], [text("end")])
        result = await asyncio.wait_for(rig.run("go"), 600)
        assert result.status in ("completed", "failed")
        rig.llm.turns.clear()
        rig.llm.script([work("c")], [text("ok")])
        assert (await asyncio.wait_for(rig.run("next"), 600)).text == "ok"
        assert rig.session.state.state == "idle"
        joined = Aggregator()
        for message in rig.screen.messages:
            if message.type == "model_msg":
                joined.apply(message.payload)
        assert not joined.open


@virtual
async def test_the_runs_behind_one_that_failed_inside_still_run(caplog):
    async with Rig(hooks=Broken("before_request")) as rig:
        first, second = rig.start("a"), rig.start("b")
        assert ((await first.result).status, (await second.result).status) == ("failed", "completed")
        assert rig.labels().count("abort") == 1
