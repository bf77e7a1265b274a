"""What is read of traces to go on with a session, or to fork it."""

import pytest

from agent_lsp.engine.options import EngineOptions
from agent_lsp.engine.ports import Ports
from agent_lsp.engine.session import Session
from agent_lsp.errors import InvalidParams, SessionNotFound
from agent_lsp.messages import markers
from agent_lsp.messages.content import Text, ToolCall, ToolCallOutput
from agent_lsp.messages.envelope import encode, envelope
from agent_lsp.messages.events import SessionUpdate
from agent_lsp.providers.scripted import Scripted, text, usage
from agent_lsp.sessions.past import read_committed, read_past
from agent_lsp.trace.paths import DataDir, make_private
from agent_lsp.trace.store import SessionStore
from tests.engine.harness import META, Lines, Rig, Screen, Tools, run, said, short, work

ID = "session-20261129-101112-0a1b2c3d"
MINE = META.model_copy(update={"session_id": ID})
SUMMARY = [text("[summary]so far[/summary]")]
CARRIED = ("user", "[context_summary]\nso far\n[/context_summary]")


@pytest.fixture
def data(tmp_path):
    return DataDir(tmp_path)


def kept(data, trace):
    """The trace in memory as files, one for each context."""
    make_private(data.trace_path(ID, 1).parent)
    ends = [*trace.contexts[1:], len(trace.lines)]
    head = encode(envelope(MINE))
    for index, (start, end) in enumerate(zip(trace.contexts, ends, strict=True), 1):
        lines = [head, *trace.lines[start:end]] if index == 1 else trace.lines[start:end]
        data.trace_path(ID, index).write_bytes(b"".join(line + b"\n" for line in lines))


def told(story, **options):
    """Plays a story on a rig and gives the rig, whose session is closed."""

    async def play():
        async with Rig(meta=MINE, options=EngineOptions(**{"compaction_prompt": "Sum up.", **options})) as rig:
            await story(rig)
            return rig

    return run(play())


async def three_turns(rig):
    rig.llm.script([text("one")], [work("a", out="found"), work("b")], [text("three")])
    await rig.run("first")
    await rig.run("second")


async def two_contexts(rig):
    rig.llm.script([work("a")], [text("one")], SUMMARY, [work("a")], [text("two")])
    await rig.run("first")
    await rig.session.compact()
    await rig.run("second")


def warned(line):
    raise AssertionError(line)


def forked(data, at_turn=None):
    """What a fork begins with, in short: its history and its pending input."""
    _, messages = read_committed(data, ID, at_turn, warned)

    async def replayed():
        session = replaying(messages)
        ledger = session._runtime.ledger
        ledger.end_replay()
        ledger._settle()
        return [short(one) for commit in session.history() for one in commit.messages], [
            short(one) for one in ledger.request_input()
        ]

    return run(replayed())


def replaying(messages, call_ids=()):
    session = Session(MINE, Ports(Scripted(), Tools(), None, Lines(), Screen()))
    session.replay(messages, call_ids)
    return session


# --- going on ---------------------------------------------------------------------------------------------------------


def test_a_session_goes_on_with_the_newest_context_and_the_counts_of_all(data):
    rig = told(two_contexts)
    kept(data, rig.trace)
    past = read_past(data, SessionStore(data), ID, warned)
    assert past.meta == MINE and past.turns == 4 and past.usage == rig.session.usage

    async def replayed():
        session = replaying(past.messages, past.call_ids)
        return [commit.messages for commit in session.history()]

    assert run(replayed()) == [commit.messages for commit in rig.session.history()]


def test_a_call_id_that_was_used_in_an_earlier_context_is_still_the_providers_own(data):
    rig = told(two_contexts)
    kept(data, rig.trace)
    assert rig.ids(ToolCall) == ["a", "a#2"]
    past = read_past(data, SessionStore(data), ID, warned)
    assert past.call_ids == ("a",)

    async def replayed():
        session = replaying(past.messages, past.call_ids)
        return [one.tool_call_id for c in session.history() for one in c.messages if isinstance(one, ToolCall)]

    assert run(replayed()) == ["a"]


def test_a_torn_last_line_is_passed_over_in_silence(data):
    kept(data, told(three_turns).trace)
    with data.trace_path(ID, 1).open("ab") as file:
        file.write(b'{"timestamp":"2026')
    assert read_past(data, SessionStore(data), ID, warned).turns == 3


def test_a_bad_line_in_the_middle_is_named_once(data):
    kept(data, told(three_turns).trace)
    path = data.trace_path(ID, 1)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b"junk\n", *lines[3:]]))
    warnings = []
    assert read_past(data, SessionStore(data), ID, warnings.append).turns == 3
    assert len(warnings) == 1 and "line 4" in warnings[0]


@pytest.mark.parametrize("content", [b"", b"junk\n", b'{"type":"event_msg"}\n'])
def test_a_trace_that_does_not_say_what_it_is_cannot_be_gone_on_with(data, content):
    make_private(data.trace_path(ID, 1).parent)
    data.trace_path(ID, 1).write_bytes(content)
    with pytest.raises(SessionNotFound):
        read_past(data, SessionStore(data), ID, lambda _: None)


