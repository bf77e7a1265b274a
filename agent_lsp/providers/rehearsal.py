"""A stand-in for a language model: offline, deterministic, by fixed rules, over the real protocol.

It makes the first run work on any machine: it thinks, streams, calls the real tools on the real workspace and so has
its edits approved, and says that it is no language model. It keeps nothing: what it does follows from the request.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from agent_lsp.engine.ports import (
    LLM,
    CallBegin,
    CallDelta,
    Outcome,
    Part,
    Request,
    SegmentEnd,
    TextDelta,
    ThinkingDelta,
)
from agent_lsp.messages.content import Content, Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.events import TokenCounts
from agent_lsp.providers.rehearsed import Call, Reply, reply_to

WORD_DELAY_S = 0.012
_WORD = re.compile(r"\s*\S+\s*$|\s*\S+|\s+")
_CHARACTERS_PER_TOKEN = 4
_PIECE = 24

Sleep = Callable[[float], Awaitable[object]]


class Rehearsal:
    """Answers by rule. `sleep` is awaited before each word, with the seconds in `word_delay_s`."""

    def __init__(self, sleep: Sleep = asyncio.sleep, word_delay_s: float = WORD_DELAY_S) -> None:
        self._sleep, self._word_delay_s = sleep, word_delay_s

    async def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        """Streams the reply that the rules give."""
        reply = reply_to(request)
        for part in _parts(reply, sum(len(commit.messages) for commit in request.history)):
            if isinstance(part, TextDelta | ThinkingDelta):
                await self._sleep(self._word_delay_s)
            yield part
        yield Outcome("completed", usage=_usage(request, reply), finish="tool_calls" if reply.calls else "stop")


def _parts(reply: Reply, number: int) -> Iterator[Part]:
    """The reply, word by word. `number` keeps the ids of calls apart from those of earlier replies."""
    for words, delta in ((reply.thinking, ThinkingDelta), (reply.text, TextDelta)):
        if words:
            yield from map(delta, _WORD.findall(words))
            yield SegmentEnd()
    for key, call in enumerate(reply.calls):
        raw = call.raw()
        yield CallBegin(key, call.name, f"rehearsal_{number}_{key}")
        for at in range(0, len(raw), _PIECE):
            yield CallDelta(key, raw[at : at + _PIECE])
        yield SegmentEnd(key)


def _usage(request: Request, reply: Reply) -> TokenCounts:
    """Tokens by the rule of thumb; all that was sent before counts as read from a cache."""
    earlier = sum(_length(commit.messages) for commit in request.history)
    fixed = len(request.system) + sum(len(tool.description) + len(str(tool.parameters)) for tool in request.tools)
    cached = (earlier + fixed if request.history else 0) // _CHARACTERS_PER_TOKEN
    fresh = (_length(request.input) + (0 if request.history else fixed)) // _CHARACTERS_PER_TOKEN + 1
    said = len(reply.thinking) + len(reply.text) + sum(map(_call_length, reply.calls))
    output = said // _CHARACTERS_PER_TOKEN + 1
    return TokenCounts(cache_read=cached, cache_write=fresh, output=output, total=cached + fresh + output)


def _call_length(call: Call) -> int:
    return len(call.name) + len(call.raw())


def _length(messages: Iterable[Content]) -> int:
    return sum(map(_size, messages))


def _size(message: Content) -> int:
    match message:
        case Text():
            return len(message.text)
        case Thinking():
            return len(message.thinking)
        case ToolCall():
            return len(message.name) + len(message.arguments)
        case ToolCallOutput():
            return len(message.output)
        case _:
            return 0


if TYPE_CHECKING:
    _: LLM = Rehearsal()
