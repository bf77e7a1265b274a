"""Where the text that an edit names is in a file: exactly, else but for blanks, else nowhere and what comes nearest.

    exact ──no──▶ but for trailing blanks ──no──▶ but for indentation ──no──▶ nearest place, nothing is edited
      │                 │ one place                  │ one place
      ▼                 ▼                            ▼
    edited           edited, and said             edited with the new text moved along, and said

Line ends never matter: what is compared has LF only, and what is put in gets the line end of the place it goes to.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import islice

from agent_lsp.slotted import frozen
from agent_lsp.tools.editor import TextEdit
from agent_lsp.tools.nearest import nearest_place
from agent_lsp.tools.text_file import line_end

_MOST_PLACES = 50_000
"""Of one edit. Each place costs some hundred bytes and a few microseconds, in which nothing else happens."""


@frozen
class Match:
    """The edits to make; `note` says what was not exact about it."""

    edits: tuple[TextEdit, ...]
    note: str = ""


@frozen
class Mismatch:
    """Nothing can be edited; `why` is for the model."""

    why: str


def find(text: str, old: str, new: str, *, everywhere: bool) -> Match | Mismatch:
    """The edits that put `new` in the place of `old`: of the one place, or of every exact one."""
    folded = _Folded(text)
    old, new = _fold(old), _fold(new)
    if not old:
        return Mismatch("old_string is empty: give the text to replace, or use write_file for a whole file.")
    if old == new:
        return Mismatch("old_string and new_string are the same: there is nothing to change.")
    starts = list(islice(_occurrences(folded.text, old), _MOST_PLACES + 1))
    if len(starts) > 1 and not everywhere:
        return Mismatch(_ambiguous(folded, starts))
    if len(starts) > _MOST_PLACES:
        return Mismatch(f"old_string occurs more than {_MOST_PLACES} times: use exec_command with sed for that.")
    if starts:
        return Match(tuple(folded.edit(start, start + len(old), new) for start in starts))
    return _but_for_blanks(folded, old, new)


def _but_for_blanks(folded: _Folded, old: str, new: str) -> Match | Mismatch:
    if not old.strip():
        return Mismatch("old_string was not found: it is only blanks, and the file has none like them.")
    steps: tuple[tuple[str, Callable[[str, str], list[tuple[int, int]]]], ...] = (
        ("trailing blanks", _spans_but_for_trailing_blanks),
        ("indentation", _spans_but_for_indentation),
    )
    for what, spans_of in steps:
        spans = spans_of(folded.text, old)
        if len(spans) > 1:
            lines = ", ".join(str(folded.line(start)) for start, _ in spans[:10])
            return Mismatch(
                f"old_string was not found as it is; leaving {what} aside, it fits {len(spans)} places (lines {lines})."
                " Give the exact text with enough around it that only one place fits."
            )
        if spans:
            start, end = spans[0]
            moved = new if what == "trailing blanks" else _moved(folded.text[start:end], old, new)
            note = f"[old_string differed from the file in {what} only; line {folded.line(start)} was taken for it]"
            return Match((folded.edit(start, end, moved),), note)
    return Mismatch(f"old_string was not found.{nearest_place(folded.text, old)}")


class _Folded:
    """A text with LF line ends only, that can tell where its characters are in the original."""

    def __init__(self, original: str) -> None:
        self.text = _fold(original)
        self._original = original
        self._line_end = line_end(original)
        self._returns = [found.start() - n for n, found in enumerate(re.finditer("\r\n", original))]

    def edit(self, start: int, end: int, new: str) -> TextEdit:
        """Replaces a stretch of the folded text by `new`, which gets the line ends of the place."""
        begin, stop = start + bisect_left(self._returns, start), end + bisect_left(self._returns, end)
        replaced = self._original[begin:stop]
        ending = line_end(replaced) if "\n" in replaced else self._line_end
        return TextEdit(begin, stop, new.replace("\n", ending))

    def line(self, start: int) -> int:
        """The number of the line, from 1."""
        return self.text.count("\n", 0, start) + 1


def _fold(text: str) -> str:
    return text.replace("\r\n", "\n")


def _occurrences(text: str, old: str) -> Iterator[int]:
    at = text.find(old)
    while at >= 0:
        yield at
        at = text.find(old, at + len(old))


def _ambiguous(folded: _Folded, starts: list[int]) -> str:
    lines = ", ".join(str(folded.line(start)) for start in starts[:10])
    more = ", …" if len(starts) > 10 else ""
    times = f"{len(starts)}" if len(starts) <= _MOST_PLACES else f"more than {_MOST_PLACES}"
    return (
        f"old_string occurs {times} times (lines {lines}{more}). Give more of the text around the one that is"
        f" meant,"
        " or set replace_all."
    )


def _spans_but_for_trailing_blanks(text: str, old: str) -> list[tuple[int, int]]:
    body = old.removesuffix("\n")
    lines = [re.escape(line.rstrip(" \t")) for line in body.split("\n")]
    pattern = r"[ \t]*\n".join(lines) + (r"[ \t]*(?:\n|\Z)" if old.endswith("\n") else r"(?:[ \t]+$)?")
    return [found.span() for found in re.finditer(pattern, text, re.MULTILINE) if found[0]]


def _spans_but_for_indentation(text: str, old: str) -> list[tuple[int, int]]:
    wanted = [line.strip(" \t") for line in old.removesuffix("\n").split("\n")]
    lines = text.split("\n")
    stripped = [line.strip(" \t") for line in lines]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    spans: list[tuple[int, int]] = []
    for first in range(len(lines) - len(wanted) + 1):
        if stripped[first] == wanted[0] and stripped[first : first + len(wanted)] == wanted:
            after = starts[first + len(wanted)]
            spans.append((starts[first], min(after, len(text)) if old.endswith("\n") else after - 1))
    return spans


def _moved(place: str, old: str, new: str) -> str:
    """`new`, each line moved as the line of `old` with the same indentation was, to stand where `place` stands."""
    moves: dict[str, str] = {}
    for theirs, ours in zip(old.split("\n"), place.split("\n"), strict=False):
        if theirs.strip():
            moves.setdefault(_indentation(theirs), _indentation(ours))
    return "\n".join(_move(line, moves) for line in new.split("\n"))


def _move(line: str, moves: dict[str, str]) -> str:
    if not line.strip():
        return line
    indentation = _indentation(line)
    known = max((one for one in moves if indentation.startswith(one)), key=len, default=None)
    if known is None:
        return line
    return moves[known] + line[len(known) :]


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]
