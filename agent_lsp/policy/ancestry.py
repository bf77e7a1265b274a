"""A path with the folders it is in, and the file system's own names for them, for one decision about it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

Identity = tuple[int, int]


def identity(path: str | Path) -> Identity | None:
    """The file system's own name of what is at the path; None for nothing."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a path has no object of its own here, there are many of them
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if found.st_ino else None


class Ancestry:
    """One absolute path. What is looked up is looked up once: whoever decides anew makes another one."""

    def __init__(self, path: Path) -> None:
        self.path, self.parts = path, path.parts

    @cached_property
    def identities(self) -> tuple[Identity | None, ...]:
        """Those of the path, of its folder, and so on up to the root."""
        return tuple(map(identity, _upwards(os.fspath(self.path))))

    def below(self, root: Path) -> tuple[str, ...] | None:
        """The components of the path below the root, None if it is not the root or below it.

        Decided by spelling or, for another letter case or a bind mount, by identity.
        """
        depth = len(root.parts)
        if self.parts[:depth] == root.parts:
            return self.parts[depth:]
        wanted = identity(root)
        if wanted is None or wanted not in self.identities:
            return None
        return self.parts[len(self.parts) - self.identities.index(wanted) :]


def _upwards(path: str) -> Iterator[str]:
    yield path
    while (folder := os.path.dirname(path)) != path:  # noqa: PTH120
        yield (path := folder)
