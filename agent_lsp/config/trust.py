"""What may come from a file that a cloned repository brings.

Such a layer (a trusted project's file, the editor's settings section) may choose the model, the way of working, prompts
and limits, and may make anything stricter. What would widen what the person allowed is dropped and said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from agent_lsp.config.shape import APPROVAL_MODES, TABLE, Named, Shape
from agent_lsp.config.spelling import Path, dotted

FREE = frozenset(
    {
        "default_model",
        "mode",
        "max_turns",
        "thinking_level",
        "prompts",
        "compaction",
        "reconnect",
        "limits",
        "loop",
        "tools.max_output_length",
        "tools.timeout",
        "agents.*.prompt",
        "agents.*.model",
    }
)
"""Counts whatever its value; a section stands for all that is in it."""

NEVER = frozenset(
    {
        "config",
        "data_dir",
        "token",
        "providers",
        "mcp_servers",
        "allowed_origins",
        "egress_log",
        "sessions",
        "telemetry",
        "tools.vision_model",
    }
)
"""Never counts: credentials, addresses, programs to start, and where things are kept."""


class _Widens(Exception):
    """The value would allow more than what is in force, or that cannot be told."""


Rule = Callable[[object, object], object]


def _stricter_mode(new: object, old: object) -> object:
    rank = {mode: place for place, mode in enumerate(APPROVAL_MODES)}
    if isinstance(new, str) and rank.get(new, -1) > rank.get(str(old or "ask"), -1):
        raise _Widens
    return new


def _switch(*, wide: object, unless_said: object) -> Rule:
    """A setting of two positions: the `wide` one counts only where it is in force anyway."""

    def rule(new: object, old: object) -> object:
        if new == wide and (unless_said if old is None else old) != wide:
            raise _Widens
        return new

    return rule


_OFF_UNLESS_SAID = _switch(wide=True, unless_said=False)


def _more(new: object, old: object) -> object:
    """A list of what is denied only grows."""
    if old is None or type(new) is not list:
        return new
    if not isinstance(old, list):
        raise _Widens
    denied = cast("list[object]", old)
    return [*denied, *(item for item in cast("list[object]", new) if item not in denied)]


def _fewer(new: object, old: object) -> object:
    """A list of what is allowed only shrinks; nothing said means that all is allowed."""
    if old is None or type(new) is not list:
        return new
    wanted = cast("list[object]", new)
    if not isinstance(old, list) or any(item not in cast("list[object]", old) for item in wanted):
        raise _Widens
    return wanted


def _lower(new: object, old: object) -> object:
    """A budget only falls; 0 is none."""
    if old is None or old == 0 or not isinstance(new, int | float):
        return new
    if not isinstance(old, int | float) or not 0 < new <= old:
        raise _Widens
    return new


STRICTER: dict[str, Rule] = {
    "approval_mode": _stricter_mode,
    "titles": _switch(wide=True, unless_said=True),
    "offline": _switch(wide=False, unless_said=False),
    "allow_remote": _OFF_UNLESS_SAID,
    "tools.disabled": _more,
    "tools.deny_paths": _more,
    "tools.deny_commands": _more,
    "tools.read_only_commands": _OFF_UNLESS_SAID,
    "tools.sandbox": _switch(wide="off", unless_said="off"),
    "tools.sandbox_network": _OFF_UNLESS_SAID,
    "tools.web_fetch": _OFF_UNLESS_SAID,
    "tools.web_fetch_private": _OFF_UNLESS_SAID,
    "budget.usd_per_run": _lower,
    "budget.usd_per_day": _lower,
    "budget.tokens_per_run": _lower,
    "agents.*.tools": _fewer,
}
"""Key → (new value, value in force or None) → the value that counts.

A value of the wrong type passes, so that the validation names it: nothing wrong gets further than that.
"""


def narrowed(values: Mapping[str, Any], in_force: Mapping[str, Any]) -> tuple[dict[str, Any], list[Path]]:
    """The part of `values` that counts over `in_force`, and the paths of what does not.

    Unknown keys pass: they are warned about later and mean nothing.
    """
    dropped: list[Path] = []
    return _narrowed(values, in_force, TABLE, (), dropped), dropped


def _narrowed(
    values: Mapping[str, Any],
    in_force: Mapping[str, Any],
    shape: Mapping[str, Shape] | Named,
    path: Path,
    dropped: list[Path],
) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in values.items():
        here = (*path, key)
        below = shape.entry if isinstance(shape, Named) else shape.get(key)
        if below is None:
            kept[key] = value
        elif not callable(below) and _is_mixed(here) and isinstance(value, dict):
            known = in_force.get(key, {})
            if isinstance(known, dict):
                inner = cast("dict[str, Any]", known)
                kept[key] = _narrowed(cast("dict[str, Any]", value), inner, below, here, dropped)
            else:
                dropped.append(here)  # the person's own mistake stays, to be named
        else:
            try:
                kept[key] = _allowed(_rule(here), value, in_force.get(key))
            except _Widens:
                dropped.append(here)
    return kept


def _rule(path: Path) -> str:
    """The path as the tables above write it."""
    return dotted((path[0], "*", *path[2:]) if path[0] == "agents" and len(path) > 1 else path)


def _is_mixed(path: Path) -> bool:
    """Whether a section is neither free nor barred as a whole."""
    return _rule(path) not in FREE | NEVER


def _allowed(rule: str, new: object, old: object) -> object:
    if rule in FREE:
        return new
    if rule in STRICTER:
        return STRICTER[rule](new, old)
    raise _Widens


def explain(path: Path) -> str:
    """Why the value at `path` does not count, for a warning."""
    why = (
        "would allow more than your own configuration does" if _rule(path) in STRICTER else "counts only from your own"
    )
    return f"{why}, so it is ignored here"
