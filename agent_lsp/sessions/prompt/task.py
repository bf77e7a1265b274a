"""What this session is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_lsp.sessions.prompt.facts import Facts


def part(facts: Facts) -> str:
    """The prompt of the session's profile."""
    return f"# Task\n\n{facts.task.strip()}" if facts.task and facts.task.strip() else ""
