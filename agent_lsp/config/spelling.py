"""The two spellings of a key: camelCase in JSON, snake_case in TOML and in the program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

NAMED = frozenset({"providers", "models", "agents", "mcp_servers", "headers", "env", "prompts"})
"""Tables whose keys are names that a person chose: they stay as they are."""

MAX_DEPTH = 8
"""Deeper than any setting (`providers.P.models.M.prices.input` is 6): what is below is left out."""

Path = tuple[str, ...]


def to_snake(key: str) -> str:
    """`maxTurns` → `max_turns`; snake_case stays."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)


def to_camel(key: str) -> str:
    """`max_turns` → `maxTurns`."""
    first, *rest = key.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def dotted(path: Path) -> str:
    """A path as it is written in messages and looked up in `Merged.sources`."""
    return ".".join(path)


def visible(text: str) -> str:
    """`text` with control characters and the like written as escapes, so that a terminal does nothing but show it."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def normalised(written: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The same values with snake_case keys, and each dotted key → as it was written, `visible`.

    A null counts as left out: that is how editors send a setting that nobody has set.
    """
    spellings: dict[str, str] = {}
    return _table(written, (), (), False, spellings), spellings


def _table(
    written: Mapping[str, Any], path: Path, as_written: Path, named: bool, spellings: dict[str, str]
) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in written.items():
        if value is None:
            continue
        name = key if named else to_snake(key)
        here, here_written = (*path, name), (*as_written, key)
        spellings[dotted(here)] = visible(dotted(here_written))
        if isinstance(value, dict):
            inner = cast("dict[str, Any]", value) if len(here) < MAX_DEPTH else {}
            value = _table(inner, here, here_written, name in NAMED and not named, spellings)
        table[name] = value
    return table
