"""Fits the hunks of a patch into a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from agent_lsp.slotted import frozen
from agent_lsp.tools.editor import TextEdit
from agent_lsp.tools.text_file import line_end

if TYPE_CHECKING:
    from agent_lsp.tools.patch import Hunk


class HunkUnfit(ValueError):
    """A hunk that fits nowhere; says which one."""


@frozen
class _Line:
    start: int
    text: str
    end: int
    """Where the next line begins."""


def fit(text: str, hunks: Sequence[Hunk]) -> tuple[TextEdit, ...]:
    """The edits that the hunks make, in order; only what changes is touched. Raises HunkUnfit."""
    lines = list(_split(text))
    edits: list[TextEdit] = []
    at = 0
    for number, hunk in enumerate(hunks, 1):
        place = _place(lines, hunk, at, number)
        if place is None:
            wanted = "\n".join(hunk.side("+")[:20])
            raise HunkUnfit(
                f"hunk {number} does not fit; the file has no such lines{' any more' * bool(at)}:\n{wanted}"
            )
        edits += _edits(text, lines, hunk, place)
        at = place + len(hunk.side("+"))
    return tuple(edits)


def added_text(hunks: Sequence[Hunk]) -> str:
    """The text of a file that a patch adds."""
    lines = [line for hunk in hunks for line in hunk.side("-")]
    is_open = bool(hunks) and hunks[-1].new_is_open
    return "\n".join(lines) + "\n" * (bool(lines) and not is_open)


def _split(text: str) -> Iterator[_Line]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end + 1
        yield _Line(start, text[start:end].removesuffix("\n").removesuffix("\r"), end)
        start = end


def _place(lines: list[_Line], hunk: Hunk, at: int, number: int) -> int | None:
    """Where the hunk fits behind the one before. Between several places its line number or its anchors decide."""
    for anchor in hunk.anchors:
        found = next((n for n in range(at, len(lines)) if lines[n].text.strip() == anchor.strip()), None)
        if found is None:
            return None
        at = found + 1
    wanted = hunk.side("+")
    if not wanted:
        return min(hunk.begin + 1, len(lines)) if hunk.begin else at if hunk.begin == 0 or hunk.anchors else len(lines)
    for exact in (True, False):
        there = [line.text if exact else line.text.rstrip() for line in lines]
        these = wanted if exact else [line.rstrip() for line in wanted]
        places = [n for n in range(at, len(there) - len(these) + 1) if there[n : n + len(these)] == these]
        if hunk.is_at_end:
            places = [n for n in places if n + len(these) == len(there)] or places
        if len(places) > 1 and hunk.begin not in places and not hunk.anchors:
            numbers = ", ".join(str(place + 1) for place in places[:10])
            raise HunkUnfit(
                f"hunk {number} fits {len(places)} places (lines {numbers}): give more of the lines around the one that"
                " is meant, or an @@ line with a line above it"
            )
        if places:
            return hunk.begin if hunk.begin in places else places[0]
    return None


def _edits(text: str, lines: list[_Line], hunk: Hunk, place: int) -> Iterator[TextEdit]:
    at = place
    for is_kept, group in groupby(hunk.lines, key=lambda line: line[0] == " "):
        run = list(group)
        if is_kept:
            at += len(run)
            continue
        removed = sum(sign == "-" for sign, _ in run)
        added = [line for sign, line in run if sign == "+"]
        yield _edit(text, lines, hunk, (at, at + removed), added)
        at += removed


def _edit(text: str, lines: list[_Line], hunk: Hunk, replaced: tuple[int, int], added: list[str]) -> TextEdit:
    first, after = replaced
    start = lines[first].start if first < len(lines) else len(text)
    end = lines[after - 1].end if after > first else start
    ending = line_end(text)
    new = "".join(line + ending for line in added)
    if end < len(text) or not added:
        return TextEdit(start, end, new)
    was_open = bool(text) and not text.endswith("\n")
    if was_open and first == len(lines):
        new = ending + new
    is_open = hunk.new_is_open or (was_open and not hunk.old_is_open)
    return TextEdit(start, end, new.removesuffix(ending) if is_open else new)
