"""A page is made by a process of its own, which does not outlive the server, whatever ends it."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from tests.e2e.model_server import say

pytestmark = pytest.mark.asyncio
WITHIN_S = 30
ENDS = {"kill": signal.SIGKILL, "term": signal.SIGTERM}


async def stopped_process(session_id):
    """The process that makes the page of a session, stopped before it can be done."""
    deadline = time.monotonic() + WITHIN_S
    while True:
        for one in Path("/proc").glob("[0-9]*"):
            if session_id.encode() in words(one) and b"html" in words(one):
                os.kill(int(one.name), signal.SIGSTOP)
                return one
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


def words(process):
    try:
        return (process / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


async def gone(process):
    deadline = time.monotonic() + WITHIN_S
    while words(process):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def traced(peer, model):
    model.script([say("Done.")])
    return (await peer.ask("agent/run", {"input": "go"}))["sessionId"]


@pytest.mark.parametrize("how", ENDS)
async def test_it_dies_with_a_server_that_is_killed(peer, model, how):
    session = await traced(peer, model)
    peer.send("agent/session/page", {"sessionId": session})
    process = await stopped_process(session)
    peer.server.process.send_signal(ENDS[how])
    await peer.server.status()
    await gone(process)


async def test_it_holds_nobody_up_while_it_is_at_work_and_ends_when_nobody_wants_it(peer, model):
    session = await traced(peer, model)
    body, page = peer.prepare("agent/session/page", {"sessionId": session})
    peer.write(body)
    process = await stopped_process(session)
    assert (await traced(peer, model)) == session  # a whole run, meanwhile
    peer.notify("$/cancelRequest", {"id": body["id"]})
    with pytest.raises(Exception, match="-32800"):
        await page
    await gone(process)