def test_a_session_without_a_trace_is_not_found_and_nothing_is_made(data):
    with pytest.raises(SessionNotFound):
        read_past(data, SessionStore(data), ID, warned)
    with pytest.raises(SessionNotFound):
        read_committed(data, ID, None, warned)
    assert not list(data.root.iterdir())


# --- forks ------------------------------------------------------------------------------------------------------------


def test_a_fork_has_all_that_was_committed(data):
    rig = told(three_turns)
    kept(data, rig.trace)
    history, waiting = forked(data)
    assert history == [short(one) for commit in rig.session.history() for one in commit.messages] and not waiting


def test_a_fork_ends_with_the_turn_that_is_named_and_its_outputs(data):
    kept(data, told(three_turns).trace)
    assert forked(data, 1) == ([("user", "first"), ("assistant", "one")], [])
    history, waiting = forked(data, 2)
    assert history[-2:] == [("call", "a"), ("call", "b")]
    assert waiting == [("output", "a", "found"), ("output", "b", "ok")]


@pytest.mark.parametrize("turn", [0, -1, 4])
def test_a_turn_that_there_was_not_is_refused_with_how_many_there_are(data, turn):
    kept(data, told(three_turns).trace)
    with pytest.raises(InvalidParams) as refused:
        read_committed(data, ID, turn, warned)
    assert "3 turns" in str(refused.value.errors)


def test_turns_count_over_all_contexts_and_a_fork_begins_in_the_one_it_ends_in(data):
    kept(data, told(two_contexts).trace)
    assert forked(data, 2)[0][-1] == ("assistant", "one")
    history, _ = forked(data, 4)
    assert history[:2] == [CARRIED, ("user", "second")] and history[-1] == ("assistant", "two")


def test_the_requests_of_a_compaction_are_no_turns(data):
    async def story(rig):
        rig.llm.script([text("one")], [work("c")], [text("two")])
        await rig.run("first")
        await rig.session.compact()
        await rig.run("second")

    rig = told(story, max_retries=0)
    kept(data, rig.trace)
    assert forked(data, 1)[0] == [("user", "first"), ("assistant", "one")]
    assert forked(data, 2)[0][-1] == ("assistant", "two")


def test_settings_that_change_while_outputs_come_cost_no_output(data):
    async def story(rig):
        rig.llm.script([work("a", then=1), work("b", then=3, out="late")], [text("two")])
        rig.at(2, rig.session.record, SessionUpdate(approval_mode="yolo"))
        await rig.run("go")

    kept(data, told(story).trace)
    assert forked(data, 1)[1] == [("output", "a", "ok"), ("output", "b", "late")]


def test_a_fork_of_an_interrupted_turn_says_what_the_live_context_said(data):
    async def story(rig):
        rig.llm.script([work("a", say=["half"], then="inf")])
        rig.at(1, rig.abort)
        await rig.run("go")

    rig = told(story)
    kept(data, rig.trace)
    assert forked(data)[1] == [("output", "a", f"half\n{markers.INTERRUPTED}")]


def test_a_fork_right_after_a_compaction_keeps_its_summary(data):
    async def story(rig):
        rig.llm.script([text("one")], SUMMARY)
        await rig.run("first")
        await rig.session.compact()
        rig.session.record(SessionUpdate(title="T"))

    rig = told(story)
    kept(data, rig.trace)
    assert len(rig.trace.contexts) == 2
    assert forked(data) == ([], [CARRIED])
    assert forked(data, 1) == ([("user", "first"), ("assistant", "one")], [])


def test_a_fork_of_a_history_that_was_brought_along_keeps_it(data):
    async def story(rig):
        rig.session.seed([Text(role="user", text="hi"), Text(role="assistant", text="ho")])

    kept(data, told(story).trace)
    assert forked(data) == ([("user", "hi"), ("assistant", "ho")], [])


def test_a_fork_of_everything_has_the_settings_of_now_and_one_of_a_turn_those_of_then(data):
    async def story(rig):
        await rig.run("first")
        rig.session.record(SessionUpdate(title="T"))
        await rig.run("second")
        rig.session.record(SessionUpdate(model="p/other"))

    kept(data, told(story).trace)

    def settings(at_turn):
        return [
            one.payload for one in read_committed(data, ID, at_turn, warned)[1] if one.payload.type == "session_update"
        ]

    assert settings(None) == [SessionUpdate(title="T"), SessionUpdate(model="p/other")]
    assert settings(1) == [] and settings(2) == [SessionUpdate(title="T")]


def test_what_came_after_the_last_commit_is_no_part_of_a_fork(data):
    async def story(rig):
        rig.llm.script([text("one")], [text("half"), usage()])
        await rig.run("first")
        rig.when("partial_text:start", rig.abort)
        await rig.run("second")
        rig.session.steer(said("x"))

    rig = told(story)
    kept(data, rig.trace)
    history, waiting = forked(data)
    assert history[:2] == [("user", "first"), ("assistant", "one")]
    assert not [one for one in waiting if isinstance(one, ToolCallOutput)]
