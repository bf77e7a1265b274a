"""What tools have returned, under names that later inputs and answers can refer to: `$$NAME-res-N`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from agent_lsp.slotted import frozen

_REFERENCE = re.compile(r"\$\$([A-Za-z0-9_-]+-res-[0-9]+)")
_UNFINISHED = re.compile(r"\$(\$[A-Za-z0-9_-]*)?\Z")
_ODD = re.compile(r"[^A-Za-z0-9_-]")

ReadArchive = Callable[[str], "str | None"]


class UnknownVariable(Exception):
    """A reference to something that no tool has returned."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no variable $${name}")
        self.name = name


@frozen
class Value:
    """A tool's text; `archive` is the file that has all of it if it was cut."""

    text: str
    archive: str | None = None


class Variables:
    """The variables of one session. Numbers count up and are never given twice."""

    def __init__(self, read_archive: ReadArchive) -> None:
        self.counter = 0
        self._values: dict[str, Value] = {}
        self._read_archive = read_archive

    def next_name(self, tool: str) -> str:
        """The name that the next result, one of `tool`, will have."""
        return f"{_ODD.sub('_', tool)}-res-{self.counter + 1}"

    def keep(self, name: str, value: Value) -> None:
        """Takes a result in under its name."""
        self._values[name] = value
        self.counter = max(self.counter, int(name.rpartition("-")[2]))

    def get(self, name: str) -> str:
        """The whole value. Raises UnknownVariable."""
        value = self._values.get(name)
        if value is None:
            raise UnknownVariable(name)
        whole = self._read_archive(value.archive) if value.archive else None
        return value.text if whole is None else whole

    def all(self) -> dict[str, str]:
        """Every variable with its value, oldest first."""
        return {name: self.get(name) for name in self._values}

    def resolve(self, text: str) -> str:
        """The text with its references replaced, once: what a value holds is data. Raises UnknownVariable."""
        return _REFERENCE.sub(lambda found: self.get(found[1]), text)

    def resolve_in(self, value: Any) -> Any:
        """The same for every string in a JSON value. Raises UnknownVariable."""
        if isinstance(value, str):
            return self.resolve(value)
        if isinstance(value, list):
            return [self.resolve_in(one) for one in cast("list[Any]", value)]
        if isinstance(value, dict):
            return {key: self.resolve_in(one) for key, one in cast("dict[str, Any]", value).items()}
        return value


def settled_length(text: str) -> int:
    """How much of a text that is still growing can be resolved now: what may become a reference waits."""
    found = _UNFINISHED.search(text)
    return found.start() if found else len(text)
