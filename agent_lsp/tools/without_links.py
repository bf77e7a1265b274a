"""Opening files by paths in which no link is left, and only so.

A path is judged with its links resolved, and opened a moment later. A program that puts a link into it meanwhile would
have us read or write somewhere else. Here each folder is opened from the one above it, and a link is an error (ELOOP or
ENOTDIR), however short the moment was.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_FOLDER = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)


@contextmanager
def folder_of(real: Path) -> Generator[int]:
    """A descriptor of the folder that the file (absolute, links resolved) is in, for `dir_fd`. Raises OSError."""
    folder = os.open(real.anchor, _FOLDER)
    try:
        for part in real.parts[1:-1]:
            inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def opened(real: Path, flags: int) -> int:
    """A descriptor of the file. Raises OSError; one that nobody writes into is not waited for."""
    with folder_of(real) as folder:
        return os.open(real.name, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=folder)
