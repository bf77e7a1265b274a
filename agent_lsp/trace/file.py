"""One trace file, open for appending and locked against every other writer."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from agent_lsp.errors import SessionBusy, SessionNotFound
from agent_lsp.trace.paths import FILE_MODE, DataDir, TracePath, make_private

Write = Callable[[int, bytes], int]
"""Writes to a descriptor and tells how many bytes it took: `os.write`, or a disk that fails on purpose."""


class TraceFile:
    """An append-only file. Its lock belongs to the open file and ends with it, also when the process is killed.

    Make one with `create_trace_file` or `open_trace_file`.
    """

    __slots__ = ("_descriptor", "_write", "index", "path", "size", "torn")

    def __init__(self, at: TracePath, descriptor: int, write: Write) -> None:
        self.index, self.path = at.index, at.path
        self._descriptor, self._write = descriptor, write
        self.size = os.fstat(descriptor).st_size
        self.torn = self.size > 0 and os.pread(descriptor, 1, self.size - 1) != b"\n"
        """The last line was cut off: whatever comes next is set apart from it by a line end."""

    def append(self, data: bytes) -> int:
        """One write(2); the number of bytes of `data` that it took, maybe not all of them. OSError when it failed."""
        if self.torn:
            self._take(b"\n")
            self.torn = False
        return self._take(data)

    def _take(self, data: bytes) -> int:
        taken = self._write(self._descriptor, data)
        if taken <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.size += taken
        return taken

    def duplicate(self) -> int:
        """Another descriptor of the same file, for a sync that may outlive this one. The caller closes it."""
        return os.dup(self._descriptor)

    def unlock(self) -> None:
        """Lets other writers in, though duplicates of the descriptor may still be open."""
        with contextlib.suppress(OSError):
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Unlocks and closes the file; once."""
        self.unlock()
        with contextlib.suppress(OSError):  # a network disk may report a lost write here; the sync has told already
            os.close(self._descriptor)


def create_trace_file(at: TracePath, head: Sequence[bytes], write: Write = os.write) -> TraceFile:
    """Makes a file that begins with the lines of `head`, and locks it. OSError when it cannot; nothing is left then.

    It is written under another name first: nobody ever meets a trace without its first lines, or without its lock.
    """
    make_private(at.path.parent)
    draft = at.path.with_suffix(".draft")
    descriptor = os.open(draft, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC, FILE_MODE)
    try:
        if not _lock(descriptor) or at.path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(at.path))
        file = TraceFile(at, descriptor, write)
        for line in head:
            _append_whole(file, line + b"\n")
        draft.rename(at.path)
    except OSError:
        os.close(descriptor)
        draft.unlink(missing_ok=True)
        raise
    return file


def open_trace_file(at: TracePath, write: Write = os.write) -> TraceFile | None:
    """Opens a file that is there and locks it; None when another writer has it. OSError when it cannot be opened."""
    descriptor = os.open(at.path, os.O_RDWR | os.O_APPEND)
    try:
        if _lock(descriptor):
            return TraceFile(at, descriptor, write)
    except OSError:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def lock_newest(data: DataDir, session_id: str, write: Write = os.write) -> TraceFile:
    """Opens and locks the newest file of a session. SessionNotFound without one, SessionBusy when a writer has it."""
    while True:
        files = data.trace_files(session_id)
        if not files:
            raise SessionNotFound(session_id, "it has no trace")
        try:
            file = open_trace_file(files[-1], write)
        except FileNotFoundError:
            continue  # deleted since it was looked up
        except OSError as error:
            raise SessionNotFound(session_id, f"its trace cannot be opened ({error.strerror})") from error
        if file is None:
            raise SessionBusy(session_id, None)
        if data.trace_files(session_id) == files:
            return file
        file.close()  # rotated or deleted between the look and the lock


def sync_all(descriptors: Sequence[int], folders: Sequence[Path]) -> OSError | None:
    """Syncs and closes the descriptors, then syncs the folders that got new files. Blocks; the last error, if any."""
    failure: OSError | None = None
    for descriptor in (*descriptors, *folders):
        try:
            opened = os.open(descriptor, os.O_RDONLY) if isinstance(descriptor, Path) else descriptor
            try:
                os.fsync(opened)
            finally:
                os.close(opened)
        except OSError as error:
            failure = error
    return failure


def _append_whole(file: TraceFile, data: bytes) -> None:
    while data:
        data = data[file.append(data) :]


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        # Some network disks know no locks; a session there is worth more than the lock.
        return error.errno in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)
    return True
