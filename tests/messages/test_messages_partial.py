"""Streaming discipline: a segment cannot break it, an aggregator sees whoever does."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.messages.content import (
    PARTIAL_TYPES,
    PartialText,
    PartialToolCall,
    PartialToolCallOutput,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
)
from agent_lsp.messages.envelope import MESSAGE, encode, envelope
from agent_lsp.messages.partial import Aggregator, Segment, Undisciplined

KINDS = ["text", "thinking", "tool_call", "tool_call_output"]
BODY = {"text": "text", "thinking": "thinking", "tool_call": "arguments", "tool_call_output": "output"}


def start(**more):
    return PartialText(event_type="start", **more)


def delta(text):
    return PartialText(event_type="delta", text=text)


STOP = PartialText(event_type="stop")
WHOLE = Text(role="assistant", text="ab")


@settings(deadline=None)
@given(st.sampled_from(KINDS), st.lists(st.text(max_size=5), max_size=6), st.sampled_from([None, "failed", "aborted"]))
def test_a_segment_is_disciplined_and_its_fragments_are_its_body(kind, pieces, stop_reason):
    said, joined = [], Aggregator()
    segment = Segment(said.append, kind, name="n", call_id="i")
    for piece in pieces:
        segment.delta(piece)
    assert segment.body == "".join(pieces)
    complete = segment.close(stop_reason)
    assert [one for one in map(joined.apply, said) if one] == [complete] and not joined.open
    assert getattr(complete, BODY[kind]) == "".join(pieces) and complete.stop_reason == stop_reason
    assert complete.type == kind and said[-1] is complete


@settings(deadline=None)
@given(st.data())
def test_segments_may_be_interleaved(data):
    said = []
    segments = [Segment(said.append, "tool_call_output", call_id=str(n)) for n in range(3)]
    bodies = ["", "", ""]
    for number, piece in data.draw(st.lists(st.tuples(st.integers(0, 2), st.text(max_size=3)))):
        segments[number].delta(piece)
        bodies[number] += piece
    for number in data.draw(st.permutations(range(3))):
        segments[number].close()
    joined = Aggregator()
    complete = [one for one in map(joined.apply, said) if one]
    assert {one.tool_call_id: one.output for one in complete} == dict(zip("012", bodies, strict=True))


@settings(deadline=None)
@given(st.sampled_from(KINDS), st.lists(st.text(max_size=5), max_size=6))
def test_what_a_late_reader_is_told_joins_to_the_same(kind, pieces):
    said, late = [], Aggregator()
    segment = Segment(said.append, kind, name="n", call_id="i")
    for piece in pieces:
        segment.delta(piece)
    told = segment.so_far()
    assert len(told) <= 2
    for one in told:
        late.apply(one)
    assert list(late.open.values()) == ["".join(pieces)]
    at = len(said)
    segment.close()
    assert [one for one in map(late.apply, said[at:]) if one]


@settings(deadline=None)
@given(st.sampled_from(KINDS), st.lists(st.text(st.characters(codec=None), max_size=4), max_size=4))
def test_a_segment_can_always_be_written(kind, pieces):
    said, joined = [], Aggregator()
    segment = Segment(said.append, kind, name="n", call_id="i")
    for piece in pieces:
        segment.delta(piece)
    segment.close()
    for one in said:
        joined.apply(MESSAGE.validate_json(encode(envelope(one))).payload)
    assert not joined.open


def test_a_segment_closes_with_what_belongs_to_its_kind():
    kept = {"a": None}
    assert Segment(list().append, "thinking").close(None, kept) == Thinking(thinking="", fidelity=kept)
    call = Segment(list().append, "tool_call", name="n", call_id="i").close("malformed", kept)
    assert call == ToolCall(name="n", arguments="", tool_call_id="i", stop_reason="malformed", fidelity=kept)
    output = Segment(list().append, "tool_call_output", call_id="i").close(images=("data:,x",))
    assert output == ToolCallOutput(tool_call_id="i", output="", images=("data:,x",))


@pytest.mark.parametrize(
    "stream",
    [
        [delta("a")],
        [STOP],
        [start(), start()],
        [start(text="a")],
        [start(), PartialText(event_type="stop", text="a")],
        [start(), WHOLE],
        [start(), delta("a"), STOP, WHOLE],
        [start(), delta("ab"), STOP, start()],
        [start(), delta("ab"), STOP, Thinking(thinking="")],
        [start(), delta("ab"), STOP, PartialToolCallOutput(event_type="start", tool_call_id="i")],
    ],
)
def test_a_stream_that_breaks_the_rule_is_seen(stream):
    joined = Aggregator()
    with pytest.raises(Undisciplined):
        for one in stream:
            joined.apply(one)


def test_calls_are_told_apart_by_their_ids():
    joined = Aggregator()
    for id in ("1", "2"):
        joined.apply(PartialToolCall(event_type="start", name="n", tool_call_id=id))
    assert set(joined.open) == {("tool_call", "1"), ("tool_call", "2")}


def test_what_was_never_streamed_comes_alone():
    joined = Aggregator()
    assert joined.apply(WHOLE) == WHOLE
    denied = ToolCallOutput(tool_call_id="i", output="Tool call denied by user.", stop_reason="aborted")
    assert joined.apply(denied) == denied
    assert not isinstance(denied, PARTIAL_TYPES)
