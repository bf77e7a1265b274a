"""How a thinking level is asked for: tables from level to the fields of a request's body.

For each style and level the wordings are listed best first. One that a model refuses is struck off and the next one is
used; the last resort is to say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from agent_lsp.providers.failure import Fault

Wording = Mapping[str, Any]
Style = Literal[
    "silent",
    "adaptive",
    "budget",
    "effort",
    "responses",
    "openrouter",
    "deepseek",
    "zai",
    "switch",
    "low_high",
    "high_only",
    "gemini_level",
    "gemini_pro_budget",
    "gemini_flash_budget",
]

_SILENT: Wording = {}


def _effort(*words: str) -> tuple[Wording, ...]:
    return (*({"reasoning_effort": word} for word in words), _SILENT)


def _adaptive(*words: str) -> tuple[Wording, ...]:
    return (*({"thinking": {"type": "adaptive"}, "output_config": {"effort": word}} for word in words), _SILENT)


def _budget(tokens: int) -> tuple[Wording, ...]:
    return ({"thinking": {"type": "enabled", "budget_tokens": tokens}}, {"thinking": {"type": "adaptive"}}, _SILENT)


def _reasoning(*words: str) -> tuple[Wording, ...]:
    return (*({"reasoning": {"effort": word}} for word in words), _SILENT)


def _gemini(field: str, *values: str | int) -> tuple[Wording, ...]:
    """Thoughts are told only to who asks for them."""
    return (*({"thinkingConfig": {field: value, "includeThoughts": True}} for value in values), _SILENT)


def _switched(on: bool, *words: str) -> tuple[Wording, ...]:
    switch = {"thinking": {"type": "enabled" if on else "disabled"}}
    return (*({**switch, "reasoning_effort": word} for word in words), switch, _SILENT)


_LEVELS = ("none", "low", "medium", "high", "xhigh", "max")

_TABLE: Mapping[Style, Mapping[str, tuple[Wording, ...]]] = {
    "silent": dict.fromkeys(_LEVELS, (_SILENT,)),
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
    "responses": {
        "none": _reasoning("none", "minimal", "low"),
        "low": _reasoning("low"),
        "medium": _reasoning("medium", "low"),
        "high": _reasoning("high", "medium", "low"),
        "xhigh": _reasoning("xhigh", "high", "medium", "low"),
        "max": _reasoning("max", "xhigh", "high", "medium", "low"),
    },
    "openrouter": {
        "none": _reasoning("none"),
        "low": _reasoning("low"),
        "medium": _reasoning("medium", "low"),
        "high": _reasoning("high", "medium"),
        "xhigh": _reasoning("xhigh", "high", "medium"),
        "max": _reasoning("xhigh", "high", "medium"),
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
        **dict.fromkeys(_LEVELS[1:], _switched(True)),
    },
    "low_high": {
        "none": _effort("low"),
        "low": _effort("low"),
        "medium": _effort("medium", "low"),
        **dict.fromkeys(("high", "xhigh", "max"), _effort("high", "medium", "low")),
    },
    "high_only": {
        "none": _effort("none"),
        **dict.fromkeys(_LEVELS[1:], _effort("high")),
    },
    "gemini_level": {
        "none": _gemini("thinkingLevel", "minimal", "low"),
        "low": _gemini("thinkingLevel", "low"),
        "medium": _gemini("thinkingLevel", "medium", "high", "low"),
        **dict.fromkeys(_LEVELS[3:], _gemini("thinkingLevel", "high", "low")),
    },
    "gemini_pro_budget": {
        "none": _gemini("thinkingBudget", 128),
        "low": _gemini("thinkingBudget", 2_048),
        "medium": _gemini("thinkingBudget", 8_192),
        "high": _gemini("thinkingBudget", 16_384),
        **dict.fromkeys(_LEVELS[4:], _gemini("thinkingBudget", 32_768)),
    },
    "gemini_flash_budget": {
        "none": _gemini("thinkingBudget", 0, 512),
        "low": _gemini("thinkingBudget", 2_048),
        "medium": _gemini("thinkingBudget", 8_192),
        "high": _gemini("thinkingBudget", 16_384),
        **dict.fromkeys(_LEVELS[4:], _gemini("thinkingBudget", 24_576)),
    },
}

ALL = "thinking"
"""Refused where a model knows no level at all."""

_UNKNOWN_CODES = frozenset({"unsupported_parameter", "unknown_parameter"})
_NONE_AT_ALL = re.compile(
    r"\b(unsupported|unrecognized|unknown|unexpected|extra) (request )?(parameter|argument|field|input|name)"
    r"|(thinking|reasoning|reasoning[ _]?effort)[`'\"]? (is|are) not supported"
    r"|not support (thinking|reasoning|parameter)|argument not supported",
    re.I,
)
_QUOTED = re.compile(r"unsupported value: '([^']*)'", re.I)

_UNREASONING = re.compile(r"(^|[/.])(gpt-(3|4)|chatgpt-)|-chat-latest$")
_GEMINI = re.compile(r"gemini-(\d+(?:\.\d+)?)")
_BY_BUDGET = re.compile(r"claude-(3-7|(opus|sonnet|haiku)-4(-[0-5])?(-\d{8}|-latest|@|$))")


def claude_style(model: str) -> Style:
    """The style of a model behind the Messages API: new Claude models decide for themselves how long to think."""
    return "adaptive" if "claude-" in model and not _BY_BUDGET.search(model) else "budget"


def openai_style(model: str) -> Style:
    """The style of a model behind the Responses API: the older families do not reason and refuse to be asked to."""
    return "silent" if _UNREASONING.search(model) else "responses"


def gemini_style(model: str) -> Style:
    """The style of a Gemini model: levels since the third generation, a budget in 2.5, nothing before."""
    match = _GEMINI.search(model)
    if match is None or float(match[1]) < 2.5:
        return "silent"
    if float(match[1]) >= 3:
        return "gemini_level"
    return "gemini_pro_budget" if "pro" in model else "gemini_flash_budget"


def wording(style: Style, level: str | None, refused: frozenset[str]) -> Wording:
    """The best wording of `level` that is not in `refused` (as `key` names them); nothing without a level."""
    if level is None or ALL in refused:
        return _SILENT
    return next((words for words in _TABLE[style][level] if not words or key(words) not in refused), _SILENT)


def key(words: Wording) -> str:
    """A name for a wording, to remember that it was refused."""
    return repr(sorted((name, repr(value)) for name, value in words.items()))


def is_about(words: Wording, fault: Fault) -> bool:
    """Whether the fault may be about these words; one that quotes another value than ours is not."""
    quoted = _QUOTED.search(fault.message)
    return quoted is None or f"'{quoted[1]}'" in repr(words)


def given_up(words: Wording, fault: Fault) -> str:
    """What to remember of a refusal of `words`: this wording, or all where the fault says that none is understood."""
    return ALL if fault.codes & _UNKNOWN_CODES or _NONE_AT_ALL.search(fault.message) else key(words)
