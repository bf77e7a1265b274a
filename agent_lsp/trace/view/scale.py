"""The time axis of a waterfall: true to the clock while something works, and short where everybody only waits.

A person may think for an hour about an approval: drawn to scale, the work around it would be a hair.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from agent_lsp.slotted import frozen

_LONGEST_WAIT = 0.12
"""So much of the working time may a wait take up; what is longer is cut to that."""
_SHORTEST_CUT_S = 0.5
_STEPS = (1, 2, 5)
_LABEL = 7.0
"""Percent of the axis that a label needs; none is put where the label of a cut would cover it."""


@frozen
class Cut:
    """Where the axis leaves out time: the middle of the place, in percent, and how long the wait was."""

    at: float
    seconds: float


class Scale:
    """Places moments between `began_s` and `ended_s` on an axis of 100 %; `busy` are the times when something works."""

    def __init__(self, began_s: float, ended_s: float, busy: Iterable[tuple[float, float]]) -> None:
        self._began_s = began_s
        worked = _merged(busy, began_s, ended_s)
        longest = max(_SHORTEST_CUT_S, _LONGEST_WAIT * sum(end - begin for begin, end in worked))
        self._times, self._places, self._waits = [began_s], [0.0], list[tuple[int, float]]()
        reached = began_s
        for begin, end in (*worked, (ended_s, ended_s)):
            if begin - reached > longest:
                self._waits.append((len(self._times), begin - reached))
            self._add(begin, min(begin - reached, longest))
            self._add(end, end - begin)
            reached = max(reached, end)
        self._length = self._places[-1] or 1.0

    def at(self, moment_s: float) -> float:
        """The place of a moment, in percent."""
        index = bisect_right(self._times, moment_s)
        if index == 0:
            return 0.0
        if index == len(self._times):
            return 100.0
        before, after = self._times[index - 1], self._times[index]
        share = (moment_s - before) / (after - before)
        left, right = self._places[index - 1], self._places[index]
        return 100 * (left + share * (right - left)) / self._length

    def cuts(self) -> list[Cut]:
        """The places where time is left out."""
        middles = ((self._places[index - 1] + self._places[index]) / 2 for index, _ in self._waits)
        return [
            Cut(100 * middle / self._length, seconds) for middle, (_, seconds) in zip(middles, self._waits, strict=True)
        ]

    def ticks(self, wanted: int = 6) -> Iterator[tuple[float, float]]:
        """Round numbers of seconds since the beginning and their places; none inside a cut."""
        step = _round_step(self._length / wanted)
        last = self._times[-1] - self._began_s
        hidden = [(self._times[index - 1], self._times[index]) for index, _ in self._waits]
        covered = [cut.at for cut in self.cuts()]
        shown = -100.0
        for seconds in _multiples(step, last, hidden, self._began_s):
            place = self.at(self._began_s + seconds)
            if place - shown > 50 / wanted and not any(place - _LABEL < at < place + 2 * _LABEL for at in covered):
                yield seconds, place
                shown = place

    def _add(self, moment_s: float, length: float) -> None:
        if moment_s > self._times[-1]:
            self._times.append(moment_s)
            self._places.append(self._places[-1] + length)


def _merged(spans: Iterable[tuple[float, float]], began_s: float, ended_s: float) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for begin, end in sorted((max(begin, began_s), min(end, ended_s)) for begin, end in spans):
        if end < begin:
            continue
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged


def _round_step(about: float) -> float:
    size = 0.001
    while True:
        for step in _STEPS:
            if step * size >= about:
                return step * size
        size *= 10


def _multiples(step: float, last: float, hidden: list[tuple[float, float]], began_s: float) -> Iterator[float]:
    """The multiples of `step` that are on the axis; a wait of a week is stepped over, not through."""
    number = 0
    while number * step <= last:
        at_s = began_s + number * step
        inside = next(((begin, end) for begin, end in hidden if begin < at_s < end), None)
        if inside:
            number = int((inside[1] - began_s) / step) + 1
            continue
        yield number * step
        number += 1
