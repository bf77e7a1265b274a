"""What is known of the edits that an agent has made, and how one of them stands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agent_lsp.slotted import field, frozen, mutable

if TYPE_CHECKING:
    from agent_lsp.sessions.edit_places import Place
    from agent_lsp.tools.editor import Change

CHANGED = "the text has changed since"
"""Why an edit can no longer be undone, mostly."""
State = Literal["pending", "kept", "undone", "changed"]


@frozen
class Edit:
    """How one edit stands. `start` and `end` are where it is in `text`, the present one (None: there is no file).

    `old` is what stood there before; `reason` says why it could not be undone, or never can be.
    """

    edit_id: str
    run_id: str
    tool_call_id: str
    path: Path
    state: State
    text: str | None
    start: int
    end: int
    old: str
    reason: str | None = None


@mutable
class Made:
    """What one call made of one file.

    `is_certain` is false as long as nobody has seen that it happened, `is_counted` as long as nobody was told of it.
    `lost` says why it can never be undone.
    """

    run_id: str
    tool_call_id: str
    change: Change
    before: str | None
    after: str | None
    is_certain: bool
    is_counted: bool
    lost: str = ""
    places: list[Record] = field(default_factory=list["Record"])


@mutable
class Record:
    """One place of it."""

    edit_id: str
    made: Made
    place: Place
    is_kept: bool = False
    is_undone: bool = False
    was_told_undone: bool = False
