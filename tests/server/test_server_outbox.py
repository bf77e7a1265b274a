from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.messages.content import PartialText, PartialToolCall, PartialToolCallOutput, Text
from agent_lsp.messages.envelope import envelope
from agent_lsp.messages.events import RequestBegin
from agent_lsp.server.framing import Decoder
from agent_lsp.server.outbox import Outbox


class Wire:
    """Takes everything, until it is told to be slow."""

    def __init__(self) -> None:
        self.paused = False
        self.writes = 0
        self._decoder = Decoder()
        self.bodies: list[dict] = []

    def write(self, data: bytes) -> None:
        self.writes += 1
        self._decoder.feed(data)
        while (body := self._decoder.take()) is not None:
            assert isinstance(body, bytes)
            self.bodies.append(json.loads(body))

    @property
    def messages(self) -> list[tuple[str, int, str]]:
        """(session, seq, type or text) of every message."""
        return [
            (
                body["params"]["sessionId"],
                body["params"]["seq"] + index,
                one["payload"].get("text") or one["payload"]["type"],
            )
            for body in self.bodies
            if body.get("method") == "agent/message"
            for index, one in enumerate(body["params"]["messages"])
        ]


def delta(text: str, origin: tuple[str, ...] | None = None):
    return envelope(PartialText(event_type="delta", text=text), origin=origin)


def whole(text: str):
    return envelope(Text(role="assistant", text=text))


async def turn() -> None:
    """Lets the loop make one turn."""
    await asyncio.sleep(0)


@pytest.fixture
def wire() -> Wire:
    return Wire()


@pytest.mark.asyncio
async def test_what_is_ready_together_leaves_in_one_write_and_shares_a_notification(wire):
    outbox = Outbox(wire)
    outbox.message("s", "r", whole("a"))
    outbox.message("s", "r", envelope(RequestBegin()))
    assert wire.writes == 0
    await turn()
    assert wire.writes == 1
    (body,) = wire.bodies
    assert body["params"]["runId"] == "r" and body["params"]["seq"] == 0
    assert [one["payload"]["type"] for one in body["params"]["messages"]] == ["text", "request_begin"]


@pytest.mark.asyncio
async def test_a_message_leaves_in_the_turn_in_which_it_was_made(wire):
    outbox = Outbox(wire)
    for text in "abc":
        outbox.message("s", None, delta(text))
        await turn()
    assert wire.messages == [("s", 0, "a"), ("s", 1, "b"), ("s", 2, "c")]
    assert "runId" not in wire.bodies[0]["params"]


@pytest.mark.asyncio
async def test_queued_deltas_of_a_segment_become_one_and_take_one_number(wire):
    outbox = Outbox(wire)
    for text in "abc":
        outbox.message("s", "r", delta(text))
    outbox.message("s", "r", envelope(PartialText(event_type="stop")))
    outbox.message("s", "r", delta("d"))
    await turn()
    assert wire.messages == [("s", 0, "abc"), ("s", 1, "partial_text"), ("s", 2, "d")]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (delta("a"), delta("b", ("child",))),
        (
            envelope(PartialToolCall(event_type="delta", name="n", arguments="a", tool_call_id="1")),
            envelope(PartialToolCall(event_type="delta", name="n", arguments="b", tool_call_id="2")),
        ),
        (
            envelope(PartialToolCallOutput(event_type="delta", output="a", tool_call_id="1", images=("data:,",))),
            envelope(PartialToolCallOutput(event_type="delta", output="b", tool_call_id="1")),
        ),
        (delta("a"), envelope(PartialToolCallOutput(event_type="delta", output="b", tool_call_id="1"))),
    ],
)
async def test_deltas_of_different_segments_are_not_merged(wire, first, second):
    outbox = Outbox(wire)
    outbox.message("s", "r", first)
    outbox.message("s", "r", second)
    await turn()
    assert [number for _, number, _ in wire.messages] == [0, 1]


@pytest.mark.asyncio
async def test_nothing_is_merged_with_what_is_no_longer_last(wire):
    outbox = Outbox(wire)
    outbox.message("s", "r", delta("a"))
    outbox.message("t", "r", delta("x"))
    outbox.message("s", "r", delta("b"))
    outbox.post(b'{"id":1}')
    outbox.message("s", "r", delta("c"))
    outbox.message("s", "q", delta("d"))
    await turn()
    assert wire.messages == [("s", 0, "a"), ("t", 0, "x"), ("s", 1, "b"), ("s", 2, "c"), ("s", 3, "d")]
    assert wire.bodies[3] == {"id": 1}


