"""Reads trace files: line by line, never a whole file at once, past whatever a crash or a hand has spoilt."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from pydantic import ValidationError

from agent_lsp.messages.envelope import MESSAGE, Message, MetaMessage
from agent_lsp.slotted import frozen

_BLOCK_BYTES = 65_536
_COUNTED_BYTES = 1_048_576
_NAMED_LINES = 20
"""So many bad lines are named in a warning; a file with more has other troubles."""


@frozen
class Record:
    """A line of a trace. `message` is None when it holds none; `end` is the byte after it.

    `number` counts from 1 where the reading began. `terminated`: it has its line end (only the last one may lack it).
    """

    number: int
    end: int
    message: Message | None
    terminated: bool = True


def parse(line: bytes) -> Message | None:
    """The message of a line, or None when it is not one."""
    try:
        return MESSAGE.validate_json(line)
    except ValidationError:
        return None


def read_records(path: Path, start: int = 0, stop: int | None = None) -> Iterator[Record]:
    """The lines that begin at the byte `start` or later and before `stop`; blank ones are left out.

    `start` is 0 or the `end` of an earlier record. OSError when the file cannot be read.
    """
    with path.open("rb") as file:
        file.seek(start)
        end = start
        for number, line in enumerate(file, 1):
            if stop is not None and end >= stop:
                return
            end += len(line)
            if not line.isspace():
                yield Record(number, end, parse(line), line.endswith(b"\n"))


def read_backwards(path: Path, stop: int | None = None) -> Iterator[tuple[int, Message]]:
    """The messages before the byte `stop` (default: the end), last first, each with the byte where its line begins.

    Reads no more of the file than is asked for. `stop` is where a line begins. OSError when the file cannot be read.
    """
    with path.open("rb") as file:
        at = file.seek(0, os.SEEK_END) if stop is None else stop
        size, tail = _BLOCK_BYTES, b""
        while at > 0:
            size = min(size, at)
            at = file.seek(at - size)
            block = file.read(size) + tail
            begin = block.find(b"\n") + 1 if at else 0
            if at and not begin:
                size, tail = size * 2, block  # a long line is not joined again and again
                continue
            yield from _last_first(block, begin, at)
            size, tail = _BLOCK_BYTES, block[:begin]


def count_lines(path: Path, stop: int | None = None) -> int:
    """How many line ends there are before the byte `stop` (default: the end). OSError when the file cannot be read."""
    count, left = 0, path.stat().st_size if stop is None else stop
    with path.open("rb") as file:
        while left > 0 and (block := file.read(min(_COUNTED_BYTES, left))):
            count += block.count(b"\n")
            left -= len(block)
    return count


def _last_first(block: bytes, begin: int, offset: int) -> Iterator[tuple[int, Message]]:
    """The messages of the whole lines from `begin` on in a block that is `offset` bytes into its file."""
    end = len(block)
    for line in reversed(block[begin:].split(b"\n")):
        start = end - len(line)
        if line and (message := parse(line)) is not None:
            yield offset + start, message
        end = start - 1


def read_trace(path: Path, warn: Callable[[str], None]) -> Iterator[Message]:
    """The messages of one trace file, in order. OSError when it cannot be read.

    A last line that was cut off is passed over in silence: a crash leaves one. Other lines that are no message are
    passed over too, and named in one warning at the end.
    """
    bad: list[int] = []
    for record in read_records(path):
        if record.message is not None:
            yield record.message
        elif record.terminated:
            bad.append(record.number)
    if bad:
        warn(f"{path.name}: skipped what is not a message in {_named(bad)}")


def read_meta(path: Path) -> MetaMessage | None:
    """The `session_meta` that the file begins with, or None. OSError when it cannot be read."""
    with path.open("rb") as file:
        message = parse(file.readline())
    return message if isinstance(message, MetaMessage) else None


def _named(numbers: list[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:_NAMED_LINES])
    more = f" and {len(numbers) - _NAMED_LINES} more" if len(numbers) > _NAMED_LINES else ""
    return f"line{'s' if len(numbers) > 1 else ''} {shown}{more}"
