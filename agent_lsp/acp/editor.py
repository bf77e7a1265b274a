"""The editor port on a client that reads or writes text files: its buffers are the truth where it has some.

| the client    | a file is read                                  | and written                                 |
|---------------|-------------------------------------------------|---------------------------------------------|
| reads, writes | from the client, which may have unsaved changes | by the client; what came of it is looked at |
| only reads    | from the client                                 | on the disk; unsaved changes: refused       |
| only writes   | from the disk                                   | by the client                               |

The protocol has texts only. What it has no words for stays on the disk: deletions, renames, files whose bytes are not
plain UTF-8, and whatever lies outside of the session's folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from agent_lsp.slotted import frozen
from agent_lsp.tools.editor import (
    Applied,
    Change,
    Editor,
    Outcome,
    Refused,
    Snapshot,
    Stale,
    Unknown,
    Unreadable,
    new_text,
)
from agent_lsp.wire.peer_errors import ConnectionLost, PeerError

if TYPE_CHECKING:
    from agent_lsp.acp.connection import Connection

_UNSAVED = "it has unsaved changes in the editor, which takes no edits from here: ask the person to save it first."


class ClientBuffers:
    """The files of one session's client (`sessions.open_session.Buffers`)."""

    def __init__(self, connection: Connection, session_id: str, root: Path) -> None:
        self._connection, self._session_id, self._root = connection, session_id, root

    def over(self, disk: Editor) -> Editor:
        """The client over the disk, as far as it offers anything."""
        client = self._connection.greeted.client
        if not client.reads_files and not client.writes_files:
            return disk
        return ClientEditor(self._connection, self._session_id, self._root, disk)

    @property
    def findings(self) -> None:
        """The protocol has no way to ask what is wrong in a file."""
        return


@frozen
class _Held:
    """The version of a snapshot that the client gave: `on_disk` is what the file held then."""

    on_disk: Snapshot | None


