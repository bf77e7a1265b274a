"""Columns of text, as wide as they have to be; the one that may be long takes what is left of the line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent_lsp.cli.titles import clipped
from agent_lsp.policy.visible import visible_line
from agent_lsp.slotted import frozen

_GAP = "  "
_LEAST = 8


@frozen
class Column:
    """A column. `is_number`: its values stand at the right. `shrinks`: it is cut when the line is too short."""

    name: str
    is_number: bool = False
    shrinks: bool = False


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """The lines of a table, its head first. What is in it has its control characters made visible."""
    shown = [[column.name for column in columns], *([visible_line(cell) for cell in row] for row in rows)]
    widths = [max(len(row[place]) for row in shown) for place in range(len(columns))]
    for place in _shrinking(columns, widths):
        too_much = sum(widths) + len(_GAP) * (len(columns) - 1) - width
        widths[place] -= max(0, min(too_much, widths[place] - _LEAST))
    for row in shown:
        yield _GAP.join(map(_cell, columns, row, widths)).rstrip()


def _shrinking(columns: Sequence[Column], widths: Sequence[int]) -> list[int]:
    """The columns to be cut, the widest first."""
    return sorted((at for at, one in enumerate(columns) if one.shrinks), key=lambda at: -widths[at])


def _cell(column: Column, value: str, width: int) -> str:
    cut = clipped(value, width)
    return cut.rjust(width) if column.is_number else cut.ljust(width)
