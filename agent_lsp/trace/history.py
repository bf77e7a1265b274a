"""A session's messages in pages, oldest first: over its files, and over what has not been written to them yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agent_lsp.engine.ports import Trace
from agent_lsp.slotted import frozen
from agent_lsp.trace.cursor import seal, unseal
from agent_lsp.trace.reader import count_lines, parse, read_backwards, read_records

if TYPE_CHECKING:
    from agent_lsp.messages.envelope import Message
    from agent_lsp.trace.paths import TracePath

_CURSOR = re.compile(r"([0-9]{1,9})\.([0-9]{1,18})")


@frozen(order=True)
class Position:
    """A place between two lines of a trace: the file's index and the bytes before it in that file.

    Traces only grow, so a position stays good whatever is appended.
    """

    index: int
    offset: int


@frozen
class Unwritten:
    """A line that is still in memory, and where it will end once it is written."""

    end: Position
    line: bytes


@frozen
class End:
    """Where a trace ended at one moment: up to `written` it is in the files, then come the lines still in memory."""

    written: Position
    unwritten: tuple[Unwritten, ...] = ()


@frozen
class Page:
    """Some messages of a history, oldest first, and the cursor of what comes next in the direction of reading.

    None: nothing, at the moment. Reading forward sets `next_cursor`, reading from the end `previous_cursor`, with
    `earlier`, the number of messages before it. Either cursor stands for a place, to read from it or up to it.
    """

    messages: tuple[Message, ...]
    next_cursor: str | None = None
    previous_cursor: str | None = None
    earlier: int | None = None


class SessionTrace(Trace, Protocol):
    """The trace of an open session, on disk or in memory."""

    @property
    def path(self) -> Path | None:
        """The file that is written to now; None while there is none."""
        ...

    def begin(self) -> None:
        """The first run is coming: the trace may appear. Also understood from an appended `run_begin`."""
        ...

    def rotate(self, preamble: Sequence[bytes]) -> None:
        """A new context begins: the next line appended goes to a new file that starts with `preamble`."""
        ...

    def end(self) -> End:
        """Where the trace ends now. Taken in the same step as the stream's next number, it fits exactly."""
        ...

    def history(self, limit: int, cursor: str | None = None, until: End | None = None) -> Page:
        """A page of the messages before `until` (default: now). With `until`, it may be called from another thread."""
        ...

    def latest(self, limit: int, cursor: str | None = None, until: End | None = None) -> Page:
        """The last messages before the cursor (default: before `until`, or now), under the same conditions."""
        ...

    async def close(self) -> None:
        """Brings everything to the disk and lets go of it; lines appended later are ignored."""
        ...


def page(found: Iterable[tuple[Position, Message]], limit: int) -> Page:
    """The first `limit` of the messages (each with the position after it); a cursor only when there is one more."""
    messages: list[Message] = []
    last: Position | None = None
    for position, message in found:
        if last is not None and len(messages) >= limit:
            return Page(tuple(messages), encode_cursor(last))
        messages.append(message)
        last = position
    return Page(tuple(messages))


def last_page(found: Iterable[tuple[Position, Message]], limit: int, count_before: Callable[[Position], int]) -> Page:
    """The first `limit` of messages that come last first (each with the position before it), in their right order."""
    messages: list[Message] = []
    first: Position | None = None
    for position, message in found:
        if first is not None and len(messages) >= limit:
            cursor, earlier = encode_cursor(first), count_before(first)
            return Page(tuple(reversed(messages)), previous_cursor=cursor, earlier=earlier)
        messages.append(message)
        first = position
    return Page(tuple(reversed(messages)))


def traced(files: Sequence[TracePath], start: Position, until: End | None = None) -> Iterator[tuple[Position, Message]]:
    """The messages from `start` on, each with the position after it. Lines that are no message are passed over."""
    return chain(_in_files(files, start, until), _in_memory(start, until))


def traced_backwards(
    files: Sequence[TracePath], stop: Position | None, until: End | None = None
) -> Iterator[tuple[Position, Message]]:
    """The messages before `stop` (default: before `until`, else all), last first, each with the position before it."""
    return chain(_in_memory_backwards(stop, until), _in_files_backwards(files, stop, until))


def count_before(files: Sequence[TracePath], until: End | None, position: Position) -> int:
    """How many lines there are before a position; each is a message, but for those that something has spoilt."""
    counted = 0
    for file in files:
        if file.index <= position.index:
            counted += count_lines(file.path, position.offset if file.index == position.index else None)
    return counted + sum(held.end <= position for held in (until.unwritten if until else ()))


def encode_cursor(position: Position) -> str:
    """The position as the opaque text that a client gives back."""
    return seal(f"{position.index}.{position.offset}")


def decode_cursor(cursor: str | None) -> Position:
    """The position a cursor stands for; the beginning for None. InvalidParams when it is no cursor."""
    if cursor is None:
        return Position(0, 0)
    matched = unseal(cursor, _CURSOR)
    return Position(int(matched[1]), int(matched[2]))


def _in_files(files: Sequence[TracePath], start: Position, until: End | None) -> Iterator[tuple[Position, Message]]:
    for file in files:
        if file.index < start.index or (until and file.index > until.written.index):
            continue
        begin = start.offset if file.index == start.index else 0
        stop = until.written.offset if until and file.index == until.written.index else None
        for record in read_records(file.path, begin, stop):
            if record.message is not None:
                yield Position(file.index, record.end), record.message


def _in_files_backwards(
    files: Sequence[TracePath], stop: Position | None, until: End | None
) -> Iterator[tuple[Position, Message]]:
    bounds = [place for place in (stop, until.written if until else None) if place]
    last = min(bounds, default=None)
    for file in reversed(files):
        if last and file.index > last.index:
            continue
        before = last.offset if last and file.index == last.index else None
        for begin, message in read_backwards(file.path, before):
            yield Position(file.index, begin), message


def _in_memory_backwards(stop: Position | None, until: End | None) -> Iterator[tuple[Position, Message]]:
    if until is None:
        return
    begins = [until.written, *(held.end for held in until.unwritten)]
    for begin, held in reversed(list(zip(begins, until.unwritten, strict=False))):
        if (stop is None or held.end <= stop) and (message := parse(held.line)) is not None:
            yield begin, message


def _in_memory(start: Position, until: End | None) -> Iterator[tuple[Position, Message]]:
    for held in until.unwritten if until else ():
        if held.end > start and (message := parse(held.line)) is not None:
            yield held.end, message
