"""What a tool call is about, from nothing but the call: tools come and go, traces stay."""

from __future__ import annotations

import json
from difflib import unified_diff
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from agent_lsp.messages.content import ToolCall

_TELLING = ("file_path", "cmd", "pattern", "path", "process_id", "url", "question", "prompt")
"""Arguments that say by themselves what a call is about, the first that is there."""
_LONGEST_DIFF = 5000
"""Lines; comparing more takes too long for what anybody would read."""


def arguments_of(call: ToolCall) -> dict[str, Any] | None:
    """The arguments, if they are a JSON object."""
    try:
        given: Any = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", given) if isinstance(given, dict) else None


def about(call: ToolCall) -> str:
    """What the call is made on, as it is: not bounded, nothing in it made visible."""
    given = arguments_of(call)
    if given is None:
        return call.arguments
    for key in _TELLING:
        if isinstance(value := given.get(key), str):
            return value
    return json.dumps(given, ensure_ascii=False) if given else ""


def change_of(call: ToolCall) -> str:
    """The edit that a call asks for, as a diff; empty for other calls."""
    given = arguments_of(call) or {}
    match given:
        case {"old_string": str(old), "new_string": str(new)}:
            return _diff(old, new)
        case {"patch": str(patch)}:
            return patch
        case {"file_path": str(), "content": str(content)}:
            return _diff("", content)
        case _:
            return ""


def looks_like_diff(text: str) -> bool:
    """Whether a text is, or holds, a unified diff."""
    return any(line.startswith("@@ ") for line in text.splitlines()) and ("\n+" in text or "\n-" in text)


def _diff(old: str, new: str) -> str:
    before, after = old.splitlines(), new.splitlines()
    if len(before) + len(after) > _LONGEST_DIFF:
        return "\n".join((*(f"-{line}" for line in before), *(f"+{line}" for line in after)))
    changed = list(unified_diff(before, after, lineterm="", n=3))
    return "\n".join(changed[2:])  # without the names, which are nowhere else
