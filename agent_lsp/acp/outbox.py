"""What waits to be sent: one bounded, ordered queue to a client that may be slow.

Order is the order of the calls. Nothing here blocks or fails; whoever produces much awaits `drain`. A chunk that
continues the last one in the queue is merged into it.
"""

from __future__ import annotations

import asyncio
from typing import Literal, Protocol

from agent_lsp.wire import jsonrpc

HIGH_WATER_BYTES = 16 * 2**20
_CHUNK_BYTES = 64 * 2**10
_WRITE_BYTES = 128 * 2**10
_AROUND_BYTES = 200  # roughly, around the text of a chunk

ChunkKind = Literal["agent_message_chunk", "agent_thought_chunk"]


class Wire(Protocol):
    """The part of a transport that the outbox needs."""

    @property
    def paused(self) -> bool:
        """Whether to wait with the next write."""
        ...

    def write(self, data: bytes) -> None:
        """Sends, now or later, in order."""
        ...


class _Chunk:
    """An update that grows as long as it waits at the end of the queue."""

    __slots__ = ("key", "pieces", "size")

    def __init__(self, key: tuple[str, ChunkKind, str]) -> None:
        self.key, self.pieces, self.size = key, list[str](), _AROUND_BYTES

    def body(self) -> bytes:
        """The notification."""
        session_id, kind, message_id = self.key
        update = {
            "sessionUpdate": kind,
            "content": {"type": "text", "text": "".join(self.pieces)},
            "messageId": message_id,
        }
        return jsonrpc.notification("session/update", jsonrpc.dumps({"sessionId": session_id, "update": update}))


class Outbox:
    """The queue of one connection; `high_water_bytes`: see `drain`."""

    def __init__(self, wire: Wire, high_water_bytes: int = HIGH_WATER_BYTES) -> None:
        self._wire, self._high_water_bytes = wire, high_water_bytes
        self._loop = asyncio.get_running_loop()
        self._queue: list[bytes | _Chunk] = []
        self._queued_bytes = 0
        self._scheduled = self._dead = self._hurried = False
        self._waiters: list[asyncio.Future[None]] = []

    @property
    def overfull(self) -> bool:
        """Whether so much is queued that, with every producer held back, only answers can be the cause."""
        return self._queued_bytes > 2 * self._high_water_bytes

    def post(self, body: bytes) -> None:
        """Queues a whole JSON-RPC message."""
        if self._dead:
            return
        self._queue.append(body)
        self._queued_bytes += len(body)
        self._schedule()

    def chunk(self, session_id: str, kind: ChunkKind, message_id: str, text: str) -> None:
        """Queues a piece of a message."""
        if self._dead:
            return
        key: tuple[str, ChunkKind, str] = (session_id, kind, message_id)
        last = self._queue[-1] if self._queue else None
        if not isinstance(last, _Chunk) or last.key != key or last.size > _CHUNK_BYTES:
            last = _Chunk(key)
            self._queue.append(last)
            self._queued_bytes += last.size
        last.pieces.append(text)
        last.size += len(text)
        self._queued_bytes += len(text)
        self._schedule()

    async def drain(self) -> None:
        """Waits while more is queued than the high-water mark."""
        while self._queued_bytes >= self._high_water_bytes and not (self._dead or self._hurried):
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._waiters.append(waiter)
            await waiter

    def flush(self) -> None:
        """Hands the transport what it takes, in large writes."""
        self._scheduled = False
        queue, sent = self._queue, 0
        while sent < len(queue) and not self._wire.paused:
            lines: list[bytes] = []
            size = 0
            while sent < len(queue) and size < _WRITE_BYTES:
                entry = queue[sent]
                sent += 1
                body = entry if isinstance(entry, bytes) else entry.body()
                self._queued_bytes -= len(body) if isinstance(entry, bytes) else entry.size
                lines += (body, b"\n")
                size += len(body)
            self._wire.write(b"".join(lines))
        del queue[:sent]
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
        self._queued_bytes = 0
        self._release()

    def _schedule(self) -> None:
        if not self._scheduled and not self._wire.paused:
            self._scheduled = True
            self._loop.call_soon(self.flush)

    def _release(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
