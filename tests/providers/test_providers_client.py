# ruff: noqa: E501
"""The adapters over a real connection: a server in the test's own event loop says exactly what it is told to."""

import asyncio
import gzip
import json
import logging
from contextlib import aclosing

import pytest
import pytest_asyncio

from agent_lsp.engine.ports import CallBegin, Commit, Outcome, Request, SegmentEnd, TextDelta, ThinkingDelta
from agent_lsp.messages.content import Text, Thinking
from agent_lsp.messages.events import ToolSpec
from agent_lsp.providers import exchange, switches
from agent_lsp.providers.build import build
from agent_lsp.providers.endpoint import Endpoint
from agent_lsp.slotted import replace
from tests.providers.wire_server import HANG, HEAD, chunk, event, plain, serving, stream

REQUEST = Request("sys", (), (), (Text(role="user", text="go"),), thinking_level="high")


def delta(finish=None, **fields):
    return event({"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]})


OK = [delta(content="Hel"), delta(content="lo"), delta("stop"), event(b"[DONE]")]


@pytest_asyncio.fixture
async def server(monkeypatch):
    monkeypatch.setattr(switches, "_remembered", {})
    async with serving() as running:
        yield running


def model(server, api="openai-chat", **more):
    base = server.url + ("/v1" if "openai" in api else "")
    more = {"api_key": "sk-secret", "headers": {"X-Extra": "extra-value"}, **more}
    return build(Endpoint("p", api, base, "m", **more))


async def reply(llm, request=REQUEST):
    return [part async for part in llm.stream(request)]


async def outcome(llm):
    return (await reply(llm))[-1]


@pytest.mark.asyncio
async def test_a_reply_streams_and_its_connection_is_used_again(server):
    server.answers = [stream(*OK), stream(*OK)]
    llm = model(server)
    parts = await reply(llm)
    assert "".join(part.text for part in parts if isinstance(part, TextDelta)) == "Hello"
    assert parts[-2:] == [SegmentEnd(), parts[-1]] and parts[-1].status == "completed"
    assert (await reply(llm))[-1].finish == "stop"
    assert server.connections == 1


@pytest.mark.asyncio
async def test_what_is_sent(server):
    server.answers = [stream(*OK), stream(event({"type": "message_stop"}))]
    await reply(model(server))
    await reply(model(server, "anthropic"))
    chat, claude = (head.lower() for head in server.heads)
    assert chat.startswith("post /v1/chat/completions ") and "authorization: bearer sk-secret" in chat
    assert claude.startswith("post /v1/messages ") and "x-api-key: sk-secret" in claude
    assert all("x-extra: extra-value" in head for head in (chat, claude)) and "anthropic-version: 2023-06-01" in claude
    assert server.bodies[0]["messages"][1] == {"role": "user", "content": "go"}


@pytest.mark.asyncio
async def test_the_other_dialect_streams_too(server):
    events = [
        {"type": "message_start", "message": {"id": "1", "usage": {"input_tokens": 7}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "S"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "t", "name": "f"}},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ]
    server.answers = [stream(*map(event, events))]
    parts = await reply(model(server, "anthropic"))
    assert [part for part in parts if not isinstance(part, Outcome | ThinkingDelta)] == [
        SegmentEnd(None, {"anthropic": {"signature": "S"}}),
        CallBegin(0, "f", "t"),
        SegmentEnd(0),
    ]
    assert (parts[-1].finish, parts[-1].usage.total) == ("tool_calls", 10)


def refusal(message, param=None):
    return plain(400, json.dumps({"error": {"message": message, "param": param, "code": "unsupported_value"}}).encode())


TEXT = {"type": "response.output_text.delta", "output_index": 0, "delta": "ok"}
GONE = {"type": "response.completed", "response": {"status": "completed"}}
PARTS = {"candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": "STOP"}]}


