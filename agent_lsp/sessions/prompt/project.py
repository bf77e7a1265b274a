"""What the project itself says about working in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_lsp.sessions.prompt.facts import Facts


def part(facts: Facts) -> str:
    """The text of the root's `AGENTS.md`."""
    if not facts.agents_md or not facts.agents_md.strip():
        return ""
    return f"# Project instructions, from AGENTS.md\n\n{facts.agents_md.strip()}"
