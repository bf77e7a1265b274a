"""The process's own descriptors, and the handshake over any pair of them: blocking calls, before there is a loop."""

from __future__ import annotations

import os

from agent_lsp.server.framing import frame
from agent_lsp.server.handshake import Greeted, Handshake

_READ_BYTES = 64 * 2**10


def claim() -> tuple[int, int]:
    """Takes standard input and output for the protocol; returns the private descriptors to read and to write.

    From here on whatever else prints goes to standard error, and whatever else reads finds nothing; children inherit
    neither of the two. Raises OSError when one of the streams is closed.
    """
    read_fd, write_fd = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    try:
        os.fstat(2)
    except OSError:
        os.dup2(null, 2)
    os.dup2(2, 1)
    os.dup2(null, 0)
    os.close(null)
    return read_fd, write_fd


def shake_hands(read_fd: int, write_fd: int, handshake: Handshake) -> Greeted | None:
    """Talks until `initialize` has been answered well; None when the client left, said exit or was not let in."""
    for fd in (read_fd, write_fd):
        os.set_blocking(fd, True)  # whoever made it may have thought otherwise
    while True:
        try:
            data = os.read(read_fd, _READ_BYTES)
            if not data:
                return None
            answers = handshake.feed(data)
            _write(write_fd, b"".join(map(frame, answers)))
        except OSError:
            return None
        if handshake.greeted is not None or handshake.ended:
            return handshake.greeted


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