@pytest.mark.asyncio
async def test_what_is_sent_in_the_newer_dialects(server):
    server.answers = [stream(event(TEXT), event(GONE)), stream(event(PARTS)), stream(event(PARTS))]
    assert (await outcome(model(server, "openai-responses"))).status == "completed"
    assert (await outcome(model(server, "gemini"))).status == "completed"
    tuned = Endpoint("p", "gemini", f"{server.url}/v1/projects/x/publishers/google?k=v", "m", api_key="k")
    assert (await outcome(build(tuned))).status == "completed"
    responses, gemini, vertex = (head.lower() for head in server.heads)
    assert responses.startswith("post /v1/responses ") and "authorization: bearer sk-secret" in responses
    assert gemini.startswith("post /v1beta/models/m:streamgeneratecontent?alt=sse ")
    assert "x-goog-api-key: sk-secret" in gemini and "authorization" not in gemini
    assert vertex.startswith("post /v1/projects/x/publishers/google/models/m:streamgeneratecontent?k=v&alt=sse ")


def marked(adapter, **kept):
    fidelity = {adapter: {"provider": "p", **kept}}
    thought = Thinking(thinking="", fidelity=fidelity)
    history = (Commit((Text(role="user", text="q"), thought, Text(role="assistant", text="a"))),)
    return replace(REQUEST, history=history)


FORM = {"type": "object", "properties": {"t": {"type": "string"}}, "additionalProperties": False}
DECISION = replace(REQUEST, thinking_level=None, response_schema=FORM)
LOWERED = {
    "an effort": ("openai-responses", "gpt-5", ("Unsupported value: 'high'", "reasoning.effort"), REQUEST, ("reasoning", {"effort": "medium", "summary": "auto"})),
    "any effort": ("openai-responses", "gpt-5", ("Unsupported parameter: 'reasoning.effort'", None), REQUEST, ("reasoning", None)),
    "a summary": ("openai-responses", "gpt-5", ("Your organization must be verified", "reasoning.summary"), REQUEST, ("reasoning", {"effort": "high"})),
    "encryption": ("openai-responses", "gpt-5", ("Encrypted content is not supported with this model.", "include"), REQUEST, ("include", None)),
    "what cannot be decrypted": ("openai-responses", "gpt-5", ("The encrypted content could not be verified.", None), marked("openai_responses", item={"type": "reasoning", "encrypted_content": "E"}), None),
    "a level": ("gemini", "gemini-3.5-flash", ("Thinking level HIGH is not supported", None), REQUEST, ("generationConfig", {"thinkingConfig": {"thinkingLevel": "low", "includeThoughts": True}})),
    "thinking": ("gemini", "gemini-3.5-flash", ("Thinking is not supported by this model", None), REQUEST, ("generationConfig", None)),
    "a schema": ("gemini", "m", ("Unknown name \"parametersJsonSchema\"", None), replace(REQUEST, tools=(ToolSpec(name="t", description="", parameters={}),)), ("tools", [{"functionDeclarations": [{"name": "t", "description": ""}]}])),
    "a newer field": ("gemini", "m", ('Unknown name "responseJsonSchema" at \'generation_config\'', None), DECISION, ("generationConfig", {"responseMimeType": "application/json", "responseSchema": {"type": "object", "properties": {"t": {"type": "string"}}}})),
    "a form of reply": ("gemini", "m", ("The specified schema produces a constraint that has too many states", None), DECISION, ("generationConfig", None)),
    "a reply's format": ("openai-responses", "m", ("Invalid schema for response_format 'decision'", "text.format.schema"), DECISION, ("text", None)),
    "a signature": ("gemini", "m", ("Thought signature is not valid", None), marked("gemini", part={"text": "", "thoughtSignature": "S"}), None),
}  # fmt: skip


@pytest.mark.asyncio
@pytest.mark.parametrize("name", LOWERED)
async def test_what_a_newer_dialect_can_do_without_is_given_up_once(server, name):
    api, called, (said, param), request, expected = LOWERED[name]
    answer = stream(event(TEXT), event(GONE)) if api == "openai-responses" else stream(event(PARTS))
    server.answers = [refusal(said, param), answer]
    llm = build(Endpoint("p", api, server.url, called))
    assert (await reply(llm, request))[-1].status == "completed"
    before, after = server.bodies
    assert before != after
    if expected:
        field, value = expected
        assert after.get(field) == value


