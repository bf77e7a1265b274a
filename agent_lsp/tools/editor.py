"""The editor port: files as texts. What holds them (the disk, an editor's buffers) is behind it.

File tools read and change files through nothing else, so that an open buffer is always the truth of its file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

from agent_lsp.slotted import frozen


@frozen
class Snapshot:
    """The text of a file at one moment: its own line ends, no BOM.

    `version` is whatever its editor needs to see that the file has changed since; nobody else looks at it. A text may
    hold lone surrogates in place of bytes that are no text: they go back as they came.
    """

    path: Path
    text: str
    version: object = None
    is_unsaved: bool = False


@frozen
class Unreadable:
    """A path that is there and has no text; `reason` is a sentence with advice."""

    path: Path
    kind: Literal["directory", "binary", "too_large", "special", "error"]
    reason: str


@frozen
class TextEdit:
    """Puts `text` in the place of the snapshot's characters from `start` to `end`."""

    start: int
    end: int
    text: str


@frozen
class Change:
    """What becomes of one file. Edits are in order and do not overlap.

    Without a `snapshot` the file must not exist yet, and is made with its parents from the one edit's text; it takes
    over the permissions of `mode_of` and the encoding of `written_like`. `edits` None deletes the file.
    """

    path: Path
    snapshot: Snapshot | None
    edits: tuple[TextEdit, ...] | None
    mode_of: Path | None = None
    written_like: Snapshot | None = None


def new_text(change: Change) -> str | None:
    """The text of the file after the change; None when it is deleted."""
    if change.edits is None:
        return None
    old = change.snapshot.text if change.snapshot else ""
    pieces: list[str] = []
    at = 0
    for edit in change.edits:
        pieces += (old[at : edit.start], edit.text)
        at = edit.end
    return "".join((*pieces, old[at:]))


@frozen
class Applied:
    """Everything was changed. `notes` are for the model (what was left unsaved, for one)."""

    notes: tuple[str, ...] = ()


@frozen
class Stale:
    """A file has changed since it was read; nothing was done. `text` is the present one, None if the file is gone."""

    path: Path
    text: str | None


@frozen
class Refused:
    """Nothing was done, and why; `text` is the present one where knowing it helps."""

    path: Path
    reason: str
    text: str | None = None


@frozen
class Unknown:
    """It cannot be told whether the edit was made; `text` is the present one, None if that cannot be told either."""

    path: Path
    text: str | None


Outcome = Applied | Stale | Refused | Unknown


class Editor(Protocol):
    """Whatever holds the files of a session. Nothing here raises but `CancelledError`."""

    async def read(self, path: Path, *, shown: bool = False) -> Snapshot | Unreadable | None:
        """The file's text as it is now; None if there is no such file. `shown`: the model is going to see it."""
        ...

    def peek(self, path: Path) -> Snapshot | Unreadable | None:
        """`read` at once, though it may block on the disk; nobody is shown anything."""
        ...

    def stamp(self, path: Path) -> object:
        """Equal to an earlier one as long as the text is the same: a look at the disk, not into the file."""
        ...

    async def replace(self, changes: Sequence[Change], label: str) -> Outcome:
        """Makes all changes, as one step to undo, and saves what was not unsaved before; or makes none.

        `label` says in a few words what the step is.
        """
        ...

    async def diagnostics(self, paths: Sequence[Path]) -> str:
        """What is newly wrong in the files after a change, for the model; nothing if the editor cannot tell."""
        ...

    def unsaved(self) -> Mapping[Path, str]:
        """The texts of open files that differ from the disk, by absolute path without links."""
        ...
