"""Handlers that are imported when a client first calls one of their methods: most of them take longer than a start."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

V = TypeVar("V")
Groups = Mapping[tuple[str, ...], Callable[[], Mapping[str, V]]]
"""What makes the handlers of some names."""


class LateHandlers(Mapping[str, V]):
    """Handlers by name: those that are `ready`, and groups of which each is made as a whole."""

    def __init__(self, ready: Mapping[str, V], groups: Groups[V]) -> None:
        self._ready = dict(ready)
        self._late = {name: make for names, make in groups.items() for name in names}

    def __getitem__(self, name: str) -> V:
        if name not in self._ready:
            self._ready |= self._late[name]()
        return self._ready[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ready.keys() | self._late.keys())

    def __len__(self) -> int:
        return len(self._ready.keys() | self._late.keys())
