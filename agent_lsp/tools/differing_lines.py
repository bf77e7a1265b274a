"""Which lines of two texts differ, at a cost that hardly more than grows with their length.

Short stretches are compared line by line. Long ones are cut at lines that are there once in both, and in the same
order (patience); a long stretch without any is one difference.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

_MOST_COMPARED = 1_000  # comparing line by line is quadratic

Block = tuple[int, int, int, int]
"""Lines `old[i:j]` have become `new[k:m]`; one of the two may be empty."""


def differing(old: Sequence[str], new: Sequence[str]) -> Iterator[Block]:
    """The blocks that differ, in order; between two of them there is at least one line that does not."""
    head, tail = common(old, new)
    olds, news = old[head : len(old) - tail], new[head : len(new) - tail]
    if not olds or not news:
        if olds or news:
            yield head, head + len(olds), head, head + len(news)
        return
    blocks = _compared(olds, news) if len(olds) + len(news) <= _MOST_COMPARED else _cut(olds, news)
    for i, j, k, m in blocks:
        yield head + i, head + j, head + k, head + m


def common(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How much two texts, or two lists of lines, have in common at their beginning, and at their end behind that."""
    most = min(len(old), len(new))
    head = _longest(most, lambda count: old[:count] == new[:count])
    tail = _longest(most - head, lambda count: old[len(old) - count :] == new[len(new) - count :])
    return head, tail


def _longest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest count up to `most` that fits, where every smaller one does too."""
    low = 0
    while low < most:
        middle = (low + most + 1) // 2
        low, most = (middle, most) if fits(middle) else (low, middle - 1)
    return low


def _compared(old: Sequence[str], new: Sequence[str]) -> Iterator[Block]:
    from difflib import SequenceMatcher

    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield i, j, k, m


def _cut(old: Sequence[str], new: Sequence[str]) -> Iterator[Block]:
    anchors = _anchors(old, new)
    if not anchors:
        yield 0, len(old), 0, len(new)
        return
    at_old = at_new = 0
    for in_old, in_new in (*anchors, (len(old), len(new))):
        for i, j, k, m in differing(old[at_old:in_old], new[at_new:in_new]):
            yield at_old + i, at_old + j, at_new + k, at_new + m
        at_old, at_new = in_old + 1, in_new + 1


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Lines that both have once, as many of them as are in the same order in both (the longest rising sequence)."""
    in_old, in_new = Counter(old), Counter(new)
    places = {line: index for index, line in enumerate(new) if in_new[line] == 1}
    pairs = [(index, places[line]) for index, line in enumerate(old) if in_old[line] == 1 and line in places]
    ends: list[int] = []  # the smallest last place in `new` of a rising sequence, by its length
    last: list[int] = []  # which pair that is
    before: list[int] = []  # the pair before each one in its sequence, -1 at the beginning
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1], last[length : length + 1] = [place], [number]
    rising: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        rising.append(pairs[number])
        number = before[number]
    return rising[::-1]
