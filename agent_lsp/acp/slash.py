"""Slash commands: those that do something to the session, and those that stand for a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agent_lsp.messages.content import Text, UserContent

if TYPE_CHECKING:
    from agent_lsp.sessions.slash import SlashCommand

_PROMPT = re.compile(r"/(\w+)(?:\s+(.*))?", re.DOTALL)

BUILT_IN: Final[Mapping[str, tuple[str, str]]] = {
    "compact": ("Go on from a summary of the conversation", ""),
    "goal": ("Work towards an objective until it is reached", "objective"),
    "model": ("Go on with another model, or list the models", "provider/model"),
    "title": ("Give the conversation a title", ""),
    "tools": ("List the tools", ""),
    "rules": ("List what was allowed for longer than once", ""),
    "usage": ("Say what was used", ""),
}
"""What each does, and what words it takes. They come before commands of the same name that somebody wrote down."""


class Command(NamedTuple):
    """A command of ours, as somebody has sent it."""

    name: str
    words: str


def built_in(input: tuple[UserContent, ...]) -> Command | None:
    """The command that an input is, if it is one text that names one of ours."""
    only = input[0] if len(input) == 1 else None
    match = _PROMPT.fullmatch(only.text.strip()) if isinstance(only, Text) else None
    return Command(match[1], (match[2] or "").strip()) if match and match[1] in BUILT_IN else None


def available(written: Mapping[str, SlashCommand]) -> list[dict[str, Any]]:
    """All commands as a client is told of them."""
    ours = [_told(name, description, hint) for name, (description, hint) in BUILT_IN.items()]
    theirs = [_told(one.name, one.description, one.hint) for name, one in written.items() if name not in BUILT_IN]
    return [*ours, *theirs]


def _told(name: str, description: str, hint: str) -> dict[str, Any]:
    return {"name": name, "description": description or name, **({"input": {"hint": hint}} if hint else {})}
