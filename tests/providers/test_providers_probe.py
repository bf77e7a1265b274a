import json
import logging
import stat

import pytest

from agent_lsp.providers import probe
from agent_lsp.providers.endpoint import Endpoint
from tests.providers.wire_server import HANG, HEAD, chunk, event, plain, serving, stream

OK = event({"choices": [{"delta": {"content": "OK"}, "finish_reason": "stop"}]})


def endpoint(server, **more):
    return Endpoint("p", "openai-chat", f"{server.url}/v1", "m", api_key="sk-secret", **more)


@pytest.mark.asyncio
async def test_a_reply_that_begins_is_enough():
    async with serving() as server:
        server.answers = [[HEAD, chunk(OK), HANG]]
        result = await probe.test_model(endpoint(server, max_output_tokens=50_000))
    assert result.pop("latencyMs") >= 0
    assert result == {"ok": True, "status": "completed"}
    assert server.bodies[0]["max_tokens"] == 1_024 and "tools" not in server.bodies[0]


@pytest.mark.asyncio
async def test_what_went_wrong_is_said():
    async with serving() as server:
        server.answers = [plain(401, b'{"error": "bad key sk-secret"}'), [HANG], stream(event(b"[DONE]"))]
        refused = await probe.test_model(endpoint(server))
        late = await probe.test_model(endpoint(server), within_s=0.05)
        empty = await probe.test_model(endpoint(server))
    assert (refused["ok"], refused["status"]) == (False, "auth")
    assert refused["message"].startswith("HTTP 401: bad key ***; check the key of ")
    assert (late["status"], late["message"]) == ("timeout", "no answer within 0.05 s")
    assert (empty["ok"], empty["status"]) == (False, "malformed")


@pytest.mark.asyncio
async def test_what_is_sent_is_noted_without_its_content(tmp_path):
    log = tmp_path / "egress.log"
    async with serving() as server:
        server.answers = [plain(400, b'{"error": "unknown field stream_options"}'), stream(OK)]
        await probe.test_model(endpoint(server, egress_log=str(log)))
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line.keys() for line in lines] == [{"time", "host", "bytes", "provider", "model"}] * 2
    assert (lines[0]["host"], lines[0]["model"]) == ("127.0.0.1", "m") and lines[0]["bytes"] > lines[1]["bytes"]
    assert stat.S_IMODE(log.stat().st_mode) == 0o600 and "sk-secret" not in log.read_text()


@pytest.mark.asyncio
async def test_a_note_that_cannot_be_written_is_said_and_stops_nothing(tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    async with serving() as server:
        server.answers = [stream(OK)]
        assert (await probe.test_model(endpoint(server, egress_log=str(tmp_path))))["ok"]
    assert "could not be noted" in caplog.text
