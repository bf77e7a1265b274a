"""Reads back the diffs that `tools.diff` has written, as the model was told them; shortened ones cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent_lsp.slotted import frozen

_HUNK = re.compile(r"@@ -([0-9]+),([0-9]+) \+([0-9]+),([0-9]+) @@")
_OPEN = "\\ No newline at end of file"
_LONGEST_LINE = 1_000
"""A line with its sign that is longer was cut (`tools.diff`)."""


@frozen
class ToldLine:
    """A line with its sign (blank, `-`, `+`), without its line end. `is_open`: it has none, and nothing follows."""

    sign: str
    text: str
    is_open: bool = False


@frozen
class ToldHunk:
    """A hunk; where it begins on either side, counted from 0."""

    old_start: int
    new_start: int
    lines: tuple[ToldLine, ...]

    def side(self, dropped: str) -> list[ToldLine]:
        """The lines of one side: all but those with the sign of the other."""
        return [line for line in self.lines if line.sign != dropped]


@frozen
class ToldDiff:
    """The difference of one file; `old` or `new` None: there was no such file before or after."""

    old: str | None
    new: str | None
    hunks: tuple[ToldHunk, ...]

    @property
    def name(self) -> str:
        """The file, as it was named to the model."""
        return self.new or self.old or ""


class DiffUnreadable(ValueError):
    """What should be a diff is none, or not the whole of it."""


class DiffReader:
    """Reads one diff after the other, from a line of a text on. `at` is the next line that was not read."""

    def __init__(self, lines: Sequence[str], at: int = 0) -> None:
        self._lines, self.at = lines, at

    @property
    def is_at_diff(self) -> bool:
        """Whether a diff begins here."""
        return self._line(0).startswith("--- ") and self._line(1).startswith("+++ ")

    def read(self) -> ToldDiff:
        """The diff that begins here. Raises DiffUnreadable."""
        if not self.is_at_diff:
            raise DiffUnreadable
        old, new = _name(self._line(0)[4:], "a/"), _name(self._line(1)[4:], "b/")
        self.at += 2
        return ToldDiff(old, new, tuple(self._hunks()))

    def _line(self, ahead: int) -> str:
        return self._lines[self.at + ahead] if self.at + ahead < len(self._lines) else ""

    def _hunks(self) -> Iterator[ToldHunk]:
        while header := _HUNK.fullmatch(self._line(0)):
            self.at += 1
            old, old_count, new, new_count = map(int, header.groups())
            lines = tuple(self._body(old_count, new_count))
            yield ToldHunk(old - bool(old_count), new - bool(new_count), lines)

    def _body(self, old: int, new: int) -> Iterator[ToldLine]:
        while old or new:
            line = self._line(0)
            if line[:1] not in (" ", "-", "+") or not line or len(line) > _LONGEST_LINE:
                raise DiffUnreadable
            self.at += 1
            old, new = old - (line[0] != "+"), new - (line[0] != "-")
            if old < 0 or new < 0:
                raise DiffUnreadable
            is_open = self._line(0) == _OPEN
            self.at += is_open
            yield ToldLine(line[0], line[1:], is_open)


def _name(written: str, prefix: str) -> str | None:
    if written == "/dev/null":
        return None
    if not written.startswith(prefix):
        raise DiffUnreadable
    return written.removeprefix(prefix)
