"""A client that stops reading holds back the model, not the server; what it reads later is exact."""

import re
from pathlib import Path

import pytest

from tests.e2e.model_server import Flood, say
from tests.e2e.peer import EVERYTHING

pytestmark = pytest.mark.asyncio
SENT = 12 * 2**20
QUEUED = 256 * 2**10
ALLOWED = 5 * 2**20


def resident_bytes(peer):
    status = Path(f"/proc/{peer.server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024


@pytest.fixture
def flood():
    return Flood("0123456789abcde\n" * 512, SENT // 8192)


async def test_a_client_that_does_not_read_holds_the_model_back_and_misses_nothing(greet, model, flood):
    peer = await greet(limits={"maxQueuedBytes": QUEUED})
    model.script([say("warm")], [flood])
    await peer.ask("agent/run", {"input": "go"})
    before = resident_bytes(peer)
    run = peer.send("agent/run", {"input": "go"})
    peer.hold()

    await flood.stalled.wait()
    grown = resident_bytes(peer) - before
    peer.go_on()

    assert (await run)["text"] == flood.text
    assert grown < ALLOWED
    session = (await run)["sessionId"]
    assert peer.stream.of(session, "text")[-1]["text"] == flood.text
    peer.stream.check_all_closed()


async def test_a_client_that_does_not_read_can_still_abort(greet, model, flood):
    peer = await greet(limits={"maxQueuedBytes": QUEUED})
    model.script([flood])
    run = peer.send("agent/run", {"input": "go"})
    peer.hold()
    await flood.stalled.wait()
    aborted = peer.send("agent/abort")
    peer.go_on()

    assert (await aborted)["aborted"] is True
    result = await run
    assert result["status"] == "aborted"
    assert len(result["text"]) < SENT
    assert flood.text.startswith(result["text"])
    peer.stream.check_all_closed()


async def test_a_client_that_never_reads_again_can_shut_the_server_down(greet, model, flood):
    peer = await greet(limits={"maxQueuedBytes": QUEUED})
    model.script([flood])
    peer.send("agent/run", {"input": "go"})
    peer.hold()
    await flood.stalled.wait()
    peer.send("shutdown")
    peer.notify("exit")

    await peer.server.gone()
    await peer.hang_up()
    assert await peer.server.status() == 0


async def test_a_client_that_wants_no_fragments_gets_none_and_its_numbers_have_no_gap(greet, model):
    peer = await greet(agent=EVERYTHING | {"partials": False})
    model.script([say("Hel", "lo", ".")])
    result = await peer.ask("agent/run", {"input": "go"})

    kinds = [one["type"] for one in peer.stream.of(result["sessionId"])]
    assert kinds == ["tool_list_ready", "request_begin", "text", "token_usage", "request_end"]
    history = await peer.ask("agent/session/history", {"sessionId": result["sessionId"]})
    assert history["nextSeq"] == len(kinds)
