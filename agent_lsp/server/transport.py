"""Bytes in and out of an asyncio loop: pipes, sockets, and whatever else a file descriptor may be.

A transport reads as the loop runs and tells its `Receiver`; writing never blocks. What the peer does not take at once
is kept in a small buffer here (`paused` while it is full), so that whatever may still be merged or dropped waits above,
in the outbox.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import threading
from collections.abc import Callable
from typing import Protocol

_BUFFERED_BYTES = 64 * 2**10
_READ_BYTES = 256 * 2**10


class Receiver(Protocol):
    """Who is told what a transport sees; called from the loop."""

    def received(self, data: bytes) -> None:
        """Bytes have come; `b""` is their end, the last call."""
        ...

    def writable(self) -> None:
        """The transport is no longer paused."""
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


Open = Callable[[Receiver], "asyncio.Future[Transport] | asyncio.Task[Transport]"]
