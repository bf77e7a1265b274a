"""The editor port over plain files: every file is replaced whole or not at all."""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import stat
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from agent_lsp.slotted import frozen
from agent_lsp.tools.editor import Applied, Change, Outcome, Refused, Snapshot, Stale, Unreadable, new_text
from agent_lsp.tools.text_file import UTF8, Codec, decode
from agent_lsp.tools.without_links import folder_of, opened

LARGEST_BYTES = 32 * 2**20
_INLINE_BYTES = 256 * 1024  # up to here reading costs less than a thread
_CHANGES = threading.Lock()  # of all sessions: between the look at a file and its writing nobody else of us writes it


@frozen
class _OnDisk:
    """The version of a snapshot: the file's bytes and how they were read."""

    raw: bytes
    codec: Codec


@frozen
class _Write:
    """One file to be written: the path without links, its bytes now and then (None: not there)."""

    change: Change
    target: Path
    before: bytes | None
    after: bytes | None


Admits = Callable[[Path, bool], bool]
"""Whether a file (absolute, links resolved) may be opened, and written if that is asked; looked at just before."""

_MOVED = "It leads elsewhere than when this was allowed."


class DiskEditor:
    """Files where no editor is. `backups` is where a file is copied to before it is changed in place."""

    def __init__(self, backups: Path, admits: Admits = lambda real, writes: True) -> None:
        self._backups, self._admits = backups, admits

    async def read(self, path: Path, *, shown: bool = False) -> Snapshot | Unreadable | None:
        """The file's text; a small file is read at once, a larger one in a thread."""
        found = _look(path)
        if not isinstance(found, os.stat_result):
            return found
        if found.st_size <= _INLINE_BYTES:
            return self._read(path)
        return await asyncio.to_thread(self._read, path)

    def peek(self, path: Path) -> Snapshot | Unreadable | None:
        """The file's text, read at once."""
        found = _look(path)
        return self._read(path) if isinstance(found, os.stat_result) else found

    def stamp(self, path: Path) -> object:
        """Where the file really is, its size and when it was changed; None if there is none."""
        return stamp(path)

    async def replace(self, changes: Sequence[Change], label: str) -> Outcome:
        """Writes every file, each atomically where that is possible. A failure takes back what was written before it.

        A cancel does not split it: what the thread has begun it finishes.
        """
        return await asyncio.to_thread(self._replace, changes)

    async def diagnostics(self, paths: Sequence[Path]) -> str:
        """Nothing: a disk has no opinion."""
        return ""

    def unsaved(self) -> Mapping[Path, str]:
        """Nothing: what is on the disk is saved."""
        return {}

    def _read(self, path: Path) -> Snapshot | Unreadable | None:
        real = Path(os.path.realpath(path))
        return _read(path, real) if self._admits(real, False) else Unreadable(path, "error", _MOVED)

    def _replace(self, changes: Sequence[Change]) -> Outcome:
        with _CHANGES:
            return self._make(changes)

    def _make(self, changes: Sequence[Change]) -> Outcome:
        writes: list[_Write] = []
        for change in changes:
            prepared = _prepare(change)
            if not isinstance(prepared, _Write):
                return prepared
            if not self._admits(prepared.target, True):
                return Refused(change.path, _MOVED)
            writes.append(prepared)
        done: list[_Write] = []
        made: list[Path] = []
        for write in writes:
            try:
                made += _make_folders(write.target.parent) if write.after is not None else []
                self._put(write.target, write.after, write.change.mode_of)
            except OSError as error:
                self._take_back(done, made)
                return Refused(write.change.path, f"{error.strerror or error}")
            done.append(write)
        return Applied()

    def _put(self, target: Path, data: bytes | None, mode_of: Path | None = None) -> None:
        with folder_of(target) as folder:
            if data is None:
                os.unlink(target.name, dir_fd=folder)
                return
            try:
                there = os.stat(target.name, dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:
                mode = stat.S_IMODE(mode_of.stat().st_mode) if mode_of else None
                _write_new(folder, target.name, data, mode)
                return
            is_shared = there.st_nlink > 1 or there.st_uid != os.geteuid()
            if is_shared or not os.access(".", os.W_OK, dir_fd=folder):
                self._back_up(target)
                _write_in_place(target, data)
            else:
                _write_new(folder, target.name, data, stat.S_IMODE(there.st_mode))

    def _back_up(self, target: Path) -> None:
        self._backups.mkdir(mode=0o700, parents=True, exist_ok=True)
        copy = self._backups / f"before-{secrets.token_hex(4)}-{target.name[:100]}"
        descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(_bytes(target))

    def _take_back(self, done: list[_Write], made: list[Path]) -> None:
        for write in reversed(done):
            try:
                self._put(write.target, write.before)
            except OSError:
                continue  # the disk that refused the change may refuse this too; the rest is still taken back
        for folder in reversed(made):
            try:
                folder.rmdir()
            except OSError:
                continue


def peek(path: Path) -> Snapshot | Unreadable | None:
    """The text of a file (`Editor.peek`), wherever it leads."""
    found = _look(path)
    return _read(path, Path(os.path.realpath(path))) if isinstance(found, os.stat_result) else found


def stamp(path: Path) -> object:
    """What is the same as long as a file is (`Editor.stamp`)."""
    try:
        found = os.stat(path)  # noqa: PTH116 - asked of each known file before each request, and half as dear
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _look(path: Path) -> os.stat_result | Unreadable | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        return Unreadable(path, "error", f"Cannot be read: {getattr(error, 'strerror', None) or error}.")
    if stat.S_ISDIR(found.st_mode):
        return Unreadable(path, "directory", "It is a directory, not a file: list_files shows what is in it.")
    if not stat.S_ISREG(found.st_mode):
        return Unreadable(path, "special", "It is a device, pipe or socket, not a file.")
    if found.st_size > LARGEST_BYTES:
        text = f"It is too large ({found.st_size} bytes): use search_text, or exec_command with sed, head or tail."
        return Unreadable(path, "too_large", text)
    return found


def _bytes(real: Path) -> bytes:
    """What is in the file, all that is read of one. Raises OSError; no file is none too."""
    with os.fdopen(opened(real, os.O_RDONLY), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no file")
        return file.read(LARGEST_BYTES)


def _read(path: Path, real: Path) -> Snapshot | Unreadable | None:
    try:
        raw = _bytes(real)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Unreadable(path, "error", f"Cannot be read: {error.strerror}.")
    decoded = decode(raw)
    if decoded is None:
        return Unreadable(
            path, "binary", "It is a binary file: use exec_command with file, xxd or strings to look into it."
        )
    text, codec = decoded
    return Snapshot(path, text, _OnDisk(raw, codec))


def _prepare(change: Change) -> _Write | Stale | Refused:
    version = change.snapshot.version if change.snapshot else None
    before = version.raw if isinstance(version, _OnDisk) else None
    like = change.written_like.version if change.written_like else version
    codec = like.codec if isinstance(like, _OnDisk) else UTF8
    try:
        target = Path(os.path.realpath(change.path))
        now = _bytes(target)
    except FileNotFoundError:
        target, now = Path(os.path.realpath(change.path)), None
    except (OSError, ValueError) as error:
        return Refused(change.path, f"{getattr(error, 'strerror', None) or error}")
    if now != before:
        decoded = decode(now) if now is not None else None
        return Stale(change.path, decoded[0] if decoded else None)
    text = new_text(change)
    try:
        return _Write(change, target, before, None if text is None else codec.encode(text))
    except UnicodeEncodeError as error:
        unfit = error.object[error.start : error.end]
        return Refused(change.path, f"the file's encoding ({codec.encoding}) has no {unfit!r}")


def _make_folders(folder: Path) -> list[Path]:
    missing: list[Path] = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        one.mkdir(exist_ok=True)
    return missing[::-1]


def _write_new(folder: int, name: str, data: bytes, mode: int | None) -> None:
    beside = f".agent-lsp-{secrets.token_hex(6)}.tmp"
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None:
                os.fchmod(descriptor, mode)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=folder)
        raise


def _write_in_place(target: Path, data: bytes) -> None:
    with os.fdopen(opened(target, os.O_RDWR), "r+b") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
