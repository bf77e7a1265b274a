"""Bytes in and out of the loop over two file descriptors: pipes, sockets, terminals, plain files.

Writing never blocks. What the peer does not take at once is kept in a small buffer here (`paused` while it is full), so
that whatever may still be merged waits above, in the outbox. Files, which no selector can watch, are always ready.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
from typing import Protocol

_BUFFERED_BYTES = 64 * 2**10
_READ_BYTES = 256 * 2**10


class Receiver(Protocol):
    """Who is told what a transport sees, from the loop."""

    def received(self, data: bytes) -> None:
        """Bytes have come; `b""` is their end, the last call."""
        ...

    def writable(self) -> None:
        """The transport is no longer paused."""
        ...

    def lost(self) -> None:
        """Nothing that is written arrives any more."""
        ...


class Transport(Protocol):
    """One connection's bytes."""

    @property
    def paused(self) -> bool:
        """Whether the peer is slow: nothing should be written until `Receiver.writable`."""
        ...

    def write(self, data: bytes) -> None:
        """Sends, now or later, in order; after the end it does nothing."""
        ...

    def hold(self, held: bool) -> None:
        """Stops reading, or goes on."""
        ...

    async def close(self, within_s: float) -> None:
        """Sends what is buffered, for so long at most, and lets go."""
        ...


class FdTransport:
    """A transport over descriptors that it owns; both may be the same socket."""

    def __init__(self, read_fd: int, write_fd: int, receiver: Receiver) -> None:
        self._loop = asyncio.get_running_loop()
        self._read_fd, self._write_fd, self._receiver = read_fd, write_fd, receiver
        self._buffer = bytearray()
        self._paused = self._broken = self._ended = False
        self._reading: asyncio.Handle | bool = False
        self._emptied = asyncio.Event()
        for fd in (read_fd, write_fd):
            os.set_blocking(fd, False)
        self.hold(False)

    @property
    def paused(self) -> bool:
        """Whether the buffer is full."""
        return self._paused

    def write(self, data: bytes) -> None:
        """Writes what is taken now, keeps the rest."""
        if self._broken:
            return
        if self._buffer:
            self._buffer += data
        else:
            written = self._try(data)
            if written < len(data) and not self._broken:
                self._buffer += memoryview(data)[written:]
                self._loop.add_writer(self._write_fd, self._write_ready)
        self._paused = len(self._buffer) > _BUFFERED_BYTES

    def hold(self, held: bool) -> None:
        """Stops reading, or goes on. A selector watches where it can; a file is read turn by turn."""
        if held == (self._reading is False) or self._ended:
            return
        if held:
            self._stop_reading()
            return
        try:
            self._loop.add_reader(self._read_fd, self._read_ready)
            self._reading = True
        except PermissionError:
            self._reading = self._loop.call_soon(self._read_file)

    async def close(self, within_s: float) -> None:
        """Waits for the buffer to empty, then closes both descriptors."""
        self._stop_reading()
        if self._buffer:
            self._emptied.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._emptied.wait(), within_s)
        self._break_off()
        for fd in {self._read_fd, self._write_fd}:
            with contextlib.suppress(OSError):
                os.set_blocking(fd, True)  # whoever shares it did not ask for anything else
            os.close(fd)

    def _read_ready(self) -> None:
        try:
            data = os.read(self._read_fd, _READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:  # reset by the peer, a terminal that is gone: nothing more will come
            data = b""
        if not data:
            self._stop_reading()
            self._ended = True
        self._receiver.received(data)

    def _read_file(self) -> None:
        self._read_ready()
        if self._reading is not False:
            self._reading = self._loop.call_soon(self._read_file)

    def _stop_reading(self) -> None:
        reading, self._reading = self._reading, False
        if isinstance(reading, asyncio.Handle):
            reading.cancel()
        elif reading:
            self._loop.remove_reader(self._read_fd)

    def _write_ready(self) -> None:
        del self._buffer[: self._try(self._buffer)]
        if self._broken:
            return
        if self._paused and len(self._buffer) <= _BUFFERED_BYTES:
            self._paused = False
            self._receiver.writable()  # may write more, before anybody takes the buffer for empty
        if not self._buffer:
            self._loop.remove_writer(self._write_fd)
            self._emptied.set()

    def _try(self, data: bytes | bytearray) -> int:
        """Writes; how many bytes were taken. A broken connection is reported once the caller has returned."""
        try:
            return os.write(self._write_fd, data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            self._break_off()
            self._loop.call_soon(self._receiver.lost)
            return 0

    def _break_off(self) -> None:
        self._broken = True
        self._paused = False
        self._buffer.clear()
        self._emptied.set()
        self._loop.remove_writer(self._write_fd)


def has_hung_up(fd: int) -> bool:
    """Whether nothing more will be written to the other end of a pipe or socket, read or not."""
    poll = select.poll()
    poll.register(fd, getattr(select, "POLLRDHUP", 0))  # sockets report a half that is closed only where asked to
    return bool(poll.poll(0))
