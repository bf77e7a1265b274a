"""Positions of the protocol in a text: a line, and a column that counts units of the negotiated encoding."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from agent_lsp.server.shapes import Position, Range

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_CODEC = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def lines_of(text: str) -> list[str]:
    """The lines with their ends (CRLF, CR or LF, nothing else); the last one, which may be empty, has none."""
    lines = _LINE.findall(text)
    if not lines or lines[-1].endswith(("\r", "\n")):
        lines.append("")
    return lines


def column_to_index(line: str, column: int, encoding: str) -> int:
    """The index in a line; a column inside a character is its beginning, one beyond the line its end."""
    content = line.rstrip("\r\n")
    if content.isascii():
        return min(column, len(content))
    codec, width = _CODEC[encoding]
    units = content.encode(codec, "surrogatepass")
    return len(units[: column * width].decode(codec, "ignore")) if column * width < len(units) else len(content)


def index_to_column(line: str, index: int, encoding: str) -> int:
    """The column of an index in a line."""
    before = line[:index]
    if before.isascii():
        return len(before)
    codec, width = _CODEC[encoding]
    return len(before.encode(codec, "surrogatepass")) // width


class Places:
    """The positions of one text, asked for in rising order or not."""

    def __init__(self, text: str, encoding: str) -> None:
        self._lines: Sequence[str] = lines_of(text)
        self._encoding = encoding
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def position(self, index: int) -> Position:
        """The position of an index."""
        line = min(bisect_right(self._starts, index), len(self._lines)) - 1
        column = index_to_column(self._lines[line], index - self._starts[line], self._encoding)
        return Position(line=line, character=column)

    def range(self, start: int, end: int) -> Range:
        """The range between two indices."""
        return Range(start=self.position(start), end=self.position(end))
