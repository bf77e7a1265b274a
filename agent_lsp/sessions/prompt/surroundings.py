"""Where the model works."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_lsp.sessions.environment import Repository
    from agent_lsp.sessions.prompt.facts import Facts


def part(facts: Facts) -> str:
    """The folder, the platform, and the repository as it was when the context began."""
    place = facts.surroundings
    lines = [f"Workspace: {place.workspace}", f"Platform: {place.system}"]
    if place.repository:
        lines.append(f"Git: {_told(place.repository)}")
    return "# Environment\n\n" + "\n".join(lines)


def _told(repository: Repository) -> str:
    match repository.changed:
        case None | 0:
            return repository.head
        case 1:
            return f"{repository.head}; one tracked file had changes when this conversation began"
        case many:
            return f"{repository.head}; {many} tracked files had changes when this conversation began"
