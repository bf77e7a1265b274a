"""What a call would touch and how it is shown: what the tools tell whoever decides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.engine.ports import Permission
    from agent_lsp.messages.content import ToolCall

AccessKind = Literal["read", "edit", "command", "other", "own", "ask"]


@frozen
class Access:
    """What one call would touch.

    `kind`: `read` looks, `edit` changes files, `command` runs `command` in `cwd`, `other` changes the world in another
    way, `own` only touches what the session itself made (never asked about), `ask` is put to the person in every mode
    but `allow-all`.
    `paths`: absolute, as the tool would open them, links and `..` not resolved yet.
    """

    kind: AccessKind
    paths: tuple[Path, ...] = ()
    command: str | None = None
    cwd: Path | None = None


@frozen
class EditPreview:
    """An edit as a unified diff (bounded by the tool)."""

    path: Path
    diff: str
    created: bool


@frozen
class CommandPreview:
    """A command in full and the folder it would run in."""

    command: str
    cwd: Path


@frozen
class TextPreview:
    """Anything else worth showing."""

    text: str


Preview = EditPreview | CommandPreview | TextPreview


class Proposals(Protocol):
    """What an environment tells of a call that passed its check, before it runs."""

    def permission(self, call: ToolCall) -> Permission:
        """Whether the tool only reads."""
        ...

    def title(self, call: ToolCall) -> str:
        """One line for a person, control characters made visible."""
        ...

    def access(self, call: ToolCall) -> Access:
        """What the call would touch."""
        ...

    async def preview(self, call: ToolCall) -> Preview | None:
        """What the call would do, worked out when somebody is going to look at it."""
        ...
