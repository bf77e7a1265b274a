"""Looks at JSON of which nothing is promised: what has the wrong type counts as absent."""

from __future__ import annotations

from typing import Any, cast


def as_dict(value: Any) -> dict[str, Any]:
    """The object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_text(value: Any) -> str:
    """The string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_id(value: Any) -> str:
    """The string or the number as a string, else an empty one."""
    return str(value) if isinstance(value, str | int) else ""


def as_count(value: Any) -> int | None:
    """The number if it is a count, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
