"""Small files that only the user may read: written whole or not at all; those of JSON are read without trust."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in the file; empty if it is missing, unreadable or anything else than an object."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType] - its values are checked by whoever reads them


def write_object(path: Path, value: dict[str, Any]) -> None:
    """Puts the object into the file, as JSON. Raises `OSError`."""
    write_private(path, json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace") + b"\n")


def write_private(path: Path, data: bytes) -> None:
    """Puts the data into the file (mode 0600, its folder 0700): after a crash it holds the old or the new ones.

    A link in its place is replaced, not followed. Raises `OSError`.
    """
    import tempfile  # 2 ms of a start that writes nothing

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    fresh = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Keeps other processes from changing the file meanwhile, where the platform has advisory locks.

    Raises `OSError`.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:  # Windows: the last writer wins
        yield
        return
    descriptor = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