@pytest.mark.asyncio
async def test_nothing_is_merged_across_a_barrier_which_tells_the_next_number(wire):
    outbox = Outbox(wire)
    assert outbox.barrier("s") == 0
    outbox.message("s", "r", delta("a"))
    outbox.message("s", "r", delta("b"))
    assert outbox.barrier("s") == 1
    outbox.message("s", "r", delta("c"))
    await turn()
    assert wire.messages == [("s", 0, "ab"), ("s", 1, "c")]
    assert [body["params"]["seq"] for body in wire.bodies] == [0, 1]


@pytest.mark.asyncio
async def test_a_client_without_partials_gets_none_and_no_number_is_lost(wire):
    outbox = Outbox(wire, partials=False)
    for message in (delta("a"), whole("b"), delta("c"), whole("d")):
        outbox.message("s", "r", message)
    await turn()
    assert wire.messages == [("s", 0, "b"), ("s", 1, "d")]


@pytest.mark.asyncio
async def test_a_slow_client_gets_merged_deltas_in_notifications_of_bounded_size(wire):
    outbox = Outbox(wire)
    wire.paused = True
    for _ in range(1000):
        outbox.message("s", "r", delta("x" * 1000))
        await turn()
    assert wire.writes == 0
    wire.paused = False
    outbox.flush()
    assert "".join(text for _, _, text in wire.messages) == "x" * 1_000_000
    assert 10 < len(wire.bodies) < 40
    assert [number for _, number, _ in wire.messages] == list(range(len(wire.messages)))


@pytest.mark.asyncio
async def test_drain_holds_above_the_mark_until_the_client_reads(wire):
    outbox = Outbox(wire, high_water_bytes=1000)
    await asyncio.wait_for(outbox.drain(), 1)
    wire.paused = True
    outbox.message("s", "r", whole("x" * 2000))
    waiting = asyncio.ensure_future(outbox.drain())
    await turn()
    assert not waiting.done()
    outbox.post(b"{}")
    wire.paused = False
    outbox.flush()
    await asyncio.wait_for(waiting, 1)
    assert outbox.queued_bytes == 0


@pytest.mark.asyncio
@pytest.mark.parametrize("end", ["die", "hurry"])
async def test_an_end_releases_everyone_who_waits_and_holds_nobody_after(wire, end):
    outbox = Outbox(wire, high_water_bytes=10)
    wire.paused = True
    outbox.post(b'"a long message"')
    waiting = [asyncio.ensure_future(outbox.drain()) for _ in range(3)]
    await turn()
    waiting[0].cancel()
    getattr(outbox, end)()
    await asyncio.wait_for(asyncio.gather(*waiting[1:], outbox.drain()), 1)


@pytest.mark.asyncio
async def test_a_dead_client_is_sent_nothing(wire):
    outbox = Outbox(wire)
    outbox.post(b"{}")
    outbox.die()
    outbox.post(b"{}")
    outbox.message("s", "r", whole("a"))
    await turn()
    assert wire.writes == 0 and outbox.queued_bytes == 0


@pytest.mark.asyncio
async def test_a_lone_surrogate_does_not_stop_the_stream(wire):
    outbox = Outbox(wire)
    outbox.message("s", "r", whole("a\ud800b"))
    outbox.message("s", "r", delta("\udc00"))
    outbox.message("s", "r", delta("c"))
    await turn()
    assert wire.messages == [("s", 0, "a\ufffdb"), ("s", 1, "\ufffdc")]


STEP = st.one_of(
    st.tuples(
        st.just("delta"), st.sampled_from(["s", "t"]), st.sampled_from(["r", "q"]), st.text(min_size=1, max_size=5)
    ),
    st.tuples(st.just("whole"), st.sampled_from(["s", "t"]), st.just("r"), st.text(min_size=1, max_size=5)),
    st.tuples(st.sampled_from(["post", "barrier", "turn", "pause", "resume"]), st.just("s"), st.just(""), st.just("")),
)


@settings(deadline=None)
@given(st.lists(STEP, max_size=40))
def test_nothing_is_lost_or_reordered_and_numbers_never_skip(steps):
    asyncio.run(_check_order(steps))


async def _check_order(steps) -> None:
    wire = Wire()
    outbox = Outbox(wire)
    sent: list[tuple[str, str]] = []
    for kind, session, run, text in steps:
        if kind in ("delta", "whole"):
            sent.append((session, text))
            outbox.message(session, run, delta(text) if kind == "delta" else whole(text))
        elif kind == "post":
            outbox.post(b"{}")
        elif kind == "barrier":
            assert outbox.barrier(session) <= len(sent)
        elif kind == "turn":
            await turn()
        else:
            wire.paused = kind == "pause"
            outbox.flush()
    wire.paused = False
    outbox.flush()
    for session in ("s", "t"):
        mine = [(number, text) for name, number, text in wire.messages if name == session]
        assert [number for number, _ in mine] == list(range(len(mine)))
        assert "".join(text for _, text in mine) == "".join(text for name, text in sent if name == session)
    assert outbox.queued_bytes == 0
