"""How a thinking level is asked for: tables from level to the fields of a request's body.

For each style and level the wordings are listed best first. One that a model refuses is struck off and the next one is
used; the last resort is to say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

Wording = Mapping[str, Any]
Style = Literal["adaptive", "budget", "effort", "openrouter", "deepseek", "zai", "switch", "low_high", "high_only"]

_SILENT: Wording = {}


def _effort(*words: str) -> tuple[Wording, ...]:
    return (*({"reasoning_effort": word} for word in words), _SILENT)


def _adaptive(*words: str) -> tuple[Wording, ...]:
    return (*({"thinking": {"type": "adaptive"}, "output_config": {"effort": word}} for word in words), _SILENT)


def _budget(tokens: int) -> tuple[Wording, ...]:
    return ({"thinking": {"type": "enabled", "budget_tokens": tokens}}, {"thinking": {"type": "adaptive"}}, _SILENT)


def _openrouter(*words: str) -> tuple[Wording, ...]:
    return (*({"reasoning": {"effort": word}} for word in words), _SILENT)


def _switched(on: bool, *words: str) -> tuple[Wording, ...]:
    switch = {"thinking": {"type": "enabled" if on else "disabled"}}
    return (*({**switch, "reasoning_effort": word} for word in words), switch, _SILENT)


_TABLE: Mapping[Style, Mapping[str, tuple[Wording, ...]]] = {
    "adaptive": {
        "none": ({"thinking": {"type": "disabled"}}, _SILENT),
        "low": _adaptive("low"),
        "medium": _adaptive("medium", "low"),
        "high": _adaptive("high", "medium", "low"),
        "xhigh": _adaptive("xhigh", "max", "high", "medium", "low"),
        "max": _adaptive("max", "high", "medium", "low"),
    },
    "budget": {
        "none": (_SILENT,),
        "low": _budget(2_048),
        "medium": _budget(8_192),
        "high": _budget(16_384),
        "xhigh": _budget(32_768),
        "max": _budget(64_000),
    },
    "effort": {
        "none": _effort("none", "minimal", "low"),
        "low": _effort("low"),
        "medium": _effort("medium", "low"),
        "high": _effort("high", "medium", "low"),
        "xhigh": _effort("xhigh", "high", "medium", "low"),
        "max": _effort("max", "xhigh", "high", "medium", "low"),
    },
    "openrouter": {
        "none": _openrouter("none"),
        "low": _openrouter("low"),
        "medium": _openrouter("medium", "low"),
        "high": _openrouter("high", "medium"),
        "xhigh": _openrouter("xhigh", "high", "medium"),
        "max": _openrouter("xhigh", "high", "medium"),
    },
    "deepseek": {
        "none": _switched(False),
        "low": _switched(True, "low", "high"),
        "medium": _switched(True, "high"),
        "high": _switched(True, "high"),
        "xhigh": _switched(True, "max", "high"),
        "max": _switched(True, "max", "high"),
    },
    "zai": {
        "none": _switched(False),
        "low": _switched(True, "low"),
        "medium": _switched(True),
        "high": _switched(True, "high"),
        "xhigh": _switched(True, "max", "high"),
        "max": _switched(True, "max", "high"),
    },
    "switch": {
        "none": _switched(False),
        **dict.fromkeys(("low", "medium", "high", "xhigh", "max"), _switched(True)),
    },
    "low_high": {
        "none": _effort("low"),
        "low": _effort("low"),
        "medium": _effort("medium", "low"),
        **dict.fromkeys(("high", "xhigh", "max"), _effort("high", "medium", "low")),
    },
    "high_only": {
        "none": _effort("none"),
        **dict.fromkeys(("low", "medium", "high", "xhigh", "max"), _effort("high")),
    },
}

FIELDS = frozenset({"thinking", "output_config", "reasoning", "reasoning_effort"})
"""Every field that a wording may set."""

_BY_BUDGET = re.compile(r"claude-(3-7|(opus|sonnet|haiku)-4(-[0-5])?(-\d{8}|-latest|@|$))")


def claude_style(model: str) -> Style:
    """The style of a model behind the Messages API: new Claude models decide for themselves how long to think."""
    return "adaptive" if "claude-" in model and not _BY_BUDGET.search(model) else "budget"


def wording(style: Style, level: str | None, refused: frozenset[str]) -> Wording:
    """The best wording of `level` that is not in `refused` (as `key` names them); nothing without a level."""
    if level is None:
        return _SILENT
    return next((words for words in _TABLE[style][level] if not words or key(words) not in refused), _SILENT)


def key(words: Wording) -> str:
    """A name for a wording, to remember that it was refused."""
    return repr(sorted((name, repr(value)) for name, value in words.items()))
