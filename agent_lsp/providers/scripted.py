"""A language model that says exactly what it was told to: for tests, and for whoever embeds the engine.

    llm = Scripted()
    llm.script([thinking("hm"), text("Hel", "lo"), call("read_file", {"path": "a"})], [fail("timeout", "busy")])

Each request plays the next turn; `requests` keeps what was asked. A turn without `fail` completes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

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
from agent_lsp.messages.events import Finish, TokenCounts
from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.messages.content import Fidelity, StopReason


@frozen
class Said:
    """A segment of text or thinking, streamed in pieces."""

    deltas: tuple[TextDelta | ThinkingDelta, ...]
    fidelity: Fidelity | None = None


@frozen
class Called:
    """A call; one that is not `whole` stays open to the end of its turn."""

    name: str
    pieces: tuple[str, ...]
    call_id: str
    whole: bool = True
    fidelity: Fidelity | None = None


@frozen
class Gate:
    """The stream waits here until `event` is set."""

    event: asyncio.Event


@frozen
class Ending:
    """How a turn that completes is accounted for; None leaves what was set before."""

    finish: Finish | None = None
    usage: TokenCounts | None = None


Piece = Said | Called | Gate | Ending | Outcome
Turn = Sequence[Piece] | Callable[[Request], Sequence[Piece]]

USAGE = TokenCounts(cache_write=10, output=5, total=15)
"""What a completed turn counts unless it says otherwise."""


def text(*pieces: str, fidelity: Fidelity | None = None) -> Said:
    """A text, one delta for each piece."""
    return Said(tuple(map(TextDelta, pieces)), fidelity)


def thinking(*pieces: str, fidelity: Fidelity | None = None) -> Said:
    """A thinking segment, one delta for each piece."""
    return Said(tuple(map(ThinkingDelta, pieces)), fidelity)


def call(
    name: str, arguments: Mapping[str, Any] | str | None = None, call_id: str | None = None, pieces: int = 1
) -> Called:
    """A whole call. `call_id` None: one is made up from the place of the call; "": the provider gave none."""
    raw = arguments if isinstance(arguments, str) else json.dumps(dict(arguments or {}))
    size = max(1, -(-len(raw) // pieces))
    cut = tuple(raw[at : at + size] for at in range(0, len(raw), size))
    return Called(name, cut, "*" if call_id is None else call_id)


def torn(name: str, arguments: str, call_id: str | None = None) -> Called:
    """A call that never ends: `finish("length")` or a `fail` belongs after it."""
    return Called(name, (arguments,), "*" if call_id is None else call_id, whole=False)


def fail(status: StopReason, message: str = "scripted failure", **more: Any) -> Outcome:
    """The request ends here, badly. `more` are the other fields of `Outcome`."""
    return Outcome(status, message, **more)


def finish(reason: Finish) -> Ending:
    """The turn completes for this reason; after `length` or a refusal its last segment stays open."""
    return Ending(finish=reason)


def usage(cache_write: int = 10, output: int = 5, cache_read: int = 0) -> Ending:
    """The tokens that the turn counts."""
    total = cache_read + cache_write + output
    return Ending(usage=TokenCounts(cache_read=cache_read, cache_write=cache_write, output=output, total=total))


def gate(event: asyncio.Event) -> Gate:
    """Holds the stream until `event` is set."""
    return Gate(event)


class Scripted:
    """Plays its turns in order; a request beyond the last one is answered `unscripted`."""

    def __init__(self, turns: list[Turn] | None = None) -> None:
        self.turns: list[Turn] = turns if turns is not None else []
        self.requests: list[Request] = []
        self.streaming = 0
        """How many streams are open now."""

    def script(self, *turns: Turn) -> None:
        """Adds turns. One that is a function is made from its request when that comes."""
        self.turns += turns

    async def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        """Plays the next turn."""
        self.requests.append(request)
        turn: Turn = self.turns.pop(0) if self.turns else [text("unscripted")]
        pieces = turn(request) if callable(turn) else turn
        self.streaming += 1
        try:
            for step in play(pieces, len(self.requests)):
                if isinstance(step, Gate):
                    await step.event.wait()
                else:
                    yield step
        finally:
            self.streaming -= 1


def play(pieces: Sequence[Piece], number: int) -> list[Part | Gate]:
    """The turn as parts. A segment ends when the next one begins or the turn is done, unless it was left open."""
    steps: list[Part | Gate] = []
    is_open: SegmentEnd | None = None
    reason, counted, calls = None, USAGE, 0
    for piece in pieces:
        if is_open and isinstance(piece, Said | Called):
            steps.append(is_open)
            is_open = None
        match piece:
            case Said():
                steps += piece.deltas
                is_open = SegmentEnd(None, piece.fidelity)
            case Called():
                steps += _call_parts(piece, calls, number)
                calls += 1
            case Ending():
                reason, counted = piece.finish or reason, piece.usage or counted
            case Outcome():
                return [*steps, piece]
            case Gate():
                steps.append(piece)
    if is_open and reason not in ("length", "refusal", "content_filter"):
        steps.append(is_open)
    steps.append(Outcome("completed", usage=counted, finish=reason or ("tool_calls" if calls else "stop")))
    return steps


def _call_parts(piece: Called, key: int, number: int) -> list[Part | Gate]:
    call_id = f"call_{number}_{key}" if piece.call_id == "*" else piece.call_id
    ends = [SegmentEnd(key, piece.fidelity)] if piece.whole else []
    return [CallBegin(key, piece.name, call_id), *(CallDelta(key, raw) for raw in piece.pieces), *ends]


if TYPE_CHECKING:
    _: LLM = Scripted()
