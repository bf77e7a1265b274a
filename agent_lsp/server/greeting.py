"""The handshake over two descriptors: blocking calls, before there is a loop."""

from __future__ import annotations

import os
import select
import time
from typing import TYPE_CHECKING

from agent_lsp.server.framing import frame

if TYPE_CHECKING:
    from agent_lsp.server.handshake import Greeted, Handshake

_READ_BYTES = 64 * 2**10


def shake_hands(read_fd: int, write_fd: int, handshake: Handshake, *, within_s: float | None = None) -> Greeted | None:
    """Talks until `initialize` has been answered well.

    None when the client left, said exit, was not let in, or took longer than it has.
    """
    for fd in (read_fd, write_fd):
        os.set_blocking(fd, True)  # whoever made it may have thought otherwise
    deadline = None if within_s is None else time.monotonic() + within_s
    try:
        while data := read(read_fd, deadline):
            write(write_fd, b"".join(map(frame, handshake.feed(data))))
            if handshake.greeted is not None or handshake.ended:
                break
    except OSError:  # reset, or nobody reads the answers
        return None
    return handshake.greeted


def read(fd: int, deadline: float | None = None) -> bytes:
    """What has come, waiting for it until then (monotonic; None: however long); empty at the end, or too late."""
    if deadline is not None:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            return b""
    return os.read(fd, _READ_BYTES)


def write(fd: int, data: bytes) -> None:
    """Writes all of it. OSError when nobody reads any more."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
