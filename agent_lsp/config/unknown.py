"""Keys that no setting has, and what was probably meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from agent_lsp.config.shape import TABLE, Named, Shape
from agent_lsp.config.spelling import Path, to_camel


def unknown_keys(values: Mapping[str, Any]) -> list[Path]:
    """The paths (snake_case) that lead to no setting, in the order of `values`."""
    found: list[Path] = []
    _look(values, TABLE, (), found)
    return found


def _look(values: Mapping[str, Any], shape: Mapping[str, Shape] | Named, path: Path, found: list[Path]) -> None:
    for key, value in values.items():
        below = shape.entry if isinstance(shape, Named) else shape.get(key)
        if below is None:
            found.append((*path, key))
        elif not callable(below) and isinstance(value, dict):
            _look(cast("dict[str, Any]", value), below, (*path, key), found)


def warning(path: Path, written: str, source: str, camel: bool) -> str:
    """One line that names the unknown key, where it is, and the known key it is nearest to (in camelCase: `camel`)."""
    nearest = _nearest(path, written.rpartition(".")[0], to_camel if camel else str)
    advice = f"; did you mean {nearest}?" if nearest else ""
    return f"{source}: unknown setting {written}{advice}"


def _nearest(path: Path, table: str, spell: Callable[[str], str]) -> str | None:
    import difflib  # 4 ms, and only those who mistyped pay for it

    beside = {key: ".".join(filter(None, (table, spell(key)))) for key in _siblings(path)}
    elsewhere = {key: f"{spell(section)}.{spell(key)}" for section, keys in _sections() for key in keys}
    if path[-1] in elsewhere:
        return elsewhere[path[-1]]
    close = difflib.get_close_matches(path[-1], beside, n=1, cutoff=0.6)
    return beside[close[0]] if close else None


def _sections() -> list[tuple[str, Mapping[str, Shape]]]:
    return [(name, shape) for name, shape in TABLE.items() if isinstance(shape, dict)]


def _siblings(path: Path) -> list[str]:
    shape: Mapping[str, Shape] | Named = TABLE
    for key in path[:-1]:
        below = shape.entry if isinstance(shape, Named) else shape[key]
        if callable(below):
            return []
        shape = below
    return [] if isinstance(shape, Named) else list(shape)
