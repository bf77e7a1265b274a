"""The folder that a session works in, and what a model's paths mean there."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from agent_lsp.slotted import field, frozen

_SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__"})
_MOST_NAMES = 5_000
_MOST_FOLDERS = 500


@frozen
class Workspace:
    """`root` is absolute; `scratchpad` is the session's own folder, which may not exist yet.

    `changes` is held from reading a file that is to be changed until it is: of two edits that a model makes side by
    side, the second is to see the first.
    """

    root: Path
    scratchpad: Path
    changes: asyncio.Lock = field(default_factory=asyncio.Lock, compare=False, repr=False)

    def locate(self, written: str) -> Path:
        """The absolute path that a model means: below the root, or absolute, or below `~/`. Links and `..` stay."""
        if written == "~" or written.startswith("~/"):
            return Path(written).expanduser()
        return self.root / written

    def display(self, path: Path) -> str:
        """The path as it is told: relative to the root where it lies below it."""
        try:
            return path.relative_to(self.root).as_posix() or "."
        except ValueError:
            return str(path)

    def advice_on_missing(self, path: Path) -> str:
        """What to say of a path that is not there: the nearest names, or how far the path does exist."""
        if near := self._nearest(path):
            return f"No such file: {self.display(path)}. Did you mean {' or '.join(map(self.display, near))}?"
        there = next((one for one in path.parents if is_folder(one)), None)
        if there is None or there == path.parent:
            return f"No such file: {self.display(path)}."
        return f"No such file: {self.display(path)}. {self.display(there)} exists, but nothing of that name in it."

    def _nearest(self, path: Path) -> list[Path]:
        from difflib import get_close_matches

        names = _names(path.parent)
        by_folded_case = {name.casefold(): name for name in names}
        close = get_close_matches(path.name.casefold(), list(by_folded_case), n=3, cutoff=0.6)
        if close:
            return [path.parent / by_folded_case[name] for name in close]
        return self._same_name(path.name)

    def _same_name(self, name: str) -> list[Path]:
        found: list[Path] = []
        for count, (folder, folders, files) in enumerate(os.walk(self.root)):
            folders[:] = [one for one in folders if one not in _SKIPPED]
            if name in files:
                found.append(Path(folder, name))
            if count >= _MOST_FOLDERS or len(found) == 3:
                break
        return found


def _names(folder: Path) -> list[str]:
    names: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                names.append(entry.name)
                if len(names) == _MOST_NAMES:
                    break
    except OSError:
        return []
    return names


def is_there(path: Path) -> bool:
    """Whether there is anything; False for paths that cannot be."""
    return os.path.exists(path)  # noqa: PTH110 - `Path.exists` raises for a name that is too long


def is_folder(path: Path) -> bool:
    """Whether it is a folder; False for paths that cannot be."""
    return os.path.isdir(path)  # noqa: PTH112
