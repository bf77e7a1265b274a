"""What waits to be sent: in order, bounded, and in few pieces to whoever reads slowly."""

import asyncio
import json

import pytest

from agent_lsp.acp.outbox import Outbox

pytestmark = pytest.mark.asyncio


class Wire:
    def __init__(self, paused=False):
        self.paused, self.sent = paused, b""

    def write(self, data):
        self.sent += data

    @property
    def lines(self):
        return [json.loads(line) for line in self.sent.splitlines()]


def texts(wire):
    return [one if isinstance(one, int) else one["params"]["update"]["content"]["text"] for one in wire.lines]


async def test_chunks_that_wait_are_joined_and_nothing_overtakes():
    outbox = Outbox(wire := Wire())
    for piece in ("a", "b"):
        outbox.chunk("s", "agent_message_chunk", "m", piece)
    outbox.post(b"1")
    outbox.chunk("s", "agent_message_chunk", "m", "c")
    outbox.chunk("s", "agent_message_chunk", "n", "d")
    outbox.chunk("t", "agent_message_chunk", "n", "e")
    outbox.flush()
    assert texts(wire) == ["ab", 1, "c", "d", "e"]


async def test_producers_wait_while_the_client_does_not_read():
    outbox = Outbox(wire := Wire(paused=True), high_water_bytes=1000)
    outbox.chunk("s", "agent_message_chunk", "m", "x" * 1000)
    waiting = asyncio.create_task(outbox.drain())
    await asyncio.sleep(0)
    assert not waiting.done()
    wire.paused = False
    outbox.flush()
    await asyncio.wait_for(waiting, 5)


@pytest.mark.parametrize("end", [Outbox.die, Outbox.hurry])
async def test_nobody_waits_for_a_client_that_is_gone_or_at_the_end(end):
    outbox = Outbox(Wire(paused=True), high_water_bytes=1)
    outbox.post(b"{}")
    waiting = asyncio.create_task(outbox.drain())
    await asyncio.sleep(0)
    end(outbox)
    await asyncio.wait_for(waiting, 5)


async def test_what_no_utf8_can_hold_is_replaced():
    outbox = Outbox(wire := Wire())
    outbox.chunk("s", "agent_thought_chunk", "m", "a\ud800b")
    outbox.flush()
    assert texts(wire) == ["a\ufffdb"]
