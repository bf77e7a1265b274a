"""Files that grow by lines, for the user alone: one that is full is put aside, and only so many of those are kept.

    agent-lsp.log ─ full ─▶ agent-lsp.log.1 ─ full again ─▶ agent-lsp.log.2 ─▶ … ─▶ gone

Several processes may add to one file: each line is one write(2) to its end, and only one of them puts it aside.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

LARGEST_BYTES = 5 * 2**20
KEPT = 3
"""Full files that are kept beside the one that grows."""


def add_line(path: Path, line: bytes, *, largest_bytes: int = LARGEST_BYTES, kept: int = KEPT) -> None:
    """Adds the line and its end to the file, which is made (mode 0600) where there is none. Raises OSError."""
    descriptor = _opened(path)
    try:
        if os.fstat(descriptor).st_size >= largest_bytes:
            _put_aside(path, descriptor, kept)
            os.close(descriptor)
            descriptor = -1
            descriptor = _opened(path)
        os.write(descriptor, line + b"\n")
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _opened(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _put_aside(path: Path, descriptor: int, kept: int) -> None:
    """Renames the full file, unless somebody else has done it or is doing it."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return  # the next line tries again
    with suppress(OSError):
        if os.fstat(descriptor).st_ino != path.stat().st_ino:
            return
        for number in range(kept, 1, -1):
            with suppress(FileNotFoundError):
                aside(path, number - 1).replace(aside(path, number))
        path.replace(aside(path, 1))


def aside(path: Path, number: int) -> Path:
    """Where a file that was full is kept; 1 is the latest."""
    return path.with_name(f"{path.name}.{number}")
