"""The envelope: one way in, one way out."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from agent_lsp.messages.clock import timestamp
from agent_lsp.messages.content import ImageUrl, InlineData, PartialText, Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.envelope import MESSAGE, EventMessage, MetaMessage, ModelMessage, encode, envelope
from agent_lsp.messages.events import Abort, RequestEnd, TokenCounts, ToolListReady, ToolSpec

WORDS = st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
FIDELITY = st.none() | st.dictionaries(WORDS, JSON, max_size=3)
STOPS = st.sampled_from([None, "failed", "aborted", "timeout", "malformed", "auth"])
PAYLOADS = st.one_of(
    st.builds(Text, role=st.sampled_from(["user", "assistant"]), text=WORDS, stop_reason=STOPS, fidelity=FIDELITY),
    st.builds(Thinking, thinking=WORDS, stop_reason=STOPS, fidelity=FIDELITY),
    st.builds(ToolCall, name=WORDS, arguments=WORDS, tool_call_id=WORDS, stop_reason=STOPS, fidelity=FIDELITY),
    st.builds(
        ToolCallOutput,
        tool_call_id=WORDS,
        output=WORDS,
        images=st.none() | st.lists(WORDS, max_size=2).map(tuple),
        stop_reason=STOPS,
    ),
    st.builds(ImageUrl, image_url=WORDS),
    st.builds(InlineData, role=st.sampled_from(["user", "assistant"]), data=WORDS, mime_type=WORDS),
    st.builds(RequestEnd, status=STOPS.filter(bool), error_message=WORDS, attempt=st.none() | st.integers(1, 9)),
    st.builds(
        ToolListReady,
        tools=st.lists(
            st.builds(ToolSpec, name=WORDS, description=WORDS, parameters=st.dictionaries(WORDS, JSON)), max_size=2
        ).map(tuple),
    ),
)


@settings(deadline=None)
@given(PAYLOADS, st.none() | st.lists(WORDS, min_size=1, max_size=2).map(tuple))
def test_what_is_written_is_read_and_written_again_alike(payload, origin):
    line = encode(envelope(payload, origin=origin))
    message = MESSAGE.validate_json(line)
    assert message.payload == payload and message.origin == origin
    assert b"\n" not in line and encode(message) == line


@settings(deadline=None)
@given(FIDELITY)
def test_fidelity_is_kept_whatever_is_in_it(fidelity):
    line = encode(envelope(Thinking(thinking="", fidelity=fidelity)))
    assert json.loads(line)["payload"].get("fidelity") == fidelity


@settings(deadline=None)
@given(st.integers(0, 4_000_000_000_000))
def test_a_timestamp_is_utc_with_milliseconds(ms):
    moment = datetime.fromtimestamp(ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    assert timestamp(ms / 1000) in {f"{moment}.{ms % 1000:03d}Z", f"{moment}.{max(0, ms % 1000 - 1):03d}Z"}


def test_timestamps_go_back_and_forth_over_the_second():
    assert [timestamp(at) for at in (0.999, 1.0, 0.5, 86_400.25)] == [
        "1970-01-01T00:00:00.999Z",
        "1970-01-01T00:00:01.000Z",
        "1970-01-01T00:00:00.500Z",
        "1970-01-02T00:00:00.250Z",
    ]


def test_a_message_is_stamped_now_unless_told_otherwise():
    assert envelope(Abort(), at="2026-01-01T00:00:00.000Z").timestamp == "2026-01-01T00:00:00.000Z"
    now = datetime.fromisoformat(envelope(Abort()).timestamp)
    assert abs((datetime.now(UTC) - now).total_seconds()) < 60


def test_each_payload_has_the_envelope_of_its_kind():
    assert isinstance(envelope(Text(role="user", text="")), ModelMessage)
    assert isinstance(envelope(PartialText(event_type="start")), ModelMessage)
    assert isinstance(envelope(Abort()), EventMessage)
    assert json.loads(encode(envelope(Abort(), at="t"))) == {
        "timestamp": "t",
        "type": "event_msg",
        "payload": {"type": "abort"},
    }


def test_unknown_fields_are_ignored_at_every_level():
    line = b'{"timestamp":"t","type":"event_msg","new":1,"payload":{"type":"abort","reason":"r","newer":{"a":null}}}'
    assert encode(MESSAGE.validate_json(line)) == encode(envelope(Abort(reason="r"), at="t"))
    nested = b'{"timestamp":"t","type":"event_msg","payload":{"type":"token_usage","session":{"new":1},"request":{}}}'
    assert MESSAGE.validate_json(nested).payload.session == TokenCounts()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b'{"timestamp":"t","type":"event_msg"}',
        b'{"timestamp":"t","type":"event_msg","payload":{"type":"smell"}}',
        b'{"timestamp":"t","type":"smell","payload":{"type":"abort"}}',
        b'{"timestamp":"t","type":"model_msg","payload":{"type":"abort"}}',
        b'{"type":"event_msg","payload":{"type":"abort"}}',
        b'{"timestamp":"t","type":"model_msg","payload":{"type":"text","role":"robot","text":""}}',
    ],
)
def test_what_is_no_message_is_refused(line):
    with pytest.raises(ValidationError):
        MESSAGE.validate_json(line)


def test_messages_cannot_be_changed():
    message = envelope(Text(role="user", text="a"))
    with pytest.raises(ValidationError):
        message.timestamp = "later"
    with pytest.raises(ValidationError):
        message.payload.text = "b"


def test_a_meta_message_tells_the_format():
    line = (
        b'{"timestamp":"t","type":"session_meta","payload":{"type":"session_meta","session_id":"s","provider":"p",'
        b'"model_id":"m","system_prompt":"","workspace":"/w","created_at":"t"}}'
    )
    message = MESSAGE.validate_json(line)
    assert isinstance(message, MetaMessage)
    assert (message.payload.format, message.payload.mode, message.payload.parent_id) == (1, "native", None)


def test_token_counts_add_up():
    one = TokenCounts(cache_read=1, cache_write=2, output=3, total=6)
    assert one + one == TokenCounts(cache_read=2, cache_write=4, output=6, total=12)