@pytest.mark.asyncio
@pytest.mark.parametrize("api", ["openai-responses", "gemini"])
async def test_nothing_is_sent_again_when_nothing_would_change(server, api):
    server.answers = [refusal("the encrypted content or thought signature could not be verified")]
    assert (await outcome(model(server, api))).status == "failed" and len(server.bodies) == 1


@pytest.mark.asyncio
async def test_a_refusal_that_quotes_a_value_of_someone_else_is_not_sent_again(server):
    server.answers = [refusal("Unsupported value: 'minimal'. Supported values are: 'high'", "reasoning.effort")]
    endpoint = Endpoint("p", "openai-responses", server.url, "gpt-5")
    assert (await outcome(build(endpoint))).status == "failed" and len(server.bodies) == 1


FAILURES = {
    "refused": (plain(503, b'{"error": {"message": "busy"}}', "retry-after: 2\r\n"), "timeout", "busy"),
    "dropped": ([None], "timeout", "broke"),
    "cut": ([*stream(OK[0], end=b""), None], "timeout", "broke"),
    "not HTTP": ([b"hello there\r\n\r\n", None], "timeout", "broke"),
    "no end mark": (stream(OK[0]), "malformed", "ended before"),
    "nothing": (stream(), "malformed", "ended before"),
    "an event that is no JSON": (stream(event(b"{oops")), "malformed", "not JSON"),
    "a web page": (plain(200, b"<html>hi</html>"), "malformed", "web page"),
    "a bad key": (plain(401, b'{"error": "wrong key sk-secret of extra-value"}'), "auth", "wrong key *** of ***"),
    "an error in the stream": (stream(event({"error": {"message": "x", "type": "overloaded_error"}})), "timeout", "x"),
}  # fmt: skip


@pytest.mark.asyncio
@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("api", ["openai-chat", "openai-responses", "anthropic", "gemini"])
async def test_failures_are_outcomes(server, name, api):
    answer, status, words = FAILURES[name]
    server.answers = [answer]
    ended = await outcome(model(server, api))
    assert ended.status == status and words in ended.message
    assert ended.retry_after_ms == (2_000 if name == "refused" else None)


@pytest.mark.asyncio
async def test_nobody_listening_is_a_timeout(server):
    ended = await outcome(build(Endpoint("p", "openai-chat", "http://127.0.0.1:1/v1", "m")))
    assert ended.status == "timeout" and ended.message.startswith("cannot connect")


@pytest.mark.asyncio
async def test_what_cannot_be_sent_is_permanent_and_quotes_nothing(server):
    ended = await outcome(model(server, api_key="sk-\nsecret"))
    assert ended.permanent and ended.status == "failed" and "secret" not in ended.message


