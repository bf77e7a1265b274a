"""One line for a tool call, from nothing but the call."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from agent_lsp.policy.visible import visible_line

if TYPE_CHECKING:
    from agent_lsp.messages.content import ToolCall

TITLE_LENGTH = 100
_TELLING = ("file_path", "cmd", "pattern", "path", "process_id", "url", "question", "prompt")
"""Arguments that say by themselves what a call is about, the first that is there."""


def call_title(call: ToolCall) -> str:
    """The tool's name and what it is called on."""
    about = _about(call.arguments)
    return clipped(visible_line(f"{call.name} {about}".rstrip()), TITLE_LENGTH)


def clipped(line: str, length: int) -> str:
    """The line, cut with an ellipsis where it is longer."""
    return line if len(line) <= length else line[: length - 1] + "…"


def _about(arguments: str) -> str:
    try:
        given: Any = json.loads(arguments or "{}")
    except ValueError:
        return arguments
    if not isinstance(given, dict):
        return arguments
    named = cast("dict[str, Any]", given)
    for key in _TELLING:
        if isinstance(value := named.get(key), str):
            return value
    return json.dumps(named, ensure_ascii=False) if named else ""
