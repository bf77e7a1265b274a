"""The sessions on disk, whoever wrote them: list them, read one's history, delete one.

Everything here blocks on the disk and may be called from any thread.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.errors import SessionNotFound
from agent_lsp.slotted import frozen, mutable
from agent_lsp.trace.cursor import seal, unseal
from agent_lsp.trace.file import lock_newest
from agent_lsp.trace.history import Page, count_before, decode_cursor, last_page, page, traced, traced_backwards
from agent_lsp.trace.reader import read_meta
from agent_lsp.trace.summary import Scan, Totals, last_timestamp, scan

if TYPE_CHECKING:
    from agent_lsp.messages.envelope import SessionMeta
    from agent_lsp.trace.paths import DataDir, TracePath

_CURSOR = re.compile(r"([0-9TZ:.-]+) (session-[0-9a-f-]+)")


@frozen
class StoredSession:
    """A session as it is on disk: as it was created, and what has become of it.

    `meta` comes without its system prompt. Times are ISO 8601 in UTC. `trace_path` is the newest file.
    """

    session_id: str
    meta: SessionMeta
    totals: Totals
    updated_at: str
    trace_path: Path

    @property
    def title(self) -> str | None:
        """The last title it was given."""
        return self.totals.settings.title

    @property
    def name(self) -> str | None:
        """What it is called in a list: its title, else the first words that a person said in it."""
        return self.title or self.totals.words or None

    @property
    def model(self) -> str:
        """The model as `provider/model`: the last that was chosen, else the first."""
        return self.totals.settings.model or f"{self.meta.provider}/{self.meta.model_id}"

    @property
    def mode(self) -> str:
        """The mode: the last that was chosen, else the first."""
        return self.totals.settings.mode or self.meta.mode


@frozen
class SessionPage:
    """Some sessions, the last written first, and the cursor of those that follow (None: there are no more)."""

    sessions: tuple[StoredSession, ...]
    next_cursor: str | None = None


@mutable
class _Seen:
    """What was read of a session, kept for as long as its newest file has this state."""

    files: Sequence[TracePath]
    state: tuple[int, int, int]
    updated_at: str
    meta: SessionMeta | None = None
    scanned: Scan | None = None


class SessionStore:
    """The sessions of a data directory. Remembers what it read, so that a second look reads only what was added."""

    def __init__(self, data: DataDir) -> None:
        self._data = data
        self._seen: dict[str, _Seen] = {}

    def exists(self, session_id: str) -> bool:
        """Whether the session has a trace."""
        return bool(self._data.trace_files(session_id))

    def list(
        self, workspace: str | None = None, limit: int = 50, cursor: str | None = None, *, subagents: bool = False
    ) -> SessionPage:
        """A page of the sessions, the last written first.

        `workspace` keeps those whose workspace is this very text. Sessions of subagents are left out unless asked for;
        so are, always, traces without a readable beginning. A session that is written to between two pages moves to the
        front, the others come exactly once. InvalidParams for a cursor that is none.
        """
        before = unseal(cursor, _CURSOR).groups() if cursor is not None else None
        found: list[StoredSession] = []
        for session_id, seen in self._newest_first():
            if before is not None and (seen.updated_at, session_id) >= before:
                continue
            meta = _meta(seen)
            if meta is None or workspace not in (None, meta.workspace) or (meta.source == "subagent" and not subagents):
                continue
            if len(found) >= max(1, limit):
                return SessionPage(tuple(found), seal(f"{found[-1].updated_at} {found[-1].session_id}"))
            if stored := _stored(session_id, seen, meta):
                found.append(stored)
        return SessionPage(tuple(found))

    def get(self, session_id: str) -> StoredSession:
        """One session. SessionNotFound when it has no trace, or none that can be read."""
        files = self._files(session_id)
        if (seen := _look(files, self._seen.get(session_id))) and (meta := _meta(seen)):
            self._seen[session_id] = seen
            if stored := _stored(session_id, seen, meta):
                return stored
        raise SessionNotFound(session_id, f"{files[-1].path.name} does not begin with what the session is")

    def history(self, session_id: str, limit: int = 200, cursor: str | None = None) -> Page:
        """A page of everything in the session's traces, oldest first.

        SessionNotFound when there is no trace or it cannot be read, InvalidParams for a cursor that is none.
        """
        start = decode_cursor(cursor)
        with _found(session_id):
            return page(traced(self._files(session_id), start), limit)

    def latest(self, session_id: str, limit: int = 200, cursor: str | None = None) -> Page:
        """The last messages of the session's traces before the cursor (default: the end). Errors as of `history`."""
        stop = None if cursor is None else decode_cursor(cursor)
        with _found(session_id):
            files = self._files(session_id)
            return last_page(traced_backwards(files, stop), limit, partial(count_before, files, None))

    def scratchpad(self, session_id: str) -> Path:
        """Where a session keeps files of its own, there or not. SessionNotFound when the id is none."""
        return self._data.scratchpad(session_id)

    def delete(self, session_id: str) -> None:
        """Removes a session's traces, its scratchpad, its page and what was said of its edits.

        SessionNotFound when there is none of them, SessionBusy while any process has the session open. OSError when the
        disk refuses; what is left can be deleted again.
        """
        scratchpad, page = self._data.scratchpad(session_id), self._data.page(session_id)
        if self.exists(session_id) or not (scratchpad.is_dir() or page.is_file()):
            self._delete_traces(session_id)
        if scratchpad.is_dir():
            from shutil import rmtree

            rmtree(scratchpad)
        # Only now: whoever makes the page meanwhile looks afterwards whether the traces are still there.
        for made in (page, self._data.judged(session_id)):
            for one in (made, *made.parent.glob(f".{made.name}.*")):
                one.unlink(missing_ok=True)

    def _delete_traces(self, session_id: str) -> None:
        lock = lock_newest(self._data, session_id)
        try:
            for file in self._data.trace_files(session_id):  # oldest first: what a crash leaves is still the session
                file.path.unlink(missing_ok=True)
            for draft in lock.path.parent.glob(f"{session_id}_*.draft"):
                draft.unlink(missing_ok=True)
        finally:
            lock.close()
        self._seen.pop(session_id, None)
        with contextlib.suppress(OSError):  # there are other sessions of that day
            lock.path.parent.rmdir()

    def _files(self, session_id: str) -> Sequence[TracePath]:
        files = self._data.trace_files(session_id)
        if not files:
            raise SessionNotFound(session_id, "it has no trace")
        return files

    def _newest_first(self) -> Sequence[tuple[str, _Seen]]:
        known, seen = self._seen, dict[str, _Seen]()
        for session_id, files in self._data.all_trace_files().items():
            if looked := _look(files, known.get(session_id)):
                seen[session_id] = looked
        self._seen = seen
        return sorted(seen.items(), key=lambda item: (item[1].updated_at, item[0]), reverse=True)


