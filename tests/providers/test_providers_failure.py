# ruff: noqa: E501 - one case, one line
import json

import pytest

from agent_lsp.engine.ports import Outcome
from agent_lsp.providers.failure import TransportError, judge, judge_transport, one_line, read_answer, read_error
from agent_lsp.slotted import replace

NOW_S = 1_800_000_000.0


def refused(status, body=b"", **headers):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return judge(read_answer(status, named, raw), ["sk-secret"], NOW_S)


def told(outcome):
    flags = [name for name in ("permanent", "context_length") if getattr(outcome, name)]
    return " ".join([outcome.status, *flags])


def error(message="m", **more):
    return {"error": {"message": message, **more}}


ANSWERS = {
    # status, body → what it means
    "401": (401, b"", "auth"),
    "403": (403, {"message": "The security token is invalid"}, "auth"),
    "400, Gemini's bad key": (400, {"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}, "auth"),
    "400, xAI's bad key": (400, {"code": "invalid-argument", "error": "Incorrect API key provided."}, "auth"),
    "500 that mentions authentication": (500, error("authentication service down"), "timeout"),
    "500 with an auth code": (500, error(type="authentication_error"), "timeout"),
    "408": (408, b"", "timeout"),
    "409": (409, b"", "timeout"),
    "425": (425, b"", "timeout"),
    "429": (429, b"", "timeout"),
    "500": (500, b"", "timeout"),
    "502 HTML": (502, b"<html><body>bad</body></html>", "timeout"),
    "503": (503, error("busy"), "timeout"),
    "504": (504, b"", "timeout"),
    "524": (524, b"", "timeout"),
    "529": (529, error(type="overloaded_error"), "timeout"),
    "429, Scaleway's plain rate limit": (429, error("INSUFFICIENT QUOTA"), "timeout"),
    "429, Vertex out of capacity": (429, error(status="RESOURCE_EXHAUSTED", code=429), "timeout"),
    "429, Gemini's quota of the day gone": (429, error(status="RESOURCE_EXHAUSTED", code=429, details=[{"violations": [{"quotaId": "GenerateRequestsPerDayPerProject"}]}, {"retryDelay": "3s"}]), "failed permanent"),
    "429, Gemini's quota of the minute gone": (429, error(status="RESOURCE_EXHAUSTED", code=429, details=[{"violations": [{"quotaId": "GenerateRequestsPerMinutePerProject"}]}]), "timeout"),
    "429, quota gone": (429, error(type="insufficient_quota", code="insufficient_quota"), "failed permanent"),
    "402": (402, error("pay"), "failed permanent"),
    "404, unknown model by code": (404, error(code="model_not_found"), "failed permanent"),
    "404, Anthropic's unknown model": (404, {"type": "error", **error("model: nope", type="not_found_error")}, "failed permanent"),
    "404, unknown by words only": (404, {"message": "model 'x' was removed"}, "failed"),
    "404, bare": (404, b"", "failed"),
    "400, unsupported parameter": (400, error(code="unsupported_parameter", param="stop"), "failed permanent"),
    "400, bare": (400, error(type="invalid_request_error", code=None), "failed"),
    "422": (422, {"detail": [{"msg": "field required"}]}, "failed"),
    "413": (413, b"", "failed context_length"),
    "400, Groq's broken call": (400, error(code="tool_use_failed"), "malformed"),
    "400, OpenAI's context": (400, error(code="context_length_exceeded"), "failed context_length"),
    "400, Anthropic's context": (400, error("prompt is too long: 3 tokens > 2 maximum"), "failed context_length"),
    "400, vLLM's context, flat": (400, {"object": "error", "message": "maximum context length is 8192"}, "failed context_length"),
    "500, llama.cpp's context": (500, error("Context size has been exceeded."), "failed context_length"),
    "400, Cohere's context": (400, {"error_type": "TOO_MANY_TOKENS", "message": "x"}, "failed context_length"),
    "400, an error in a list": (400, [error("prompt is too long")], "failed context_length"),
    "400, OpenRouter's raw text": (400, error("Provider returned error", metadata={"raw": "Input is too long"}), "failed context_length"),
    "429, quota of input tokens": (429, error("Quota exceeded for metric: input_token_count, limit: 1000000"), "timeout"),
    "302": (302, b"", "failed"),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_answers(name):
    status, body, meaning = ANSWERS[name]
    outcome = refused(status, body)
    assert told(outcome) == meaning
    assert outcome.message and "\n" not in outcome.message


IN_STREAM = {
    "overloaded": ({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, "timeout"),
    "overloaded by words": (error("Overloaded"), "timeout"),
    "a number of that range": (error(code=503), "timeout"),
    "a number as text": (error(code="429"), "timeout"),
    "Gemini's status": (error(status="UNAVAILABLE"), "timeout"),
    "server error": (error(type="server_error"), "timeout"),
    "400": (error("Token limit reached", code=400), "failed"),
    "no code at all": (error("hm"), "failed"),
    "a string": ({"error": "boom"}, "failed"),
    "bad key": (error(code="invalid_api_key"), "auth"),
    "LM Studio's context": (error("Trying to keep the first 9 tokens when context the overflows"), "failed context_length"),
    "Groq's broken call": (error(code="tool_use_failed", status_code=400), "malformed"),
    "nothing": (None, "failed"),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_STREAM)
def test_errors_inside_a_stream(name):
    value, meaning = IN_STREAM[name]
    assert told(judge(read_error(value), [])) == meaning


@pytest.mark.parametrize("reason", ["connect", "silent", "no_content", "broken", "protocol"])
def test_a_broken_connection_is_a_timeout(reason):
    assert told(judge_transport(TransportError(reason, "why"), [])) == "timeout"


def test_what_cannot_be_sent_is_permanent():
    assert told(judge_transport(TransportError("unusable", "bad header"), [])) == "failed permanent"


WAITS = {
    "seconds": ({"retry_after": "7"}, "", 7_000),
    "fractions": ({"retry_after": "0.5"}, "", 500),
    "milliseconds first": ({"retry_after_ms": "250", "retry_after": "1"}, "", 250),
    "a zero in milliseconds is no answer": ({"retry_after_ms": "0", "retry_after": "1"}, "", 1_000),
    "zero": ({"retry_after": "0"}, "", 0),
    "a past date means now": ({"retry_after": "Wed, 21 Oct 2015 07:28:00 GMT"}, "", 0),
    "a date": ({"retry_after": "Fri, 15 Jan 2027 08:00:30 GMT"}, "", 30_000),
    "rubbish": ({"retry_after": "soon"}, "", None),
    "infinity": ({"retry_after": "inf"}, "", None),
    "RetryInfo": ({}, {"error": {"message": "m", "details": [{"retryDelay": "34.07s"}]}}, 34_070),
    "in the text": ({}, error("Please try again in 1.5s."), 1_500),
    "in the text, in parts": ({}, error("Please try again in 6m0s."), 360_000),
    "in the text, in words": ({}, error("retry after 20 seconds"), 20_000),
    "a reset in RFC 3339": ({"anthropic_ratelimit_tokens_remaining": "0", "anthropic_ratelimit_tokens_reset": "2027-01-15T08:00:09Z"}, "", 9_000),
    "a reset as a duration": ({"x_ratelimit_remaining_requests": "0", "x_ratelimit_reset_requests": "6m0s"}, "", 360_000),
    "a limit that is not exhausted": ({"x_ratelimit_remaining_tokens": "99", "x_ratelimit_reset_tokens": "12ms"}, "", None),
    "a reset in milliseconds of the epoch": ({"x_ratelimit_remaining": "0", "x_ratelimit_reset": "1800000004000"}, "", 4_000),
    "nothing": ({}, "", None),
}  # fmt: skip


@pytest.mark.parametrize("name", WAITS)
def test_waits_that_are_asked_for(name):
    headers, body, wait_ms = WAITS[name]
    assert refused(429, body or b"", **headers).retry_after_ms == wait_ms


def test_the_rate_limit_headers_count_only_when_a_limit_was_hit():
    assert refused(503, x_ratelimit_remaining="0", x_ratelimit_reset="9s").retry_after_ms is None


def test_the_providers_own_word_on_retrying_overrides_the_status():
    assert told(refused(400, error(), x_should_retry="true")) == "timeout"
    assert told(refused(500, error(), x_should_retry="false")) == "failed permanent"
    assert told(refused(401, error(), x_should_retry="true")) == "auth"


def test_no_secret_is_ever_in_a_message():
    secrets = ["sk-secret", "Bearer tok-en-1"]
    outcome = judge(read_answer(401, {}, b'{"error": "wrong key sk-secret, tok-en-1"}'), secrets)
    assert outcome.message == "HTTP 401: wrong key ***, ***"
    assert judge_transport(TransportError("broken", "x sk-secret"), secrets).message == "the connection broke: x ***"


def test_messages_are_one_short_line():
    page = b"<!DOCTYPE html><html><head><title>502 Bad\nGateway</title></head>" + b"<p>x</p>" * 9_000
    assert refused(502, page).message == "HTTP 502: an HTML page: 502 Bad Gateway"
    assert refused(500, b"a\x1b[31m\n  b").message == "HTTP 500: a [31m b"
    assert len(refused(500, b"x" * 9_000).message) == 300
    assert refused(500).message == "HTTP 500: no explanation"
    assert refused(302, location="https://x/y").message.startswith("HTTP 302: redirected to https://x/y")


def test_a_mask_survives_the_cut():
    assert "sk-sec" not in one_line("x" * 295 + "sk-secret", ["sk-secret"])


def test_outcomes_of_failures_count_nothing():
    assert replace(refused(500), message=None) == Outcome("timeout")
