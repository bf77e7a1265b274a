from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import from_json

from agent_lsp.errors import FramingError
from agent_lsp.wire import jsonrpc
from agent_lsp.wire.jsonrpc import Invalid, Notification, Request, Response, parse

LOADS = pytest.mark.parametrize("loads", [json.loads, from_json], ids=["json", "pydantic"])


@LOADS
@pytest.mark.parametrize(
    "body",
    [
        b"{nope",
        b"",
        b"{} {}",
        b'{"jsonrpc": "2.0", "id": 1, "method": "\xff\xfe"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":' + b"9" * 5000 + b"}}",
    ],
)
def test_what_is_not_json_is_a_parse_error_without_an_id(body, loads):
    message = parse(body, loads)
    assert isinstance(message, Invalid) and (message.id, message.kind) in [
        (None, "parse_error"),
        (None, "invalid_request"),
    ]


@LOADS
@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b'[{"jsonrpc":"2.0","id":1,"method":"x"}]',
        b"42",
        b'"x"',
        b"null",
        b"true",
        b"{}",
        b'{"jsonrpc":"2.0","id":{},"method":"x"}',
        b'{"jsonrpc":"2.0","id":null,"method":"x"}',
        b'{"jsonrpc":"2.0","id":true,"method":"x"}',
        b'{"jsonrpc":"2.0","id":1e999,"method":"x"}',
        b'{"jsonrpc":"2.0","method":7}',
        b'{"method":"x"}',
    ],
)
def test_json_that_is_no_message_is_an_invalid_request_without_an_id(body, loads):
    message = parse(body, loads)
    assert isinstance(message, Invalid) and (message.id, message.kind) == (None, "invalid_request")


@pytest.mark.parametrize(
    ("body", "id", "kind"),
    [
        ({"id": "a", "method": "x"}, "a", "invalid_request"),
        ({"jsonrpc": "1.0", "id": 3, "method": "x"}, 3, "invalid_request"),
        ({"jsonrpc": "2.0", "id": "a"}, "a", "invalid_request"),
        ({"jsonrpc": "2.0", "id": "a", "method": None}, "a", "invalid_request"),
        ({"jsonrpc": "2.0", "id": "a", "method": "x", "params": [1]}, "a", "invalid_params"),
        ({"jsonrpc": "2.0", "id": "a", "method": "x", "params": "s"}, "a", "invalid_params"),
        ({"jsonrpc": "2.0", "id": "a", "method": "x", "params": 0}, "a", "invalid_params"),
    ],
)
def test_what_is_almost_a_request_is_refused_with_its_id(body, id, kind):
    message = parse(json.dumps(body).encode())
    assert isinstance(message, Invalid) and (message.id, message.kind) == (id, kind)


def test_params_may_be_left_out_or_null():
    for params in ({}, {"params": None}, {"params": {}}):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x", **params}).encode()
        assert parse(body) == Request(1, "x", {})


def test_params_of_a_notification_that_are_no_object_are_nobodys_business():
    assert parse(b'{"jsonrpc":"2.0","method":"x","params":[1]}') == Notification("x", None)


@pytest.mark.parametrize(
    "body", [{"id": 1, "result": None}, {"id": None, "error": {}}, {"id": {}, "error": 3}, {"result": 1}]
)
def test_an_answer_is_never_answered_however_odd(body):
    assert isinstance(parse(json.dumps(body).encode()), Response)


@LOADS
def test_a_lone_surrogate_is_replaced_and_the_request_known(loads):
    body = b'{"jsonrpc":"2.0","id":"s\\ud800","method":"x","params":{"\\udc00":["a\\ud800b","\\ud83d\\ude00"]}}'
    message = parse(body, lambda data: loads(data) if loads is not json.loads else jsonrpc.scrubbed(json.loads(data)))
    assert message == Request("s\ufffd", "x", {"\ufffd": ["a\ufffdb", "\U0001f600"]})


@pytest.mark.parametrize("id", ["x", "", "900", 900, 0, -7, 2**53 - 1, 1.5, "ü✓"])
def test_an_id_is_echoed_in_its_own_type(id):
    assert json.loads(jsonrpc.success(id, b"null")) == {"jsonrpc": "2.0", "id": id, "result": None}
    echoed = json.loads(jsonrpc.failure(id, "session_busy", "busy", {"runId": "r"}))
    assert echoed["error"] == {"code": -32009, "message": "busy", "data": {"kind": "session_busy", "runId": "r"}}
    assert type(echoed["id"]) is type(id)


def test_an_error_of_framing_names_its_kind():
    error = json.loads(jsonrpc.framing_failure(FramingError("too large", -32012)))
    assert (error["id"], error["error"]["data"]["kind"]) == (None, "limit_exceeded")


def test_every_refusal_has_a_code():
    from agent_lsp import errors

    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.RequestRefused)
    ]
    assert len(kinds) > 5 and {kind.kind for kind in kinds} <= set(jsonrpc.CODES)
    assert len(set(jsonrpc.CODES.values())) == len(jsonrpc.CODES)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ODD = st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]), JSON | st.just("2.0"))


@settings(deadline=None, max_examples=300)
@given(JSON | ODD)
def test_any_json_is_classified_and_what_it_is_answered_with_is_json(value):
    message = jsonrpc.classify(value)
    if isinstance(message, Invalid):
        assert json.loads(message.answer())["error"]["code"] in jsonrpc.KINDS
    if isinstance(message, Request):
        assert json.loads(jsonrpc.success(message.id, b"1"))["id"] == message.id
