"""What waits to be sent: one bounded, ordered queue to a client that may be slow.

    post ─────╮                        flush: once a loop turn, as long as
    message ──┴─▶ [entry … last entry] ──────▶ the transport takes it ──▶ transport
                     only the last one is open: a delta may be merged into it, a message may join its notification

Order is the order of the calls. Nothing here blocks or fails; whoever produces much awaits `drain`.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache
from typing import Protocol, cast

from agent_lsp.messages.content import Partial, PartialToolCall, PartialToolCallOutput
from agent_lsp.messages.envelope import Message, ModelMessage, encode
from agent_lsp.server.framing import frame
from agent_lsp.wire import jsonrpc

HIGH_WATER_BYTES = 16 * 2**20
_BATCH_BYTES = 64 * 2**10
_WRITE_BYTES = 128 * 2**10
_ENVELOPE_BYTES = 160  # roughly, around the text of a fragment
_BODY = {
    "partial_text": "text",
    "partial_thinking": "thinking",
    "partial_tool_call": "arguments",
    "partial_tool_call_output": "output",
}


class Wire(Protocol):
    """The part of a transport that the outbox needs."""

    @property
    def paused(self) -> bool:
        """Whether to wait with the next write."""
        ...

    def write(self, data: bytes) -> None:
        """Sends, now or later, in order."""
        ...


class _Batch:
    """The messages of one notification. Its last delta is kept open, to be merged with those that follow."""

    __slots__ = ("delta", "encoded", "pieces", "run_id", "seq", "session_id", "size")

    def __init__(self, session_id: str, run_id: str | None, seq: int) -> None:
        self.session_id, self.run_id, self.seq = session_id, run_id, seq
        self.encoded: list[bytes] = []
        self.delta: ModelMessage | None = None
        self.pieces: list[str] = []
        self.size = 0

    def seal(self) -> None:
        """Ends the merging: the open delta is encoded with all of its pieces."""
        if self.delta is not None:
            delta, self.delta = self.delta, None
            self.encoded.append(_encode(delta if len(self.pieces) == 1 else _joined(delta, "".join(self.pieces))))

    def body(self) -> bytes:
        """The notification."""
        self.seal()
        head = _head(self.session_id, self.run_id)
        return b'%b,"seq":%d,"messages":[%b]}}' % (head, self.seq, b",".join(self.encoded))


class Outbox:
    """The queue of one connection. `partials`: whether the client wants fragments; `high_water_bytes`: see `drain`."""

    def __init__(self, wire: Wire, *, partials: bool = True, high_water_bytes: int = HIGH_WATER_BYTES) -> None:
        self._wire, self._partials, self._high_water_bytes = wire, partials, high_water_bytes
        self._loop = asyncio.get_running_loop()
        self._queue: list[bytes | _Batch] = []
        self._last: _Batch | None = None  # the last entry, while it is open
        self._next_seq: dict[str, int] = {}
        self._queued_bytes = 0
        self._scheduled = self._dead = self._hurried = False
        self._waiters: list[asyncio.Future[None]] = []

    @property
    def queued_bytes(self) -> int:
        """About how much is queued."""
        return self._queued_bytes

    @property
    def overfull(self) -> bool:
        """Whether so much is queued that, with every producer held back, only answers can be the cause."""
        return self._queued_bytes > 2 * self._high_water_bytes

    def post(self, body: bytes) -> None:
        """Queues a whole JSON-RPC message."""
        if self._dead:
            return
        framed = frame(body)
        self._queue.append(framed)
        self._last = None
        self._queued_bytes += len(framed)
        self._schedule()

    def message(self, session_id: str, run_id: str | None, message: Message) -> None:
        """Queues the next message of a session's stream."""
        if self._dead:
            return
        field = _BODY.get(message.payload.type)
        if field is None:
            self._whole(session_id, run_id, message)
        elif self._partials:
            self._fragment(session_id, run_id, cast("ModelMessage", message), field)

    def barrier(self, session_id: str) -> int:
        """The number of the session's next message, which is merged with nothing before and begins a notification."""
        if self._last is not None and self._last.session_id == session_id:
            self._last = None
        return self._next_seq.get(session_id, 0)

    async def drain(self) -> None:
        """Waits while more than the high-water mark is queued; a dead connection holds nobody."""
        if self._queued_bytes < self._high_water_bytes or self._dead or self._hurried:
            return
        waiter = self._loop.create_future()
        self._waiters.append(waiter)
        await waiter

    def flush(self) -> None:
        """Hands the transport what it takes, in large writes."""
        self._scheduled = False
        queue, sent = self._queue, 0
        while sent < len(queue) and not self._wire.paused:
            chunk: list[bytes] = []
            size = 0
            while sent < len(queue) and size < _WRITE_BYTES:
                entry = queue[sent]
                sent += 1
                framed = entry if isinstance(entry, bytes) else frame(entry.body())
                self._queued_bytes -= len(framed) if isinstance(entry, bytes) else entry.size
                chunk.append(framed)
                size += len(framed)
            self._wire.write(b"".join(chunk))
        del queue[:sent]
        if not queue:
            self._last = None
        if self._waiters and self._queued_bytes < self._high_water_bytes:
            self._release()

    def hurry(self) -> None:
        """From now on `drain` holds nobody: what runs is ending, and shall not wait for the client."""
        self._hurried = True
        self._release()

    def die(self) -> None:
        """The client is gone: what is queued is dropped, and whatever comes."""
        self._dead = True
        self._queue.clear()
        self._last, self._queued_bytes = None, 0
        self._release()

    def _whole(self, session_id: str, run_id: str | None, message: Message) -> None:
        batch = self._batch(session_id, run_id)
        encoded = _encode(message)
        batch.encoded.append(encoded)
        self._grow(batch, len(encoded))

    def _fragment(self, session_id: str, run_id: str | None, message: ModelMessage, field: str) -> None:
        payload = cast("Partial", message.payload)
        if payload.event_type != "delta":
            self._whole(session_id, run_id, message)
            return
        piece = cast("str", getattr(payload, field))
        last = self._last
        if (
            last is not None
            and last.delta is not None
            and last.size < _BATCH_BYTES
            and last.run_id == run_id
            and last.session_id == session_id
            and _continues(last.delta, message)
        ):
            last.pieces.append(piece)
            self._grow(last, len(piece))
            return
        batch = self._batch(session_id, run_id)
        batch.delta, batch.pieces = message, [piece]
        self._grow(batch, len(piece) + _ENVELOPE_BYTES)

    def _batch(self, session_id: str, run_id: str | None) -> _Batch:
        """The open batch, sealed, for one more message, or a new one. Gives the message its number."""
        seq = self._next_seq.get(session_id, 0)
        self._next_seq[session_id] = seq + 1
        last = self._last
        if last is not None and last.session_id == session_id and last.run_id == run_id and last.size < _BATCH_BYTES:
            last.seal()
            return last
        self._last = batch = _Batch(session_id, run_id, seq)
        self._queue.append(batch)
        self._schedule()
        return batch

    def _grow(self, batch: _Batch, size: int) -> None:
        batch.size += size
        self._queued_bytes += size

    def _schedule(self) -> None:
        if not self._scheduled and not self._wire.paused:
            self._scheduled = True
            self._loop.call_soon(self.flush)

    def _release(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)


