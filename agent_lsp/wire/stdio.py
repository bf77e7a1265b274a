"""The process's own standard streams. Imports nothing else: nothing may print before they are out of the way."""

from __future__ import annotations

import os


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