@pytest.mark.asyncio
async def test_a_whole_answer_in_json_is_read(server):
    whole = {"choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}
    server.answers = [plain(200, json.dumps(whole).encode(), "content-type: application/json\r\n")]
    assert [part for part in await reply(model(server)) if isinstance(part, TextDelta)] == [TextDelta("Hi")]


@pytest.mark.asyncio
async def test_a_compressed_stream_is_read(server):
    body = gzip.compress(b"".join(OK))
    server.answers = [plain(200, body, "content-encoding: gzip\r\n")]
    assert (await outcome(model(server))).status == "completed"


@pytest.mark.asyncio
async def test_silence_is_a_timeout(server):
    server.answers = [[*stream(OK[0], end=b""), HANG], [HANG]]
    llm = model(server, request_timeout_s=0.05)
    parts = await reply(llm)
    assert parts[0] == TextDelta("Hel") and parts[-1].status == "timeout"
    assert (await outcome(llm)).message.startswith("no answer in time")


@pytest.mark.asyncio
async def test_pings_do_not_count_as_content(server, monkeypatch):
    ping, first_was_read = chunk(b": ping\n\n"), asyncio.Event()
    server.answers = [[HEAD, ping, first_was_read, ping, HANG]]
    clock = iter(range(0, 10_000, 100))

    def now_s():
        now = next(clock)
        if now == 100:
            first_was_read.set()
        return now

    monkeypatch.setattr(exchange, "_now_s", now_s)
    ended = await outcome(model(server, content_timeout_s=150))
    assert (ended.status, ended.message) == ("timeout", "connected, but no content in time")


@pytest.mark.asyncio
async def test_a_finished_reply_does_not_wait_for_a_server_that_never_closes(server, monkeypatch):
    monkeypatch.setattr(exchange, "_GRACE_S", 0.01)
    server.answers = [[*stream(*OK[:3], end=b""), HANG]]
    assert (await outcome(model(server))).finish == "stop"


@pytest.mark.asyncio
async def test_closing_lets_go_of_the_connection_at_once(server):
    server.answers = [[*stream(OK[0], end=b""), HANG]]
    async with aclosing(model(server).stream(REQUEST)) as parts:
        assert await anext(parts) == TextDelta("Hel")
    await asyncio.wait_for(server.gone.wait(), 5)


@pytest.mark.asyncio
@pytest.mark.parametrize("answer", [[HANG], [*stream(OK[0], end=b""), HANG]], ids=["before the answer", "inside it"])
async def test_cancelling_lets_go_of_the_connection_at_once(server, answer):
    server.answers = [answer]
    task = asyncio.ensure_future(reply(model(server)))
    await server.asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(server.gone.wait(), 5)


@pytest.mark.asyncio
async def test_a_refused_switch_is_lowered_once_and_remembered(server, caplog):
    caplog.set_level(logging.INFO)
    server.answers = [
        refusal("Unrecognized request argument: stream_options"),
        refusal("Unsupported value: 'high'", "reasoning_effort"),
        stream(*OK),
        stream(*OK),
    ]
    llm = model(server)
    assert (await outcome(llm)).status == "completed"
    assert (await outcome(llm)).status == "completed"
    assert [body.get("reasoning_effort") for body in server.bodies] == ["high", "high", "medium", "medium"]
    assert ["stream_options" in body for body in server.bodies] == [True, False, False, False]
    assert [r.message for r in caplog.records if r.name == exchange.__name__] == [
        "p/m refuses stream_options: sent again without it",
        "p/m refuses reasoning_effort: sent again without it",
    ]


@pytest.mark.asyncio
async def test_a_refusal_that_names_no_switch_is_not_sent_again(server):
    server.answers = [refusal("no good")]
    assert (await outcome(model(server))).permanent and len(server.bodies) == 1


@pytest.mark.asyncio
async def test_a_signature_that_is_not_taken_again_costs_the_earlier_thinking_once(server):
    message = "messages.1.content.0: Invalid `signature` in `thinking` block"
    done = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ok"}},
        {"type": "message_stop"},
    ]
    server.answers = [refusal(message), stream(*map(event, done)), refusal(message), refusal(message)]
    llm = model(server, "anthropic")
    assert (await outcome(llm)).status == "completed"
    assert (await outcome(llm)).status == "failed" and len(server.bodies) == 4


@pytest.mark.asyncio
async def test_a_reply_has_one_outcome_and_it_is_last(server):
    server.answers = [stream(*OK, *OK)]
    parts = await reply(model(server))
    assert [isinstance(part, Outcome) for part in parts] == [False] * (len(parts) - 1) + [True]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "said",
    [
        "This response_format type is unavailable now",
        "This model does not support response format `json_schema`",
        'invalid format: "x"; expected "json" or a valid JSON Schema object',
        "Failed to parse grammar",
        "structured outputs are not supported",
    ],
)
async def test_a_schema_is_given_up_in_whatever_words_a_compatible_server_refuses_it(server, said):
    server.answers = [refusal(said), stream(*OK)]
    assert (await reply(model(server), DECISION))[-1].status == "completed"
    assert ["response_format" in body for body in server.bodies] == [True, False]
