"""What a session's surroundings are when it begins: the platform, and the state of the repository.

No program is started for it: a repository that was unpacked from anywhere can make `git status` run what it likes. The
index is read and held against the files instead, within a time that nobody notices.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import stat
import struct
import time
from collections.abc import Iterator
from pathlib import Path

from agent_lsp.policy.visible import visible_line
from agent_lsp.slotted import frozen

BUDGET_S = 0.05
_LARGEST_INDEX_BYTES = 32 * 2**20
_LARGEST_HASHED_BYTES = 256 * 1024
_LOOK_AT_CLOCK_EVERY = 32
_BRANCH_CHARS = 120
_SUBMODULE = 0o160000
_ASSUME_VALID, _EXTENDED, _SKIPPED, _NAME_LENGTH = 0x8000, 0x4000, 0x4000, 0xFFF
_FIXED = struct.Struct(">10I20sH")


@frozen
class Repository:
    """A git repository at one moment. `changed`: tracked files that differ from what git knows; None: not known."""

    head: str
    changed: int | None


@frozen
class Surroundings:
    """Where a session works."""

    workspace: Path
    system: str
    repository: Repository | None


@frozen
class _Tracked:
    """A file in the index."""

    name: bytes
    mode: int
    size: int
    mtime_ns: int
    digest: bytes
    is_merging: bool
    is_ignored: bool


def surroundings(workspace: Path, budget_s: float = BUDGET_S) -> Surroundings:
    """Looks around, for about `budget_s` at most; what cannot be told in that time is left open. Never raises."""
    return Surroundings(workspace, platform.system(), _repository(workspace, time.monotonic() + budget_s))


def _repository(workspace: Path, deadline_s: float) -> Repository | None:
    found = _git_folder(workspace)
    if found is None:
        return None
    root, git = found
    try:
        head = (git / "HEAD").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
    branch = head.removeprefix("ref: refs/heads/")
    name = f"branch {branch}" if branch != head else f"detached at {head[:12]}"
    return Repository(visible_line(name, _BRANCH_CHARS), _changed(root, git / "index", deadline_s))


def _git_folder(workspace: Path) -> tuple[Path, Path] | None:
    """The root of the working tree that the folder is in, and where git keeps its state."""
    for root in (workspace, *workspace.parents):
        git = root / ".git"
        try:
            kind = git.lstat().st_mode
            if stat.S_ISDIR(kind):
                return root, git
            if stat.S_ISREG(kind):  # a worktree or a submodule
                pointer = re.match(r"gitdir: (.+)", git.read_text(encoding="utf-8", errors="replace"))
                return (root, root / pointer[1].strip()) if pointer else None
        except OSError:
            continue
    return None


def _changed(root: Path, index: Path, deadline_s: float) -> int | None:
    try:
        if index.stat().st_size > _LARGEST_INDEX_BYTES:
            return None
        data = index.read_bytes()
        count = 0
        for number, tracked in enumerate(_entries(data)):
            if number % _LOOK_AT_CLOCK_EVERY == 0 and time.monotonic() > deadline_s:
                return None
            count += not tracked.is_ignored and (tracked.is_merging or _differs(root, tracked))
    except FileNotFoundError:
        return 0  # nothing was ever added
    except (OSError, struct.error, IndexError, ValueError):
        return None  # an index that we do not understand
    return count


def _entries(data: bytes) -> Iterator[_Tracked]:
    """The entries of an index, versions 2 to 4. Raises struct.error, IndexError or ValueError for anything else."""
    magic, version, count = struct.unpack_from(">4sII", data)
    if magic != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("not an index")
    at, name = 12, b""
    for _ in range(count):
        _, _, mtime_s, mtime_ns, _, _, mode, _, _, size, digest, flags = _FIXED.unpack_from(data, at)
        start = at
        at += _FIXED.size
        further = 0
        if flags & _EXTENDED:
            (further,) = struct.unpack_from(">H", data, at)
            at += 2
        if version == 4:
            cut, at = _variable_length(data, at)
            end = data.index(0, at)
            name = name[: len(name) - cut] + data[at:end]
            at = end + 1
        else:
            length = flags & _NAME_LENGTH
            end = at + length if length < _NAME_LENGTH else data.index(0, at)
            name = data[at:end]
            at = start + (end - start + 8) // 8 * 8
        is_ignored = bool(flags & _ASSUME_VALID or further & _SKIPPED or mode == _SUBMODULE)
        yield _Tracked(name, mode, size, mtime_s * 10**9 + mtime_ns, digest, bool(flags & 0x3000), is_ignored)


def _variable_length(data: bytes, at: int) -> tuple[int, int]:
    """A number as git packs it, and the place behind it."""
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, at + 1


def _differs(root: Path, tracked: _Tracked) -> bool:
    """Whether the file is not what the index says; one of another age is read, if it is not large."""
    path = os.path.join(os.fsencode(root), tracked.name)  # noqa: PTH118 - names are bytes
    try:
        found = os.lstat(path)
    except OSError:
        return True
    if stat.S_IFMT(found.st_mode) != stat.S_IFMT(tracked.mode):
        return True
    if found.st_size & 0xFFFFFFFF != tracked.size:
        return True
    whole_seconds = tracked.mtime_ns % 10**9 == 0
    age_ns = found.st_mtime_ns // 10**9 * 10**9 if whole_seconds else found.st_mtime_ns
    if age_ns == tracked.mtime_ns:
        return False
    if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST_HASHED_BYTES:
        return True
    with open(path, "rb") as file:  # noqa: PTH123 - likewise
        body = file.read(_LARGEST_HASHED_BYTES)
    return hashlib.sha1(b"blob %d\0" % len(body) + body, usedforsecurity=False).digest() != tracked.digest
