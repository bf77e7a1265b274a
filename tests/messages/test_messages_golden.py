"""The examples that all readers of the protocol share: `golden/<payload type>.json`, an array, one envelope a line."""

import json
from pathlib import Path
from typing import get_args

import pytest

from agent_lsp.messages.content import Content, Partial
from agent_lsp.messages.envelope import MESSAGE, SessionMeta, encode, envelope
from agent_lsp.messages.events import Event

GOLDEN = Path(__file__).parent.parent / "golden"
KINDS = {kind.model_fields["type"].default: kind for kind in (*get_args(Content | Partial | Event), SessionMeta)}


def lines(kind):
    first, *envelopes, last = (GOLDEN / f"{kind}.json").read_bytes().splitlines()
    assert (first, last) == (b"[", b"]")
    return [line.removesuffix(b",") for line in envelopes]


def test_every_payload_has_its_examples_and_no_other_has():
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_reading_and_writing_gives_the_same_bytes(kind):
    for line in lines(kind):
        message = MESSAGE.validate_json(line)
        assert type(message.payload) is KINDS[kind]
        assert encode(message) == line
        assert encode(envelope(message.payload, at=message.timestamp, origin=message.origin)) == line


@pytest.mark.parametrize("kind", KINDS)
def test_an_example_is_one_line_of_compact_json(kind):
    for line in lines(kind):
        assert json.dumps(json.loads(line), ensure_ascii=False, separators=(",", ":")).encode() == line


@pytest.mark.parametrize("kind", KINDS)
def test_the_examples_leave_no_field_of_their_payload_out(kind):
    seen = {name for line in lines(kind) for name in json.loads(line)["payload"]}
    assert seen == set(KINDS[kind].model_fields)


@pytest.mark.parametrize("kind", KINDS)
def test_unset_fields_are_left_out(kind):
    for line in lines(kind):
        payload = json.loads(line)["payload"]
        nulls = [name for name, value in payload.items() if value is None]
        assert not nulls


def test_fidelity_comes_back_with_its_nested_nulls():
    kept = [json.loads(line)["payload"].get("fidelity") for line in lines("thinking")][1]
    assert kept["anthropic"]["redacted"] is None and kept["items"][1] is None
    message = MESSAGE.validate_json(lines("thinking")[1])
    assert message.payload.fidelity == kept
