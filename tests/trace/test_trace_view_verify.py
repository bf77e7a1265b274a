import pytest

from agent_lsp.messages.content import PartialText, Text, ToolCall
from agent_lsp.messages.envelope import encode, envelope
from agent_lsp.messages.events import (
    Abort,
    CompactionBegin,
    CompactionEnd,
    ContextSeed,
    RequestBegin,
    RequestEnd,
    TokenCounts,
    TokenUsage,
)
from agent_lsp.trace.view.verify import summary, verify
from tests.trace.trace_view_samples import Teller, rich, simple


def errors(told, tmp_path):
    return [one.message for one in verify(told.save(tmp_path)).findings if one.severity == "error"]


def notes(told, tmp_path):
    verdict = verify(told.save(tmp_path))
    assert verdict.is_sound
    return [one.message for one in verdict.findings]


@pytest.mark.parametrize("told", [simple(), rich()], ids=["simple", "rich"])
def test_a_trace_as_the_engine_writes_it_is_sound(told, tmp_path):
    assert notes(told, tmp_path) == []


def test_it_says_how_much_it_has_looked_at(tmp_path):
    verdict = verify(simple().save(tmp_path))

    assert (verdict.records, verdict.turns) == (14, 2)


START = PartialText(event_type="start")
WRONG = {
    "a second session_meta": lambda told: told.say(told.meta),
    "a fragment (partial_text), which belongs to the stream only": lambda told: told.say(
        PartialText(event_type="start")
    ),
    "a tool call outside a request": lambda told: told.call(0, "c9", "x"),
    "a text of the model outside a request": lambda told: told.write(0, "well"),
    "the id 'c1' is that of an earlier call": lambda told: told.ask().call(0, "c1", "x"),
    "an output of 'c9', which was never called": lambda told: told.answer(0, "c9", "x"),
    "a second output of 'c1'": lambda told: told.answer(0, "c1", "x"),
    "an output of 'c9' before it was decided": lambda told: told.ask().call(0, "c9", "x").answer(0, "c9", "x"),
    "an output of 'c9', which was cut and never run": lambda told: (
        told.ask().say(ToolCall(name="x", arguments="{", tool_call_id="c9", stop_reason="failed")).answer(0, "c9", "x")
    ),
    "a decision on 'c9', which was never called": lambda told: told.decide(0, "c9"),
    "a second decision on 'c1'": lambda told: told.decide(0, "c1"),
    "a request while that of line 15 is open": lambda told: told.say(RequestBegin(), RequestBegin()),
    "the end of a request that never began": lambda told: told.say(RequestEnd(status="completed")),
    "tokens outside a request": lambda told: told.say(TokenUsage(session=told.session, request=TokenCounts())),
    "the end of a compaction that never began": lambda told: told.say(
        CompactionEnd(reason="manual", mode="discard", status="completed")
    ),
    "it follows an abort, which is the last of a run": lambda told: told.say(Abort(), Text(role="user", text="x")),
    "3 messages of the earlier history are missing": lambda told: told.say(ContextSeed(count=3)),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_no_engine_writes_is_an_error(message, tmp_path):
    told = simple()
    WRONG[message](told)

    assert message in errors(told, tmp_path)


def test_after_an_abort_a_compaction_by_hand_may_come(tmp_path):
    told = simple().say(Abort(), CompactionBegin(reason="manual", mode="summarize", context=36, turns=2))
    told.say(Text(role="user", text="Sum up.", sender="harness")).ask().write(1, "[summary]hello[/summary]").done(0)

    assert errors(told, tmp_path) == []


def test_a_request_before_the_outputs_is_an_error(tmp_path):
    told = Teller().run(1, "go").ask().call(0, "c1", "x").decide(0, "c1").done(0, finish="tool_calls").ask()

    assert "a request before every call of the last reply has its output" in errors(told, tmp_path)


def test_tokens_must_add_up(tmp_path):
    told = simple()
    told.session = TokenCounts(total=1)
    told.ask().write(0, "x").done(0)

    assert "the tokens of the session are not those before and those of the request" in errors(told, tmp_path)


def test_what_a_crash_leaves_is_only_noted(tmp_path):
    told = simple().run(2, "go").ask().call(0, "c5", "x").decide(0, "c5").done(0, finish="tool_calls")
    told.run(3, "again").ask()

    assert notes(told, tmp_path) == ["a request without its end"]


def test_calls_that_wait_for_their_output_are_named(tmp_path):
    told = Teller().run(1, "go").ask().call(0, "c1", "x").call(0, "c2", "x").decide(0, "c1").answer(0, "c1", "ok")
    told.done(0, finish="tool_calls")

    assert notes(told, tmp_path) == ["calls without an output at the end: c2"]


def test_a_torn_last_line_is_a_note_and_a_bad_one_in_the_middle_an_error(tmp_path):
    path = simple().save(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    torn = verify(path)
    path.write_bytes(whole.replace(b'"request_begin"', b'"request_begun"', 1))
    bad = verify(path)

    assert torn.is_sound
    assert (14, "note") in [(one.line, one.severity) for one in torn.findings]
    assert not bad.is_sound
    assert (5, "error", "not a message") in [(one.line, one.severity, one.message) for one in bad.findings]


def test_messages_of_children_are_in_traces_of_their_own(tmp_path):
    told = simple()
    told.lines.append(encode(envelope(Text(role="user", text="x"), origin=("session-child",))))

    assert errors(told, tmp_path) == ["a message of a child session, which has a trace of its own"]


def test_a_clock_that_was_set_back_is_noted(tmp_path):
    told = simple()
    told.now_s -= 3600

    assert "earlier than" in notes(told.run(2, "later"), tmp_path)[0]


def test_nothing_at_all_is_no_trace(tmp_path):
    path = tmp_path / "empty.jsonl"
    path.write_bytes(b"\n")

    assert [one.message for one in verify(path).findings] == ["no message in it"]


def test_the_summary_names_file_line_and_finding(tmp_path):
    said = []
    told = simple().answer(0, "c1", "x")

    assert not summary([verify(told.save(tmp_path))], said.append)
    assert said == [
        "session-20261129-212041-0a1b2c3d_001.jsonl: NOT SOUND, 15 records, 2 turns",
        "  error: line 15: a second output of 'c1'",
    ]
