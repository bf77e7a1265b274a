import asyncio
from contextlib import aclosing

import pytest

from agent_lsp.engine.ports import CallBegin, CallDelta, Outcome, Request, SegmentEnd, TextDelta, ThinkingDelta
from agent_lsp.messages.content import Text
from agent_lsp.providers.scripted import USAGE, Scripted, call, fail, finish, gate, text, thinking, torn, usage

REQUEST = Request("", (), (), (Text(role="user", text="go"),))


async def played_by(llm):
    return [part async for part in llm.stream(REQUEST)]


async def played(*turn):
    llm = Scripted()
    llm.script(turn)
    return await played_by(llm)


@pytest.mark.asyncio
async def test_segments_end_when_the_next_begins_and_the_turn_completes():
    assert await played(thinking("hm", fidelity={"a": 1}), text("Hel", "lo"), call("read", {"p": 1}), usage(7, 1)) == [
        ThinkingDelta("hm"),
        SegmentEnd(None, {"a": 1}),
        TextDelta("Hel"),
        TextDelta("lo"),
        SegmentEnd(),
        CallBegin(0, "read", "call_1_0"),
        CallDelta(0, '{"p": 1}'),
        SegmentEnd(0),
        Outcome("completed", usage=usage(7, 1).usage, finish="tool_calls"),
    ]


@pytest.mark.asyncio
async def test_what_is_cut_stays_open():
    assert (await played(text("a"), finish("length")))[1:] == [Outcome("completed", usage=USAGE, finish="length")]
    assert (await played(torn("x", "{", "i"), fail("timeout", permanent=True)))[1:] == [
        CallDelta(0, "{"),
        Outcome("timeout", "scripted failure", permanent=True),
    ]


@pytest.mark.asyncio
async def test_turns_are_played_in_order_and_then_it_says_so():
    llm = Scripted()
    llm.script([text("one")], lambda request: [text(request.input[0].text)])
    said = [(await played_by(llm))[0].text for _ in range(3)]
    assert said == ["one", "go", "unscripted"]
    assert llm.requests == [REQUEST] * 3


@pytest.mark.asyncio
async def test_a_gate_holds_the_stream_and_closing_lets_go():
    llm, event = Scripted(), asyncio.Event()
    llm.script([text("a"), gate(event), text("b")])
    async with aclosing(llm.stream(REQUEST)) as parts:
        assert await anext(parts) == TextDelta("a")
        waiting = asyncio.ensure_future(anext(parts))
        await asyncio.sleep(0)
        assert not waiting.done() and llm.streaming == 1
        event.set()
        assert await waiting == SegmentEnd()
    assert llm.streaming == 0