def _continues(first: ModelMessage, second: ModelMessage) -> bool:
    """Whether two deltas are of the same segment. Asks only for what is there: a missing attribute costs time."""
    one, two = first.payload, second.payload
    if one.type != two.type or first.origin != second.origin:
        return False
    match two.type:
        case "partial_tool_call":
            return cast("PartialToolCall", one).tool_call_id == two.tool_call_id
        case "partial_tool_call_output":
            before = cast("PartialToolCallOutput", one)
            return before.tool_call_id == two.tool_call_id and before.images is None and two.images is None
        case _:
            return True


@lru_cache(maxsize=256)
def _head(session_id: str, run_id: str | None) -> bytes:
    run = b"" if run_id is None else b',"runId":' + jsonrpc.dumps(run_id)
    return b'{"jsonrpc":"2.0","method":"agent/message","params":{"sessionId":%b%b' % (jsonrpc.dumps(session_id), run)


def _joined(delta: ModelMessage, body: str) -> ModelMessage:
    """The delta with the body of several, stamped as the first of them."""
    payload = delta.payload
    return delta.model_copy(update={"payload": payload.model_copy(update={_BODY[payload.type]: body})})


def _encode(message: Message) -> bytes:
    try:
        return encode(message)
    except ValueError:  # a lone surrogate, which UTF-8 cannot hold
        return jsonrpc.dumps(jsonrpc.scrubbed(message.model_dump(exclude_none=True)))
