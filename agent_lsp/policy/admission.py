"""Where the paths of each call led when it was allowed: what is moved there afterwards is not opened for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_lsp.policy.paths import PathRules, Place

_MOST_CALLS = 1_000


class Admission:
    """The calls of one session that may run, and their places. What is inside is open to all of them.

    Kept for the latest calls: an older one that is still running gets at nothing outside any more.
    """

    def __init__(self, paths: PathRules) -> None:
        self._paths = paths
        self._places: OrderedDict[str, frozenset[Path]] = OrderedDict()

    def allow(self, call_id: str, places: Iterable[Place]) -> None:
        """The call was allowed, with its paths leading there."""
        self._places[call_id] = frozenset(place.path for place in places)
        self._places.move_to_end(call_id)
        while len(self._places) > _MOST_CALLS:
            self._places.popitem(last=False)

    def admits(self, call_id: str | None, real: Path, *, writes: bool) -> bool:
        """Whether the file (links resolved) may be opened for the call; None: for the person, who may go anywhere."""
        place = self._paths.place(real, writes=writes)
        if place.path != real or place.standing == "forbidden":
            return False
        return call_id is None or place.standing == "inside" or real in self._places.get(call_id, ())
