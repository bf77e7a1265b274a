"""Notices a model that makes the same failing call over and over."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_lsp.messages.content import ToolCall

_TIMES = 3


class Repeats:
    """Counts how often in a row one call has failed with one output."""

    def __init__(self) -> None:
        self._last: tuple[str, str, str] | None = None
        self._count = 0

    def note(self, call: ToolCall, output: str, *, is_failure: bool) -> str:
        """Records how a call ended; a note for the model from the third time on, else nothing."""
        this = (call.name, call.arguments.strip(), output) if is_failure else None
        self._count = self._count + 1 if this and this == self._last else 1
        self._last = this
        if this is None or self._count < _TIMES:
            return ""
        return f"[this call has failed in the same way {self._count} times in a row: try something else]"
