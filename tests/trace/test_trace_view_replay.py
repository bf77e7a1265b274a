import asyncio

import pytest

from agent_lsp.errors import AgentError
from agent_lsp.messages import markers
from agent_lsp.messages.content import Text
from agent_lsp.messages.events import Abort, CompactionBegin, CompactionEnd, ContextSeed, RequestEnd, SessionUpdate
from agent_lsp.trace.view import player
from agent_lsp.trace.view.replay import replay
from tests.trace.trace_view_samples import Teller, rich, simple


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(player, "STANDSTILL_S", 0.2)


def replayed(told, tmp_path, index=1):
    return asyncio.run(replay(told.save(tmp_path, index)))


def test_a_trace_with_everything_in_it_comes_out_as_recorded(tmp_path):
    done = replayed(rich(), tmp_path)

    assert done.differences == ()
    assert (done.tasks, done.records) == (4, 79)


@pytest.mark.parametrize("cut", range(1, 81, 4))
def test_a_trace_that_ends_anywhere_comes_out_as_far_as_it_goes(tmp_path, cut):
    told = rich()
    told.lines = told.lines[:cut]

    assert replayed(told, tmp_path).differences == ()


def test_another_text_of_the_engine_is_a_difference_at_its_line(tmp_path):
    told = simple().run(2, "more").ask().call(0, "c9", "read_file").decide(0, "c9", "deny", "user")
    told.answer(0, "c9", "Denied, sorry.", stop_reason="aborted").done(0, finish="tool_calls").ask().write(
        0, "ok"
    ).done(0)
    (difference,) = replayed(told, tmp_path).differences

    assert difference.line == 20
    assert "Denied, sorry." in difference.recorded
    assert "Tool call denied by user." in difference.replayed


def test_a_difference_in_one_task_does_not_hide_the_next(tmp_path):
    told = Teller()
    for number in (1, 2, 3):
        told.run(number, "go", tools=["x"] if number == 1 else []).ask().write(0, "ok").done(0)
        told.say(Text(role="user", text="Go on.", sender="harness"))

    assert [one.line for one in replayed(told, tmp_path).differences] == [9, 16, 23]


def test_what_the_engine_would_never_do_is_a_standstill(tmp_path):
    told = (
        Teller()
        .run(1, "go", tools=["x"])
        .ask()
        .call(0, "c1", "x")
        .done(0, finish="tool_calls")
        .ask()
        .write(0, "ok")
        .done(0)
    )
    (difference,) = replayed(told.run(2, "next"), tmp_path).differences

    assert (difference.line, difference.replayed) == (9, None)


def test_settings_that_changed_and_a_history_that_was_brought_are_no_part_of_the_story(tmp_path):
    told = Teller().say(ContextSeed(count=2), Text(role="user", text="a"), Text(role="assistant", text="b"))
    told.run(1, "go", tools=["x"]).ask().say(SessionUpdate(title="t")).write(0, "ok").done(0)

    assert replayed(told, tmp_path).differences == ()


def test_tokens_go_on_from_what_earlier_files_have_used(tmp_path):
    told = simple()
    earlier = told.session
    later = Teller()
    later.session = earlier
    later.run(2, "go", tools=["x"]).ask().write(0, "ok").done(0)

    assert replayed(later, tmp_path, 2).differences == ()


def test_a_compaction_by_hand_is_a_task_of_its_own(tmp_path):
    told = simple().say(CompactionBegin(reason="manual", mode="summarize", context=36, turns=2))
    told.say(Text(role="user", text="Sum up.", sender="harness")).ask().write(1, "[summary]hello[/summary]").done(0)
    told.say(CompactionEnd(reason="manual", mode="summarize", status="completed"))

    done = replayed(told, tmp_path)
    assert (done.tasks, done.differences) == (2, ())


def test_an_interrupt_that_took_steering_with_it_that_nobody_knows_any_more(tmp_path):
    told = Teller().run(1, "go", tools=["x"]).ask().write(0, "ok").done(0).say(Abort(reason="enough"))

    assert replayed(told.run(2, "next"), tmp_path).differences == ()


def test_what_a_tool_had_said_before_an_interrupt_of_the_reply_is_said_again(tmp_path):
    told = Teller().run(1, "go", tools=["x"]).ask().call(0, "c1", "x").decide(0, "c1").call(0, "c2", "x")
    told.say(RequestEnd(status="aborted"))
    told.answer(0, "c1", f"half\n{markers.INTERRUPTED}", stop_reason="aborted").say(Abort(reason="enough"))

    assert replayed(told.run(2, "next"), tmp_path).differences == ()


def test_a_wait_that_was_interrupted_while_a_call_still_ran_is_not_cut_short(tmp_path):
    told = Teller().run(1, "go", tools=["x"]).ask().call(0, "c1", "x").decide(0, "c1").fail(0, wait_ms=250)
    told.answer(0, "c1", "found").say(Abort(reason="aborted during reconnect backoff"))

    assert replayed(told.run(2, "next"), tmp_path).differences == ()


def test_what_is_no_trace_is_refused(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("nonsense\n")

    with pytest.raises(AgentError, match="session_meta"):
        asyncio.run(replay(path))
