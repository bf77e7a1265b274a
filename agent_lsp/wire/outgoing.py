"""What waits to be sent: one bounded, ordered queue to a client that may be slow.

    post, put ──▶ [entry … last entry] ──flush: once a loop turn, as long as the transport takes it──▶ transport

Order is the order of the calls. Nothing here blocks or fails; whoever produces much awaits `drain`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

HIGH_WATER_BYTES = 16 * 2**20
_WRITE_BYTES = 128 * 2**10


class Wire(Protocol):
    """The part of a transport that the queue needs."""

    @property
    def paused(self) -> bool:
        """Whether to wait with the next write."""
        ...

    def write(self, data: bytes) -> None:
        """Sends, now or later, in order."""
        ...


class Entry(Protocol):
    """A message that may still grow while it is the last one in the queue. `size`: about how many bytes it holds."""

    size: int

    def body(self) -> bytes:
        """The message, once it is sent."""
        ...


E = TypeVar("E", bound=Entry)


class Outgoing(Generic[E]):
    """The queue of one connection. `frame` makes a body what is written; `high_water_bytes`: see `drain`."""

    def __init__(self, wire: Wire, frame: Callable[[bytes], bytes], high_water_bytes: int) -> None:
        self._wire, self._frame, self._high_water_bytes = wire, frame, high_water_bytes
        self._loop = asyncio.get_running_loop()
        self._queue: list[bytes | E] = []
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
        self._queue.append(body)
        self._queued_bytes += len(body)
        self._schedule()

    async def drain(self) -> None:
        """Waits while more than the high-water mark is queued; a dead connection holds nobody."""
        while self._queued_bytes >= self._high_water_bytes and not (self._dead or self._hurried):
            waiter: asyncio.Future[None] = self._loop.create_future()
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
                body, held = (entry, len(entry)) if isinstance(entry, bytes) else (entry.body(), entry.size)
                self._queued_bytes -= held
                chunk.append(self._frame(body))
                size += len(body)
            self._wire.write(b"".join(chunk))
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

    # --- for the front end, which knows what may grow -----------------------------------------------------------------

    def _put(self, entry: E) -> None:
        self._queue.append(entry)
        self._queued_bytes += entry.size
        self._schedule()

    def _grow(self, entry: E, size: int) -> None:
        entry.size += size
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
