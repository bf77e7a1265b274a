"""Arguments that come in pieces, each with the path of the value it belongs to."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, cast

from agent_lsp.providers.shape import as_dict, as_list, as_text

_STEP = re.compile(r"\.?([^.\[\]'\"]+)|\[(\d+)\]|\[['\"]([^'\"]*)['\"]\]")
_LONGEST_LIST = 100_000


class PartialArgs:
    """The arguments of one call as they grow."""

    def __init__(self) -> None:
        self.value: dict[str, Any] = {}

    def apply(self, pieces: Any) -> None:
        """Takes the pieces of one event. One that cannot be placed is dropped: the tool's schema will tell."""
        for piece in map(as_dict, as_list(pieces)):
            steps = _steps(as_text(piece.get("jsonPath")))
            if steps and isinstance(steps[0], str):
                self._set(steps, piece)

    def _set(self, steps: list[str | int], piece: dict[str, Any]) -> None:
        place: Any = self.value
        for step, after in pairwise(steps):
            place = _child(place, step, [] if isinstance(after, int) else {})
        last = steps[-1]
        given = next((value for name, value in piece.items() if name.endswith("Value")), None)
        if "nullValue" in piece:
            given = None
        before = _child(place, last, None)
        _put(place, last, before + given if isinstance(before, str) and isinstance(given, str) else given)


def _steps(path: str) -> list[str | int]:
    """`$.a[0].b` as its steps."""
    found = _STEP.findall(path.removeprefix("$"))
    return [int(index) if index else name or quoted for name, index, quoted in found]


def _child(place: Any, step: str | int, new: Any) -> Any:
    """What is at the step; `new`, put there, where nothing is."""
    known: Any = None
    if isinstance(place, dict):
        known = cast("dict[Any, Any]", place).get(step)
    elif isinstance(place, list) and isinstance(step, int) and step < len(cast("list[Any]", place)):
        known = cast("list[Any]", place)[step]
    if known is None and new is not None:
        _put(place, step, new)
        return new
    return known


def _put(place: Any, step: str | int, value: Any) -> None:
    if isinstance(place, dict):
        place[step] = value
    elif isinstance(place, list) and isinstance(step, int) and step < _LONGEST_LIST:
        items = cast("list[Any]", place)
        items.extend([None] * (step + 1 - len(items)))
        items[step] = value
