"""The system prompt: parts in a fixed order, one file each, every one a pure function of the same facts.

It stays short and holds no clock, so that the prompt of a context is the same from its first request to its last and a
provider's prefix cache holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from agent_lsp.sessions.prompt import advice, project, role, rules, skills, surroundings, task
from agent_lsp.sessions.prompt.compaction import COMPACTION_PROMPT
from agent_lsp.sessions.prompt.facts import Facts

Part = Callable[[Facts], str]
"""A part of the prompt; empty if it has nothing to say."""

PARTS: Final[Mapping[str, Part]] = {
    "role": role.part,
    "environment": surroundings.part,
    "rules": rules.part,
    "tools": advice.part,
    "project": project.part,
    "skills": skills.part,
    "task": task.part,
}
"""By the name under which a person can put a text of their own in a part's place, in the order of the prompt."""


def system_prompt(facts: Facts) -> str:
    """The prompt of a context."""
    parts = (facts.overrides.get(name) or part(facts) for name, part in PARTS.items())
    return "\n\n".join(text.strip() for text in parts if text.strip())


__all__ = ["COMPACTION_PROMPT", "PARTS", "Facts", "Part", "system_prompt"]
