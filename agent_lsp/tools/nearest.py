"""The place of a file that is most like a text which is not in it."""

from __future__ import annotations

import re

_MOST_LINES = 20_000
_COMPARED = 200  # of a line: what two lines have in common takes the cube of their length to find
_EFFORT = 2_000_000  # pairs of characters looked at; then the best so far has to do
_ALIKE = 0.5
_AROUND = 2
_MOST_SHOWN = 30


def nearest_place(text: str, wanted: str) -> str:
    """Says how the most similar place differs and shows it with line numbers; or that nothing is similar."""
    wanted_lines = wanted.strip("\n").split("\n")
    if all(re.match(r"\s*\d+\t", line) for line in wanted_lines):
        return " It begins its lines with line numbers, which are not part of the file: leave them out."
    lines = text.split("\n")[:_MOST_LINES]
    anchor = max(range(len(wanted_lines)), key=lambda index: len(wanted_lines[index].strip()))
    at = _most_alike(lines, wanted_lines[anchor].strip())
    if at is None:
        return " Nothing in the file is like it: read the file again."
    first = max(0, at - anchor)
    place = lines[first : first + len(wanted_lines)]
    hint = " It differs in upper and lower case." if _folded(place) == _folded(wanted_lines) else ""
    start = max(0, first - _AROUND)
    shown = lines[start : first + min(len(wanted_lines), _MOST_SHOWN) + _AROUND]
    listing = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(shown, start + 1))
    return f"{hint} The nearest place:\n{listing}"


def _most_alike(lines: list[str], wanted: str) -> int | None:
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(wanted[:_COMPARED])
    best, at, effort = _ALIKE, None, 0
    for index, line in enumerate(lines):
        candidate = line.strip()[:_COMPARED]
        if not candidate:
            continue
        matcher.set_seq1(candidate)
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
            effort += len(candidate) * min(len(wanted), _COMPARED)
            if (ratio := matcher.ratio()) > best:
                best, at = ratio, index
            if effort > _EFFORT:
                break
    return at


def _folded(lines: list[str]) -> str:
    return "\n".join(lines).casefold()
