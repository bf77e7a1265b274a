"""Which skills there are; what they say is read when one is needed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_lsp.sessions.prompt.facts import Facts
    from agent_lsp.sessions.skills import Skill


def part(facts: Facts) -> str:
    """A line for each skill, and how to use one."""
    if not facts.skills:
        return ""
    how = "When a task fits one of these, read its file with read_file first and follow it:"
    return f"# Skills\n\n{how}\n\n{listing(facts.skills, facts.surroundings.workspace)}"


def listing(skills: Iterable[Skill], workspace: Path) -> str:
    """Name, description and file of each."""
    return "\n".join(f"- {skill.name}: {skill.description} ({_shown(skill.path, workspace)})" for skill in skills)


def _shown(path: Path, workspace: Path) -> str:
    return path.relative_to(workspace).as_posix() if path.is_relative_to(workspace) else str(path)
