"""What every adapter owes the engine: one list of cases, said in the words of each dialect, over a real connection."""

import asyncio
import json
from contextlib import aclosing

import pytest
import pytest_asyncio

from agent_lsp.engine.ports import Commit, Outcome, Request, SegmentEnd, TextDelta, ThinkingDelta
from agent_lsp.messages.content import Text, ToolCall, ToolCallOutput
from agent_lsp.messages.events import TokenCounts, ToolSpec
from agent_lsp.providers import switches
from agent_lsp.providers.build import build
from agent_lsp.providers.endpoint import Endpoint
from agent_lsp.slotted import replace
from tests.providers.dialects import DIALECTS, bodies
from tests.providers.replies import joined, messages, whole_calls
from tests.providers.wire_server import HANG, HEAD, chunk, plain, serving, stream

pytestmark = [pytest.mark.asyncio, pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.api)]
TOOLS = (ToolSpec(name="f", description="does it", parameters={"type": "object", "properties": {"a": {}}}),)
GO = Text(role="user", text="go")
ASKED = Request("the rules", TOOLS, (), (GO,))
SCHEMA = {"type": "object", "properties": {"tool": {"type": "string"}}, "required": ["tool"]}
DECIDED = replace(ASKED, tools=(), response_schema=SCHEMA)
COUNTED = TokenCounts(cache_read=4, cache_write=6, output=5, total=15)
TWO_CALLS = (("call", "c1", "f", '{"a":', "1}"), ("call", "c2", "f", "{}"))


@pytest_asyncio.fixture
async def server(monkeypatch):
    monkeypatch.setattr(switches, "_remembered", {})
    async with serving() as running:
        yield running


def model(server, dialect):
    return build(Endpoint("p", dialect.api, server.url + dialect.base, dialect.model, api_key="sk-secret"))


async def reply(llm, request=ASKED):
    return [part async for part in llm.stream(request)]


async def test_what_streams_comes_in_its_pieces_and_is_counted(server, dialect):
    server.answers = [stream(*bodies(dialect, ("text", "Hel", "lo")))]
    parts = await reply(model(server, dialect))
    assert [part.text for part in parts if isinstance(part, TextDelta)] in (["Hel", "lo"], ["Hello"])
    assert isinstance(parts[-2], SegmentEnd)
    assert parts[-1] == Outcome("completed", usage=COUNTED, finish="stop")


async def test_a_piece_is_told_before_the_next_one_has_come(server, dialect):
    first, *_ = [one for one in bodies(dialect, ("text", "Hel"), finish=None) if b"Hel" in one]
    opening = [one for one in bodies(dialect, ("text", "Hel"), finish=None) if one != first]
    server.answers = [[HEAD, *map(chunk, [*opening, first]), HANG]]
    async with aclosing(model(server, dialect).stream(ASKED)) as parts:
        assert await anext(parts) == TextDelta("Hel")
    await asyncio.wait_for(server.gone.wait(), 5)


async def test_thinking_is_told_from_text(server, dialect):
    server.answers = [stream(*bodies(dialect, ("thinking", "hm"), ("text", "ok")))]
    parts = joined(await reply(model(server, dialect)))
    assert [part for part in parts if isinstance(part, TextDelta | ThinkingDelta)] == [
        ThinkingDelta("hm"),
        TextDelta("ok"),
    ]
    assert [isinstance(part, SegmentEnd) for part in parts] == [False, True, False, True, False]


async def test_calls_keep_their_order_their_ids_and_their_arguments(server, dialect):
    server.answers = [stream(*bodies(dialect, ("text", "Both."), *TWO_CALLS, finish="tool_calls"))]
    parts = await reply(model(server, dialect))
    assert whole_calls(parts) == [("c1", "f", '{"a":1}'), ("c2", "f", "{}")]
    assert (parts[-1].status, parts[-1].finish, parts[-1].usage) == ("completed", "tool_calls", COUNTED)


async def test_a_text_that_the_limit_cut_stays_open(server, dialect):
    server.answers = [stream(*bodies(dialect, ("text", "Hel"), finish="length"))]
    parts = await reply(model(server, dialect))
    assert parts[0] == TextDelta("Hel") and not [part for part in parts if isinstance(part, SegmentEnd)]
    assert (parts[-1].status, parts[-1].finish) == ("completed", "length")


async def test_a_call_in_a_reply_that_was_blocked_never_runs(server, dialect):
    server.answers = [stream(*bodies(dialect, ("text", "Well."), ("call", "c1", "f", "{}"), finish="refusal"))]
    parts = await reply(model(server, dialect))
    assert parts[-1].status == "completed" and parts[-1].finish in ("refusal", "content_filter")


