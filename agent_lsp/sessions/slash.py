"""Slash commands: a prompt that is `/name words` stands for a text that somebody has written down under that name.

`.agent-lsp/commands/NAME.md` in the project and `commands/NAME.md` in the user's folder. Those of the project count
whoever opened it: they are words that a person sends by name, and their own of the same name take their place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Literal

from agent_lsp.messages.content import Text, UserContent
from agent_lsp.policy.visible import visible_line
from agent_lsp.sessions.documents import entries, read_document
from agent_lsp.slotted import frozen

FOLDER = "commands"
_NAME = re.compile(r"\w[\w.:-]*")
_PROMPT = re.compile(rf"/({_NAME.pattern})(?:[ \t\n]+(.*))?", re.DOTALL)
_PLACE = re.compile(r"\$(ARGUMENTS\b|[1-9])")
_DESCRIPTION_CHARS = 200

BUILT_IN: Final[Mapping[str, tuple[str, str]]] = {
    "compact": ("agent/compact", "Go on from a summary of the conversation"),
    "title": ("agent/title", "Give the conversation a title"),
    "tools": ("agent/tools", "List the tools"),
    "rules": ("agent/rules", "List what was allowed for longer than once"),
    "models": ("agent/models", "List the models"),
    "usage": ("agent/usage", "Say what was used"),
}
"""Names that stand for a method: its name, and what it does. A front end that offers them calls the method."""


@frozen
class SlashCommand:
    """One command. `hint` says what arguments it wants."""

    name: str
    description: str
    hint: str
    body: str
    source: Literal["project", "user"]

    def text(self, arguments: str) -> str:
        """The text it stands for. Arguments go where `$ARGUMENTS` or `$1` … `$9` stand, else they follow it."""
        words = arguments.split()

        def put(place: re.Match[str]) -> str:
            if place[1] == "ARGUMENTS":
                return arguments
            number = int(place[1])
            return words[number - 1] if number <= len(words) else ""

        text, places = _PLACE.subn(put, self.body)
        return text if places or not arguments else f"{text}\n\n{arguments}"


Commands = Callable[[], Mapping[str, SlashCommand]]
"""The commands of a session, by name, as they are now."""


def find_commands(project: Path, user: Path, may_read: Callable[[Path], bool]) -> dict[str, SlashCommand]:
    """The commands of both folders by name, as they are on the disk now."""
    found: dict[str, SlashCommand] = {}
    sources: tuple[tuple[Path, Literal["project", "user"]], ...] = ((project, "project"), (user, "user"))
    for folder, source in sources:
        for path in entries(folder):
            if path.suffix != ".md" or not _NAME.fullmatch(path.stem):
                continue
            if (source == "user" or may_read(path)) and (document := read_document(path)):
                first = next((line.strip("# ") for line in document.body.splitlines() if line.strip("# ")), "")
                description = visible_line(document.fields.get("description") or first, _DESCRIPTION_CHARS)
                hint = visible_line(document.fields.get("argument-hint", ""), _DESCRIPTION_CHARS)
                found[path.stem] = SlashCommand(path.stem, description, hint, document.body, source)
    return found


def expand(input: tuple[UserContent, ...], commands: Commands) -> tuple[UserContent, ...]:
    """The input, or what it stands for if it is one text that is a known command, and nothing else.

    Whatever is no command goes through as it is; the commands are only asked for when it looks like one.
    """
    only = input[0] if len(input) == 1 else None
    match = _PROMPT.fullmatch(only.text.strip()) if isinstance(only, Text) else None
    command = commands().get(match[1]) if match else None
    if command is None or match is None or not isinstance(only, Text):
        return input
    return (only.model_copy(update={"text": command.text((match[2] or "").strip())}),)