class ClientEditor:
    """One client over another editor, the disk."""

    def __init__(self, connection: Connection, session_id: str, root: Path, disk: Editor) -> None:
        self._connection, self._session_id, self._disk = connection, session_id, disk
        self._root = root.resolve()
        self._client = connection.greeted.client
        self._seen: dict[Path, tuple[object, Snapshot]] = {}

    # --- reading ---

    async def read(self, path: Path, *, shown: bool = False) -> Snapshot | Unreadable | None:
        """The client's text; the disk's where the client has none, or the same in other line ends."""
        on_disk = await self._disk.read(path, shown=shown)
        if isinstance(on_disk, Unreadable) or not self._client.reads_files or not self._is_inside(path):
            return on_disk
        text = await self._ask(path)
        has_none = on_disk is None and not text  # some clients say of a missing file that it is empty
        if text is None or has_none or (on_disk and _same(text, on_disk.text)):
            self._seen.pop(path, None)
            return on_disk
        snapshot = Snapshot(path, text, _Held(on_disk), is_unsaved=True)
        self._seen[path] = (self._disk.stamp(path), snapshot)
        return snapshot

    def peek(self, path: Path) -> Snapshot | Unreadable | None:
        """What the client said last, unless the file has changed since; asking it would take time."""
        return self._known(path) or self._disk.peek(path)

    def stamp(self, path: Path) -> object:
        """The file's, and the text that the client said last."""
        known = self._known(path)
        return (self._disk.stamp(path), known.text if known else None)

    def unsaved(self) -> Mapping[Path, str]:
        """The texts that the client had not saved when they were read."""
        return {path.resolve(): known.text for path in tuple(self._seen) if (known := self._known(path))}

    async def diagnostics(self, paths: Sequence[Path]) -> str:
        """As the disk: nothing."""
        return await self._disk.diagnostics(paths)

    # --- changing ---

    async def replace(self, changes: Sequence[Change], label: str) -> Outcome:
        """Makes all changes, one after the other; when one fails, those before it are taken back."""
        on_disk = [change for change in changes if not self._writes(change)]
        if refusal := _refusal(on_disk):
            return refusal
        done: list[Change] = []
        outcome: Outcome = Applied()
        for change in changes:
            if isinstance(outcome, Applied) and self._writes(change):
                outcome = await self._write(change)
                done += [change] if isinstance(outcome, Applied) else []
        if isinstance(outcome, Applied) and on_disk:
            outcome = await self._disk.replace(on_disk, label)
        if not isinstance(outcome, Applied):
            await self._take_back(done)
        return outcome

    def _writes(self, change: Change) -> bool:
        """Whether the change is the client's to make."""
        snapshot = change.snapshot or change.written_like
        held = snapshot.version if snapshot and isinstance(snapshot.version, _Held) else None
        source = held.on_disk if held else snapshot
        plain = source is None or _is_plain(source)
        has_words = self._client.writes_files and change.edits is not None and change.mode_of is None
        return has_words and plain and self._is_inside(change.path)

    async def _write(self, change: Change) -> Outcome:
        before = change.snapshot.text if change.snapshot else None
        now = await self.read(change.path)
        text_now = now.text if isinstance(now, Snapshot) else None
        if text_now != before or isinstance(now, Unreadable):
            return Stale(change.path, text_now)
        after = new_text(change) or ""
        refused = await self._put(change.path, after)
        return _judged(change.path, before, after, refused, await self.read(change.path))

    async def _put(self, path: Path, text: str) -> str | None:
        """Has the client write a file; what is wrong if it says that it did not."""
        params = {"sessionId": self._session_id, "path": str(path), "content": text}
        try:
            await self._connection.request("fs/write_text_file", params)
        except PeerError as error:
            return error.message
        except ConnectionLost:
            return "it is gone"
        return None

    async def _take_back(self, done: Sequence[Change]) -> None:
        """As far as that goes: the editor that has refused the edit may refuse this too."""
        for change in reversed(done):
            if change.snapshot:
                await self._put(change.path, change.snapshot.text)
            elif isinstance(made := await self._disk.read(change.path), Snapshot):
                await self._disk.replace([Change(change.path, made, None)], "Undo")

    # --- the client ---

    async def _ask(self, path: Path) -> str | None:
        params = {"sessionId": self._session_id, "path": str(path)}
        try:
            answer = await self._connection.request("fs/read_text_file", params)
        except (PeerError, ConnectionLost):
            return None
        content = cast("dict[str, Any]", answer).get("content") if isinstance(answer, dict) else None
        return content if isinstance(content, str) else None

    def _known(self, path: Path) -> Snapshot | None:
        stamp, snapshot = self._seen.get(path, (None, None))
        return snapshot if snapshot and stamp == self._disk.stamp(path) else None

    def _is_inside(self, path: Path) -> bool:
        return path.is_absolute() and path.resolve().is_relative_to(self._root)


def _refusal(changes: Sequence[Change]) -> Refused | None:
    """Why the disk cannot make the changes: the editor holds something else than it does."""
    unsaved = (change for change in changes if change.snapshot and isinstance(change.snapshot.version, _Held))
    return next((Refused(one.path, _UNSAVED, one.snapshot and one.snapshot.text) for one in unsaved), None)


def _judged(
    path: Path, before: str | None, after: str, refused: str | None, found: Snapshot | Unreadable | None
) -> Outcome:
    """Only what is there now says what has happened."""
    text = found.text if isinstance(found, Snapshot) else None
    if text is not None and _same(text, after):
        return Applied()
    if refused is not None and text == before:
        return Refused(path, f"the editor refused to write it ({refused}).", text)
    return Unknown(path, text)


def _is_plain(snapshot: Snapshot) -> bool:
    """Whether the file's bytes are its text in UTF-8, so that writing the text gives them back."""
    codec = getattr(snapshot.version, "codec", None)
    return codec is None or (codec.encoding == "utf-8" and not codec.bom and codec.errors == "strict")


def _same(one: str, other: str) -> bool:
    """Whether two texts are the same but for their line ends, which editors normalise."""
    return one == other or one.replace("\r\n", "\n") == other.replace("\r\n", "\n")
