"""The editor port on a client that holds documents open: buffers where there are some, the disk everywhere else.

| the file is            | an edit is made by                                                                 |
|------------------------|------------------------------------------------------------------------------------|
| not open               | the disk                                                                           |
| open, nothing unsaved  | `workspace/applyEdit`, then `agent/saveDocument`; a client that takes no edits: the disk |
| open, behind the disk  | the disk, which has the newer text                                                 |
| open, unsaved changes  | `workspace/applyEdit`, not saved; a client that takes no edits: refused             |

Buffers come first: it is there that somebody types, and where an edit may well be refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.server.documents.abilities import Abilities
from agent_lsp.server.documents.applying import Step, apply
from agent_lsp.server.documents.findings import ClientFindings
from agent_lsp.server.documents.saving import Saving
from agent_lsp.server.uris import uri_of
from agent_lsp.slotted import frozen, replace
from agent_lsp.tools.difference import difference, refine
from agent_lsp.tools.editor import (
    Applied,
    Change,
    Editor,
    Outcome,
    Refused,
    Snapshot,
    Stale,
    Unreadable,
)
from agent_lsp.tools.findings import Finding, tell

if TYPE_CHECKING:
    from agent_lsp.server.connection import Connection
    from agent_lsp.server.documents.document import Document, Standing
    from agent_lsp.server.documents.store import Documents

_UNSAVED = "it has unsaved changes in the editor, which takes no edits from here: ask the person to save it first."
_DELETED_UNSAVED = "it has unsaved changes in the editor."
_MOST_FINDINGS = 20


class ClientEditor:
    """The editor of one client (`sessions.open_session.Buffers`), whatever the session."""

    def __init__(self, connection: Connection, documents: Documents) -> None:
        self.documents = documents
        self._connection = connection
        self._abilities = Abilities.of(connection.greeted.client)
        self._saving = Saving(connection, self._abilities.saves)

    def over(self, disk: Editor) -> BufferEditor:
        """The editor port of one session."""
        return BufferEditor(self._connection, self._abilities, self.documents, self._saving, disk)

    @property
    def findings(self) -> ClientFindings | None:
        """What is wrong in the files, if the client can tell."""
        return ClientFindings(self._connection, self.documents) if self._abilities.diagnoses else None

    def uri(self, path: Path) -> str:
        """The URI by which the client knows a file."""
        document = self.documents.find(path)
        return document.uri if document else uri_of(path)

    def shown(self, uri: str) -> str | None:
        """The text of an open document of any kind, by its URI or as the absolute path of its file.

        None when there is none, or the disk has the newer text.
        """
        document = self.documents.find(Path(uri)) if uri.startswith("/") else self.documents.by_uri(uri)
        return None if document is None or document.standing() == "behind" else document.text


@frozen
class _Buffered:
    """The version of a snapshot that was taken of a document."""

    revision: int


@frozen
class _Planned:
    """One change: in a document (`step`, with how that stood and the `stamp` of its file) or on the disk (`change`)."""

    step: Step | None = None
    standing: Standing = "clean"
    stamp: object = None
    change: Change | None = None


class BufferEditor:
    """Documents of the client over another editor, which has the files that are not open."""

    def __init__(
        self, connection: Connection, abilities: Abilities, documents: Documents, saving: Saving, disk: Editor
    ) -> None:
        self._connection, self._abilities, self._documents = connection, abilities, documents
        self._saving, self._disk = saving, disk
        self._findings = ClientFindings(connection, documents) if abilities.diagnoses else None
        self._told: set[tuple[Path, str, str]] = set()

    # --- reading ---

    async def read(self, path: Path, *, shown: bool = False) -> Snapshot | Unreadable | None:
        """The text of the open document, else of the file."""
        return self._buffered(path) or await self._disk.read(path, shown=shown)

    def peek(self, path: Path) -> Snapshot | Unreadable | None:
        """The same at once."""
        return self._buffered(path) or self._disk.peek(path)

    def stamp(self, path: Path) -> object:
        """The revision of the open document, else the file's stamp."""
        found = self._standing(path)
        return (found[0].uri, found[0].revision, found[1]) if found else self._disk.stamp(path)

    def unsaved(self) -> Mapping[Path, str]:
        """The texts of documents with unsaved changes."""
        return {
            document.path: document.text
            for document in self._documents
            if document.path and document.standing() == "dirty"
        }

    def _buffered(self, path: Path) -> Snapshot | None:
        found = self._standing(path)
        if found is None:
            return None
        document, standing = found
        return Snapshot(path, document.text, _Buffered(document.revision), standing == "dirty")

    def _standing(self, path: Path) -> tuple[Document, Standing] | None:
        """The document that holds the truth of a file, and how it stands; None when the disk does."""
        document = self._documents.find(path)
        if document is None:
            return None
        standing = document.standing()
        return (document, standing) if standing != "behind" else None

    # --- changing ---

    async def replace(self, changes: Sequence[Change], label: str) -> Outcome:
        """Makes all changes: those in documents as one edit, then those on the disk; then saves what was saved."""
        planned: list[_Planned] = []
        for change in changes:
            plan = await self._plan(change)
            if not isinstance(plan, _Planned):
                return plan
            planned.append(plan)
        steps = [plan.step for plan in planned if plan.step and plan.step.edits]
        on_disk = [plan.change for plan in planned if plan.change]
        if steps:
            if stale := next((one for one in [await self._stale(change) for change in on_disk] if one), None):
                return stale
            if moved := next((step for step in steps if step.document.text != step.before), None):
                return Stale(moved.path, moved.document.text)
            outcome = await apply(self._connection, self._abilities, steps, label)
            if not isinstance(outcome, Applied):
                return outcome
        if on_disk:
            outcome = await self._disk.replace(on_disk, label)
            if not isinstance(outcome, Applied):
                return await self._take_back(steps, outcome, label)
        return Applied(tuple([note for plan in planned if plan.step for note in await self._save(plan, plan.step)]))

    async def _plan(self, change: Change) -> _Planned | Stale | Refused:
        stamp = self._disk.stamp(change.path)
        found = self._standing(change.path)
        if found is None:
            return await self._on_disk(change)
        document, standing = found
        text = document.text
        if change.edits is None and standing == "dirty":
            return Refused(change.path, _DELETED_UNSAVED)
        if change.snapshot is None or change.snapshot.text != text:
            return Stale(change.path, text)
        if change.edits is not None and self._abilities.applies:
            return _Planned(Step(document, change.path, text, refine(text, change.edits)), standing, stamp)
        if standing == "dirty":
            return Refused(change.path, _UNSAVED)
        return await self._on_disk(change)

    async def _on_disk(self, change: Change) -> _Planned | Stale:
        """The change on files as they are on the disk, where a document may have been read."""
        if change.written_like and isinstance(change.written_like.version, _Buffered):
            like = await self._disk.read(change.written_like.path)
            change = replace(change, written_like=like if isinstance(like, Snapshot) else None)
        if change.snapshot is None or not isinstance(change.snapshot.version, _Buffered):
            return _Planned(change=change)
        now = await self._disk.read(change.path)
        if not isinstance(now, Snapshot) or now.text != change.snapshot.text:
            return Stale(change.path, now.text if isinstance(now, Snapshot) else None)
        return _Planned(change=replace(change, snapshot=now))

    async def _stale(self, change: Change) -> Stale | None:
        """Whether the disk would refuse the change, as far as that can be told beforehand."""
        now, expected = await self._disk.read(change.path), change.snapshot.text if change.snapshot else None
        text = now.text if isinstance(now, Snapshot) else None
        return Stale(change.path, text) if text != expected or isinstance(now, Unreadable) else None

    async def _take_back(self, steps: Sequence[Step], outcome: Outcome, label: str) -> Outcome:
        """The disk has refused: what was edited before it is put back, unless somebody has gone on typing."""
        untouched = [step for step in steps if step.document.text == step.after]
        back = [Step(step.document, step.path, step.after, difference(step.after, step.before)) for step in untouched]
        done = await apply(self._connection, self._abilities, back, f"Undo: {label}") if back else Applied()
        if isinstance(done, Applied) and len(back) == len(steps):
            return outcome
        left = next((step for step in steps if step.document.text != step.before), steps[0])
        return Refused(left.path, "another file of the same edit could not be written.", left.document.text)

    async def _save(self, plan: _Planned, step: Step) -> list[str]:
        if not step.edits:
            return []
        if plan.standing == "dirty":
            return [f"[{step.path.name} has unsaved changes in the editor: it was edited there and not saved]"]
        if step.document.standing() == "clean":
            return []  # the editor saves by itself
        if self._disk.stamp(step.path) != plan.stamp:
            return [f"[{step.path.name} was left unsaved in the editor: its file on the disk was changed meanwhile]"]
        return await self._saving.save(step.document, step.after)

    # --- diagnostics ---

    async def diagnostics(self, paths: Sequence[Path]) -> str:
        """Errors and warnings of the files that were not told before."""
        if self._findings is None or not paths:
            return ""
        found = await self._findings(paths[0] if len(paths) == 1 else None)
        wanted = {path.resolve(): path for path in paths}
        fresh = [one for one in found or () if one.path.resolve() in wanted and self._is_new(one)]
        if found is not None:
            self._told = {key for key in self._told if key[0] not in wanted} | {_key(one) for one in found}
        worth = [one for one in fresh if one.severity in ("error", "warning")]
        told = tell(worth, lambda path: path.name, _MOST_FINDINGS)
        return f"[the editor reports:]\n{told}" if told else ""

    def _is_new(self, finding: Finding) -> bool:
        return _key(finding) not in self._told


def _key(finding: Finding) -> tuple[Path, str, str]:
    """What makes a finding the same one though its line has moved."""
    return finding.path.resolve(), finding.severity, finding.message
