"""Call ids that are unique in a session, and the way back to the provider's own.

The second use of an id becomes `id#2`, the next `id#3`. The way back is a function of the ids in their order alone, so
a resumed session gives the provider the same ids as the live one did, with nothing more in the trace.
"""

from __future__ import annotations

import re
import uuid

_NUMBERED = re.compile(r"(.+)#\d+", re.DOTALL)


class CallIds:
    """The ids of one session's calls, in the order in which they were first used."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._originals: dict[str, str] = {}

    def claim(self, original: str) -> str:
        """The id under which the session knows a new call; an empty one is made up."""
        original = original or f"call_{uuid.uuid4().hex[:12]}"
        unique, number = original, 1
        while unique in self._used or self._derived(unique, original):
            number += 1
            unique = f"{original}#{number}"
        self.note(unique)
        return unique

    def note(self, unique: str) -> None:
        """Takes a unique id into account, as `claim` did when it was given out; a known one changes nothing."""
        if unique not in self._used:
            self._originals[unique] = self._origin(unique)
            self._used.add(unique)

    def original(self, unique: str) -> str:
        """The provider's own id."""
        return self._originals.get(unique, unique)

    def _derived(self, unique: str, original: str) -> bool:
        """Whether the way back from `unique` would lead elsewhere than to `original`."""
        return self._origin(unique) != original

    def _origin(self, unique: str) -> str:
        match = _NUMBERED.fullmatch(unique)
        if match is None:
            return unique
        shorter = known = match[1]
        while known not in self._used:
            match = _NUMBERED.fullmatch(known)
            if match is None:
                return unique
            known = match[1]
        return shorter
