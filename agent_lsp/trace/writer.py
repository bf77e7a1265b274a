"""Writes a session's trace: what happened is in the file before anybody hears of it, and a full disk stops nothing."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.messages.envelope import SessionMeta, encode, envelope
from agent_lsp.slotted import frozen
from agent_lsp.trace.file import TraceFile, Write, create_trace_file, lock_newest, sync_all
from agent_lsp.trace.history import (
    End,
    Page,
    Position,
    SessionTrace,
    Unwritten,
    count_before,
    decode_cursor,
    last_page,
    page,
    traced,
    traced_backwards,
)
from agent_lsp.trace.paths import DataDir, TracePath

HELD_BYTES = 8 * 1024 * 1024
"""So much is kept in memory while the disk takes nothing."""

_RUN_BEGIN = b'"type":"run_begin"'
"""Only the type of a payload looks like this: inside a JSON text the quotes are escaped."""


@frozen
class _NewFile:
    """In the queue of lines: from here on they go to a new file, which starts with `head`."""

    head: tuple[bytes, ...]


class TraceWriter:
    """The trace of an open session on disk. It belongs to the event loop's thread; make one with `new` or `resume`.

    Usually the queue is empty and a line costs one write(2). Lines queue up before the first run, and while the disk
    takes none: then each later line tries them again, in order. A disk that fails raises nothing here.
    """

    def __init__(
        self,
        data: DataDir,
        session_id: str,
        warn: Callable[[str], None],
        file: TraceFile | None,
        *,
        write: Write = os.write,
        held_bytes: int = HELD_BYTES,
    ) -> None:
        self.dropped = 0
        """Lines that were given up because the disk took none for too long."""
        self._data, self._session_id, self._warn = data, session_id, warn
        self._file = file
        self._write, self._limit = write, held_bytes
        self._queue: deque[bytes | _NewFile] = deque()
        self._queued_bytes = 0
        self._taken = 0  # bytes of the queue's first line that are in the file already
        self._rotation: _NewFile | None = None
        self._waiting = file is None
        self._closed = False
        self._unsynced: list[TraceFile] = []  # full files that no sync has seen since
        self._new_folders: set[Path] = set()
        self._said: set[str] = set()

    @classmethod
    def new(
        cls,
        data: DataDir,
        meta: SessionMeta,
        warn: Callable[[str], None],
        *,
        write: Write = os.write,
        held_bytes: int = HELD_BYTES,
    ) -> TraceWriter:
        """The trace of a new session; its file appears with the first run. SessionNotFound when its id is none."""
        data.trace_path(meta.session_id, 1)
        writer = cls(data, meta.session_id, warn, None, write=write, held_bytes=held_bytes)
        writer._queue.append(_NewFile((encode(envelope(meta)),)))
        return writer

    @classmethod
    def resume(
        cls,
        data: DataDir,
        session_id: str,
        warn: Callable[[str], None],
        *,
        write: Write = os.write,
        held_bytes: int = HELD_BYTES,
    ) -> TraceWriter:
        """Goes on with the newest file of a session, and writes nothing to it by that.

        SessionNotFound when there is none or it cannot be opened, SessionBusy when another writer has it.
        """
        file = lock_newest(data, session_id, write)
        return cls(data, session_id, warn, file, write=write, held_bytes=held_bytes)

    @property
    def path(self) -> Path | None:
        """The file that is written to now; None before the first run."""
        return self._file.path if self._file else None

    def append(self, line: bytes) -> None:
        """Adds a message (JSON without its line end): when this returns it is in the file, or kept for later."""
        file = self._file
        if self._queue or self._rotation or file is None or self._closed:
            self._append_queued(line)
            return
        data = line + b"\n"
        try:
            taken = file.append(data)
        except OSError as error:
            self._hold(line)
            self._failed(error)
            return
        if taken < len(data):
            self._hold(line)
            self._taken = taken
            self._flush()

    def begin(self) -> None:
        """The first run is coming: the file appears."""
        self._waiting = False
        self._flush()

    def rotate(self, preamble: Sequence[bytes]) -> None:
        """The next line appended goes to a new file, which starts with the lines of `preamble`."""
        self._rotation = _NewFile(tuple(preamble))

    async def sync(self) -> None:
        """Returns when what the disk took so far is safe from a power cut."""
        if not self._closed:
            await self._sync()

    def end(self) -> End:
        """Where the trace ends now, the lines that wait for the disk included."""
        file = self._file
        index, offset = (file.index, file.size - self._taken) if file else (0, 0)
        written = Position(index, offset)
        if file and file.torn:
            offset += 1
        unwritten: list[Unwritten] = []
        for item in self._queue:
            if isinstance(item, _NewFile):
                index, offset = index + 1, 0
            for line in item.head if isinstance(item, _NewFile) else (item,):
                offset += len(line) + 1
                unwritten.append(Unwritten(Position(index, offset), line))
        return End(written, tuple(unwritten))

    def history(self, limit: int, cursor: str | None = None, until: End | None = None) -> Page:
        """A page of the messages, oldest first. InvalidParams for a cursor that is none.

        With `until` (an `end()` taken on the event loop) it may be called from another thread.
        """
        start, until = decode_cursor(cursor), until or self.end()
        return page(traced(self._data.trace_files(self._session_id), start, until), limit)

    def latest(self, limit: int, cursor: str | None = None, until: End | None = None) -> Page:
        """The last messages before the cursor (default: the end), under the same conditions."""
        stop, until = None if cursor is None else decode_cursor(cursor), until or self.end()
        files = self._data.trace_files(self._session_id)
        return last_page(traced_backwards(files, stop, until), limit, partial(count_before, files, until))

    def abandon(self) -> None:
        """Lets go of the file and its lock at once: the session is not resumed after all."""
        self._closed = True
        if self._file:
            self._file.close()

    async def close(self) -> None:
        """Syncs and lets go of the file and its lock. Lines appended later are ignored, as are second closes."""
        if self._closed:
            return
        self._closed = True
        try:
            await self._sync()
        finally:
            self._let_go_of_full_files()
            if self._file:
                self._file.close()
        if self._queue and not self._waiting:
            self._say_once("lost", "The session ends, and the latest part of its trace could not be written.")

    async def _sync(self) -> None:
        if self._queue and not self._waiting:
            self._flush()
        descriptors: list[int] = []
        try:
            for file in (*self._unsynced, self._file):
                descriptors += [file.duplicate()] if file else []
        except OSError as error:
            self._failed(error)
        folders = tuple(self._new_folders)
        self._new_folders.clear()
        self._let_go_of_full_files()
        if not descriptors:
            return
        syncing = asyncio.get_running_loop().run_in_executor(None, sync_all, descriptors, folders)
        if error := await asyncio.shield(syncing):  # cancelled before its turn, nobody would close the descriptors
            self._failed(error)

    def _append_queued(self, line: bytes) -> None:
        if self._closed:
            return
        if self._rotation:
            self._queue.append(self._rotation)
            self._rotation = None
        self._hold(line)
        if self._waiting and _RUN_BEGIN in line:
            self._waiting = False
        if not self._waiting:
            self._flush()

    def _hold(self, line: bytes) -> None:
        self._queue.append(line)
        self._queued_bytes += len(line)

    def _flush(self) -> None:
        try:
            while self._queue:
                self._write_first(self._queue[0])
        except OSError as error:
            self._failed(error)

    def _write_first(self, item: bytes | _NewFile) -> None:
        if isinstance(item, _NewFile):
            self._open_next(item.head)
            self._queue.popleft()
            return
        assert self._file, "without a file the queue starts with a new one"
        data = item + b"\n"
        self._taken += self._file.append(data[self._taken :])
        if self._taken == len(data):
            self._queue.popleft()
            self._queued_bytes -= len(item)
            self._taken = 0

    def _open_next(self, head: tuple[bytes, ...]) -> None:
        index = self._file.index + 1 if self._file else 1
        path = self._data.trace_path(self._session_id, index)
        opened = create_trace_file(TracePath(index, path), head, self._write)
        if self._file:
            self._file.unlock()
            self._unsynced.append(self._file)
        self._file = opened
        self._new_folders |= {path.parent, path.parent.parent}

    def _let_go_of_full_files(self) -> None:
        for file in self._unsynced:
            file.close()
        self._unsynced.clear()

    def _failed(self, error: OSError) -> None:
        self._say_once(
            "failing",
            f"The session's trace cannot be written ({error.strerror or error}). The session goes on; "
            "what happens in it is kept in memory and written as soon as that is possible.",
        )
        if self._queued_bytes > self._limit:
            self._drop_oldest()
            self._say_once(
                "dropping",
                "The session's trace still cannot be written: there is more of it now than is kept in memory, "
                "so its oldest unwritten messages are given up.",
            )

    def _drop_oldest(self) -> None:
        begun = self._queue.popleft() if self._taken else None  # partly in the file, where it has to be ended
        new_file: _NewFile | None = None
        while self._queue and self._queued_bytes > self._limit:
            item = self._queue.popleft()
            if isinstance(item, _NewFile):
                new_file = item  # an older one would open a file for nothing
                continue
            self._queued_bytes -= len(item)
            self.dropped += 1
        self._queue.extendleft(item for item in (new_file, begun) if item is not None)

    def _say_once(self, topic: str, message: str) -> None:
        if topic not in self._said:
            self._said.add(topic)
            self._warn(message)


if TYPE_CHECKING:
    _: type[SessionTrace] = TraceWriter
