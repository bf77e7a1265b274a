"""Who the model is here."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_lsp.sessions.prompt.facts import Facts

_ROLE = """\
You are a coding agent inside the user's editor. You work in their workspace with the tools you are given: look before
you change, change as little as the task needs, and check what you changed where you can."""


def part(facts: Facts) -> str:
    """The same for everybody."""
    return _ROLE
