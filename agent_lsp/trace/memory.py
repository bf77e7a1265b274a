"""The trace of an ephemeral session: the same as on disk, and gone with the process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.messages.envelope import Message, SessionMeta, encode, envelope
from agent_lsp.trace.history import End, Page, Position, SessionTrace, decode_cursor, last_page, page
from agent_lsp.trace.reader import parse

if TYPE_CHECKING:
    from agent_lsp.trace.paths import DataDir


class MemoryTrace:
    """Keeps the lines of a session's trace. A position in it counts lines, in a single file that never rotates."""

    def __init__(self, meta: SessionMeta, data: DataDir | None = None) -> None:
        """In `data` may be what the session needs while it is open: its scratchpad, which goes with the trace."""
        self._scratchpad = data.scratchpad(meta.session_id) if data else None
        self._lines: list[bytes] = [encode(envelope(meta))]
        self._preamble: tuple[bytes, ...] = ()
        self._closed = False

    @property
    def path(self) -> Path | None:
        """None: there is no file, ever."""
        return None

    def append(self, line: bytes) -> None:
        """Adds a line; the preamble of a new context comes before it."""
        if not self._closed:
            self._lines += (*self._preamble, line)
            self._preamble = ()

    async def sync(self) -> None:
        """Nothing to wait for."""

    def begin(self) -> None:
        """Nothing appears anywhere."""

    def rotate(self, preamble: Sequence[bytes]) -> None:
        """The next line begins a new context, with the preamble before it."""
        self._preamble = tuple(preamble)

    def end(self) -> End:
        """After the last line."""
        return End(Position(1, len(self._lines)))

    def history(self, limit: int, cursor: str | None = None, until: End | None = None) -> Page:
        """A page of the messages, oldest first. InvalidParams for a cursor that is none."""
        return page(self._messages(decode_cursor(cursor).offset, (until or self.end()).written.offset), limit)

    def latest(self, limit: int, cursor: str | None = None, until: End | None = None) -> Page:
        """The last messages before the cursor. InvalidParams for a cursor that is none."""
        end = (until or self.end()).written.offset
        stop = end if cursor is None else min(end, decode_cursor(cursor).offset)
        return last_page(self._backwards(stop), limit, lambda position: position.offset)

    async def close(self) -> None:
        """The trace can still be read and takes no more lines; on the disk nothing is left."""
        self._closed = True
        if self._scratchpad:
            from shutil import rmtree

            await asyncio.to_thread(rmtree, self._scratchpad, ignore_errors=True)

    def _messages(self, start: int, stop: int) -> Iterator[tuple[Position, Message]]:
        for number in range(start, min(stop, len(self._lines))):
            if message := parse(self._lines[number]):
                yield Position(1, number + 1), message

    def _backwards(self, stop: int) -> Iterator[tuple[Position, Message]]:
        for number in range(min(stop, len(self._lines)) - 1, -1, -1):
            if message := parse(self._lines[number]):
                yield Position(1, number), message


if TYPE_CHECKING:
    _: type[SessionTrace] = MemoryTrace
