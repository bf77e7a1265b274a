"""The texts with which a policy ends a prompt: traced, they tell a resumed session how the prompt has ended."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from agent_lsp.loop.records import CallRecord

_LIMIT = re.compile(r"\[reached (?:the (step|error) limit|(max turns)) \(\d+\); stopping\]")
_FAILED_SETUP = "[the preparation failed: {why}]"


def step_limit(limit: int) -> str:
    """No more steps."""
    return f"[reached the step limit ({limit}); stopping]"


def error_limit(limit: int) -> str:
    """No more errors."""
    return f"[reached the error limit ({limit}); stopping]"


def failed_setup(why: str) -> str:
    """What a prompt needed could not be prepared."""
    return _FAILED_SETUP.format(why=why)


def reached(text: str) -> Literal["step", "error"] | None:
    """The limit that the text tells of; the engine's own limit of turns counts as one of steps."""
    found = _LIMIT.fullmatch(text)
    return None if found is None else "error" if found[1] == "error" else "step"


def repeated(call: CallRecord) -> str:
    """The same call has come out the same for the third time running: its result is the answer, if it is one."""
    said = call.result if call.result and call.result.strip() else call.output
    return said if call.status == "ok" else f"{call.tool} has come to the same three times running: {said}"


def interrupted(reason: str | None) -> str:
    """The answer of a prompt that was cancelled; the engine's own reasons are nobody's words."""
    by_user = not reason or reason.startswith(("aborted by user", "aborted during "))
    return "Interrupted by user" if by_user else f"Interrupted: {reason}"
