"""Walks a tree as a person looks through it: without what `.gitignore` files leave out, and past no link."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_NEVER = frozenset({".git", ".hg", ".svn"})


@frozen
class Entry:
    """One thing in the tree; `relative` is its path from where the walk began, with `/`."""

    relative: str
    kind: str
    """`file`, `directory` or `link`."""
    size_bytes: int
    depth: int


@frozen
class _Ignoring:
    """The `.gitignore` of one folder, and those above it."""

    folder: str
    spec: GitIgnoreSpec
    above: _Ignoring | None

    def ignores(self, path: str) -> bool:
        """Whether the path (absolute, of a folder with `/` at its end) is left out: the deepest verdict counts."""
        level: _Ignoring | None = self
        while level:
            verdict = level.spec.check_file(path[len(level.folder) + 1 :]).include
            if verdict is not None:
                return verdict
            level = level.above
        return False


def walk(start: Path, root: Path, is_denied: Callable[[Path], bool], depth: int | None = None) -> Iterator[Entry]:
    """What is below `start`, the nearer first, in the order of names.

    The `.gitignore` files of the repository that `root` is in count, or those from `root` on if it is in none.
    """
    ahead = deque([(str(start), "", _inherited(start, repository_of(root) or root), 1)])
    while ahead:
        folder, prefix, above, level = ahead.popleft()
        ignoring = _with_file_of(folder, above)
        for entry in _sorted_entries(folder):
            is_folder = entry.is_dir(follow_symlinks=False)
            path = f"{folder.rstrip('/')}/{entry.name}"
            if entry.name in _NEVER or (ignoring and ignoring.ignores(path + "/" * is_folder)) or is_denied(Path(path)):
                continue
            yield _entry(entry, prefix, level, is_folder=is_folder)
            if is_folder and (depth is None or level < depth):
                ahead.append((path, f"{prefix}{entry.name}/", ignoring, level + 1))


def repository_of(root: Path) -> Path | None:
    """The folder of the git repository that `root` is in, if it is in one."""
    return next((one for one in (root, *root.parents) if os.path.lexists(one / ".git")), None)


def _sorted_entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _entry(entry: os.DirEntry[str], prefix: str, depth: int, *, is_folder: bool) -> Entry:
    try:
        size = 0 if is_folder else entry.stat(follow_symlinks=False).st_size
    except OSError:
        size = 0
    kind = "directory" if is_folder else "link" if entry.is_symlink() else "file"
    return Entry(prefix + entry.name, kind, size, depth)


def _inherited(start: Path, top: Path) -> _Ignoring | None:
    ignoring: _Ignoring | None = None
    if start != top and start.is_relative_to(top):
        for folder in reversed([one for one in start.parents if one.is_relative_to(top)]):
            ignoring = _with_file_of(str(folder), ignoring)
    return ignoring


def _with_file_of(folder: str, above: _Ignoring | None) -> _Ignoring | None:
    try:
        with open(f"{folder}/.gitignore", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - one a folder
            lines = file.read().splitlines()
    except OSError:
        return above
    from pathspec import GitIgnoreSpec

    try:
        return _Ignoring(folder.rstrip("/"), GitIgnoreSpec.from_lines(lines), above)
    except ValueError:
        return above
