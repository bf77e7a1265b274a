"""The handshake over two descriptors: blocking calls, before there is a loop."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_lsp.acp.handshake import Greeted, Handshake

_READ_BYTES = 64 * 2**10


def shake_hands(read_fd: int, write_fd: int, handshake: Handshake) -> Greeted | None:
    """Talks until `initialize` has been answered well; None when the client left before."""
    for fd in (read_fd, write_fd):
        os.set_blocking(fd, True)  # whoever made it may have thought otherwise
    try:
        while handshake.greeted is None and (data := os.read(read_fd, _READ_BYTES)):
            _write(write_fd, b"".join(body + b"\n" for body in handshake.feed(data)))
    except OSError:  # reset, or nobody reads the answers
        return None
    return handshake.greeted


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