@contextlib.contextmanager
def _found(session_id: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise SessionNotFound(session_id, f"its trace cannot be read ({error.strerror})") from error


def _look(files: Sequence[TracePath], before: _Seen | None) -> _Seen | None:
    """What is known of a session: as before, if its newest file is as it was. None if the file is gone."""
    path = files[-1].path
    try:
        found = path.stat()
        state = (found.st_ino, found.st_size, found.st_mtime_ns)
        if before and before.files == files and before.state == state:
            return before
        updated_at = last_timestamp(path, found.st_size) or _stamp(found.st_mtime)
    except OSError:
        return None
    seen = _Seen(files, state, updated_at)
    if before:
        seen.scanned = before.scanned
        seen.meta = before.meta if before.files[-1] == files[-1] and before.state[0] == state[0] else None
    return seen


def _stored(session_id: str, seen: _Seen, meta: SessionMeta) -> StoredSession | None:
    try:
        seen.scanned = scan(seen.files, seen.scanned)
    except OSError:
        return None  # deleted, or made unreadable, since it was listed
    return StoredSession(session_id, meta, seen.scanned.shown, seen.updated_at, seen.files[-1].path)


def _stamp(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _meta(seen: _Seen) -> SessionMeta | None:
    if seen.meta is None:
        try:
            read = read_meta(seen.files[-1].path)
        except OSError:
            return None
        if read:
            seen.meta = read.payload.model_copy(update={"system_prompt": ""})  # long, and there may be thousands
    return seen.meta
