"""What can only be seen with a model that nobody has scripted. Says little about words, and all about how they come."""

import asyncio
import json
import time

import pytest

from tests.e2e.launch import AGENT_LSP
from tests.live.named import BASE_URL, MODEL, WITHIN_S

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.timeout(2 * WITHIN_S),
    pytest.mark.skipif(
        not (BASE_URL and MODEL), reason="AGENT_LSP_LIVE_BASE_URL and AGENT_LSP_LIVE_MODEL name no model"
    ),
]
NAME = f"live/{MODEL}"
WORD = "tamarind"
ABORTED_WITHIN_S = 5


async def run(peer, words, **more):
    return await peer.ask("agent/run", {"input": words, **more}, WITHIN_S)


async def new_session(peer, **more):
    return (await peer.ask("agent/session/new", {"title": "live", **more}))["sessionId"]


async def test_the_command_line_finds_that_the_model_answers(started, config):
    process = await asyncio.create_subprocess_exec(
        *(AGENT_LSP, "models", "--test", NAME, "--config", str(config)),
        cwd=started.cwd,
        env=started.env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    printed, _ = await process.communicate()
    assert process.returncode == 0, printed.decode()


async def test_the_server_finds_that_the_model_answers(peer):
    tried = await peer.ask("agent/models/test", {"model": NAME}, WITHIN_S)
    assert tried["ok"] is True, tried


async def test_an_answer_streams_and_is_counted(peer):
    session = await new_session(peer)
    result = await run(peer, "Count from one to twenty in words, nothing else.", sessionId=session)
    assert result["status"] == "completed" and result["text"].strip(), result
    pieces = peer.stream.of(session, "partial_text")
    assert len(pieces) > 1 and "".join(one["text"] for one in pieces).endswith(result["text"])
    assert result["usage"]["output"] > 0 and result["usage"]["total"] > result["usage"]["output"]


async def test_a_file_is_read_where_the_answer_needs_it(peer, workspace):
    (workspace / "planted.txt").write_text(f"The word of the day is {WORD}.\n")
    session = await new_session(peer)
    asked = "Read the file planted.txt with your read_file tool. Then tell me the word of the day that it names."
    result = await run(peer, asked, sessionId=session)
    assert result["status"] == "completed", result
    assert any(WORD in json.dumps(one) for one in peer.stream.of(session, "tool_call_output")), result
    assert WORD in result["text"].lower()


async def test_a_model_that_decides_step_by_step_answers(peer):
    session = await new_session(peer, mode="loop")
    result = await run(peer, "How many days has a week? Answer at once, without any tool.", sessionId=session)
    assert result["status"] == "completed" and result["text"].strip(), result
    assert result["loop"]["outcome"] == "final_answer", result


async def test_an_abort_in_mid_stream_is_quick_and_the_session_goes_on(peer):
    session = await new_session(peer)
    running = peer.send("agent/run", {"sessionId": session, "input": "Write a very long story about the sea."})

    def is_streaming():
        return peer.stream.of(session, "partial_text") or peer.stream.of(session, "partial_thinking")

    await peer.until(is_streaming, "a first piece", WITHIN_S)
    before_s = time.monotonic()
    assert (await peer.ask("agent/abort", {"sessionId": session}))["aborted"] is True
    assert (await running)["status"] == "aborted"
    assert time.monotonic() - before_s < ABORTED_WITHIN_S
    assert (await run(peer, "Never mind. Say only: ok", sessionId=session))["status"] == "completed"