async def test_a_reply_without_its_end_is_no_reply(server, dialect):
    server.answers = [stream(*bodies(dialect, ("text", "Hel"), finish=None))]
    parts = await reply(model(server, dialect))
    assert parts[0] == TextDelta("Hel") and parts[-1].status == "malformed"
    assert not [part for part in parts if isinstance(part, SegmentEnd)]


async def test_a_connection_that_breaks_is_a_timeout_and_what_came_stays_open(server, dialect):
    server.answers = [[*stream(*bodies(dialect, ("text", "Hel"), finish=None), end=b""), None]]
    parts = await reply(model(server, dialect))
    assert parts[0] == TextDelta("Hel") and parts[-1].status == "timeout" and not parts[-1].permanent
    assert not [part for part in parts if isinstance(part, SegmentEnd)]


REFUSALS = {
    "a bad key": (401, "wrong key sk-secret", ("auth", False, False)),
    "too many": (429, "slow down", ("timeout", False, False)),
    "busy": (503, "busy", ("timeout", False, False)),
    "too long": (400, "This model's maximum context length is 10 tokens", ("failed", False, True)),
    "a bad request": (400, "no good", ("failed", False, False)),
}


@pytest.mark.parametrize("name", REFUSALS)
async def test_a_refusal_is_the_same_in_every_dialect(server, dialect, name):
    status, said, expected = REFUSALS[name]
    body = json.dumps({"error": {"message": said, "code": status}}).encode()
    server.answers = [plain(status, body, "retry-after: 2\r\n")]
    (outcome,) = await reply(model(server, dialect))
    assert (outcome.status, outcome.permanent, outcome.context_length) == expected
    assert outcome.message and "sk-secret" not in outcome.message and len(server.bodies) == 1
    assert outcome.retry_after_ms == (2000 if outcome.status == "timeout" else outcome.retry_after_ms)


async def test_chunks_make_no_difference(server, dialect):
    whole = b"".join(bodies(dialect, ("thinking", "hm"), ("text", "é𝄞", "\u2028x"), *TWO_CALLS, finish="tool_calls"))
    single = [HEAD, b"".join(chunk(bytes([byte])) for byte in whole), b"0\r\n\r\n"]
    server.answers = [[HEAD, chunk(whole), b"0\r\n\r\n"], single]
    llm = model(server, dialect)
    at_once, byte_by_byte = joined(await reply(llm)), joined(await reply(llm))
    assert at_once == byte_by_byte
    assert "é𝄞\u2028x" in [part.text for part in at_once if isinstance(part, TextDelta)]


async def test_a_reply_and_the_results_of_its_calls_go_into_the_next_request(server, dialect):
    steps = (("thinking", "hm"), ("text", "Both."), *TWO_CALLS)
    server.answers = [stream(*bodies(dialect, *steps, finish="tool_calls")), stream(*bodies(dialect, ("text", "ok")))]
    llm = model(server, dialect)
    answered = messages(await reply(llm))
    results = [
        ToolCallOutput(tool_call_id=one.tool_call_id, output=f"result of {one.tool_call_id}")
        for one in answered
        if isinstance(one, ToolCall)
    ]
    await reply(llm, replace(ASKED, history=(Commit((GO, *answered)),), input=tuple(results)))
    before, after = (body[dialect.turns] for body in server.bodies)
    sent = json.dumps(after[len(before) :])
    spots = [sent.index(words) for words in ("Both.", "c1", "c2", "result of c1", "result of c2")]
    assert spots == sorted(spots)


async def test_what_is_asked_for_is_sent(server, dialect):
    server.answers = [stream(*bodies(dialect, ("text", "ok")))]
    await reply(model(server, dialect))
    sent = json.dumps(server.bodies[0])
    assert [sent.count(words) for words in ('"the rules"', '"does it"', '"go"', "sk-secret")] == [1, 1, 1, 0]
    assert "response" not in sent  # no format is asked for that nobody wants


async def test_a_reply_is_held_to_the_schema_that_is_asked_for(server, dialect):
    server.answers = [stream(*bodies(dialect, ("text", "{}")))]
    await reply(model(server, dialect), DECIDED)
    assert json.dumps(SCHEMA) in json.dumps(server.bodies[0])


async def test_a_schema_that_is_refused_is_given_up_for_that_model(server, dialect):
    refused = plain(400, json.dumps({"error": {"message": dialect.no_schema}}).encode())
    server.answers = [refused, *(stream(*bodies(dialect, ("text", "{}"))) for _ in range(2))]
    llm = model(server, dialect)
    assert (await reply(llm, DECIDED))[-1].status == "completed"
    assert (await reply(llm, DECIDED))[-1].status == "completed"
    assert ['"required"' in json.dumps(body) for body in server.bodies] == [True, False, False]
