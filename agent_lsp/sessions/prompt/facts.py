"""What a system prompt is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent_lsp.slotted import field, frozen

if TYPE_CHECKING:
    from agent_lsp.sessions.environment import Surroundings
    from agent_lsp.sessions.skills import Skill


@frozen
class Facts:
    """All that the parts may tell of. `task` is what a profile says; `overrides` are texts in the place of parts."""

    surroundings: Surroundings
    tools: tuple[str, ...] = ()
    agents_md: str | None = None
    skills: tuple[Skill, ...] = ()
    task: str | None = None
    overrides: Mapping[str, str] = field(default_factory=dict[str, str])
