"""The sessions of one connection: which are open, which is the current one, and those that are only on the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.errors import InvalidParams, LimitExceeded, SessionNotFound, WorkspaceInvalid
from agent_lsp.server.approve import ClientPerson
from agent_lsp.server.ask import ClientQuestions
from agent_lsp.server.documents.store import Documents
from agent_lsp.server.editor import ClientEditor
from agent_lsp.server.methods import SessionInfo
from agent_lsp.server.plain_person import PlainPerson
from agent_lsp.server.stream import StreamSink
from agent_lsp.server.uris import uri_of
from agent_lsp.sessions.open_session import Client, Opener, OpenSession, SessionSpec
from agent_lsp.slotted import field, frozen
from agent_lsp.trace.session_ids import new_session_id

if TYPE_CHECKING:
    from agent_lsp.engine.tasks import Ticket
    from agent_lsp.server.connection import Connection
    from agent_lsp.server.shapes import Input
    from agent_lsp.trace.history import Page
    from agent_lsp.trace.store import SessionStore, StoredSession


@frozen
class Served:
    """An open session and this client's side of it. `given` holds inputs as they were sent, by run and steer id."""

    session: OpenSession
    sink: StreamSink
    person: ClientPerson | PlainPerson
    given: dict[str, Input] = field(default_factory=dict)

    def forget_settled(self) -> None:
        """Lets go of the inputs of runs that began and of steering that was delivered."""
        session = self.session.session
        waiting = {one.run_id for one in session.waiting()} | {one.steer_id for one in session.undelivered()}
        for id in self.given.keys() - waiting:
            del self.given[id]


class Hub:
    """The sessions that one client has opened. `current` is the last one created, resumed or run."""

    def __init__(self, connection: Connection, opener: Opener, store: SessionStore, max_sessions: int) -> None:
        self.opener = opener
        self.editor = ClientEditor(connection, Documents(connection.greeted.client.position_encoding))
        self._connection, self._store, self._max_sessions = connection, store, max_sessions
        self._open: dict[str, Served] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._current: str | None = None

    def create(self, spec: SessionSpec, promised_id: str | None = None) -> Served:
        """Opens a new session, which becomes the current one, under the id that its client was told already, if any.

        Raises LimitExceeded, WorkspaceInvalid, ModelUnavailable or InvalidParams.
        """
        self._make_room()
        if problem := _not_a_folder(spec.workspace):
            raise WorkspaceInvalid(f"{spec.workspace} {problem}", hint="name an existing folder as workspace")
        session_id = promised_id or new_session_id()
        return self._serve(session_id, lambda client: self.opener.open(session_id, spec, client))

    def resume(self, session_id: str) -> Served:
        """Goes on with a session that is only on the disk; it becomes the current one. One that is open stays open.

        Raises SessionNotFound, SessionBusy, LimitExceeded, ModelUnavailable or WorkspaceInvalid.
        """
        if served := self._open.get(session_id):
            self.select(served)
            return served
        self._make_room()
        return self._serve(session_id, lambda client: self.opener.resume(session_id, client))

    def fork(self, source_id: str, at_turn: int | None) -> Served:
        """Opens a new session with what another one has committed; it becomes the current one."""
        self._make_room()
        session_id = new_session_id()
        return self._serve(session_id, lambda client: self.opener.fork(source_id, at_turn, session_id, client))

    def _make_room(self) -> None:
        if len(self._open) >= self._max_sessions:
            raise LimitExceeded(
                f"{self._max_sessions} sessions are open", hint="close one, or raise limits.maxSessions"
            )

    def _serve(self, session_id: str, open_session: Callable[[Client], OpenSession]) -> Served:
        connection = self._connection
        sink = StreamSink(connection, session_id)
        client = connection.greeted.client
        person = (
            PlainPerson(connection, session_id)
            if client.plain
            else ClientPerson(connection, session_id, client.can("approve"))
        )
        opened = open_session(Client(sink, person, ClientQuestions(connection, session_id), self.editor))
        served = self._open[session_id] = Served(opened, sink, person)
        self._current = session_id
        return served

    def get(self, session_id: str | None) -> Served:
        """An open session; the current one for None. Raises SessionNotFound."""
        wanted = self._current if session_id is None else session_id
        served = self._open.get(wanted) if wanted else None
        if served is None:
            raise SessionNotFound(wanted or None)
        return served

    @property
    def has_current(self) -> bool:
        """Whether a method that names no session has one to mean."""
        return self._current is not None

    def sessions(self) -> tuple[OpenSession, ...]:
        """All that are open."""
        return tuple(served.session for served in self._open.values())

    def find(self, session_id: str) -> Served | None:
        """An open session, if it is one."""
        return self._open.get(session_id)

    def current_or_new(self, session_id: str | None) -> Served:
        """The session of a run: the named one, the current one, or a new one when there is none."""
        if session_id is None and self._current is None:
            return self.create(SessionSpec(self.opener.workspace))
        return self.get(session_id)

    def select(self, served: Served) -> None:
        """Makes the session the current one."""
        self._current = served.session.session_id

    def close(self, session_id: str) -> asyncio.Task[None]:
        """Gives up a session and ends it, whether or not anybody waits for that. Raises SessionNotFound."""
        opened = self.get(session_id).session
        del self._open[opened.session_id]
        if self._current == opened.session_id:
            self._current = None
        task = self._connection.spawn(opened.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
        return task

    async def abort_all(self) -> None:
        """Ends every run, queued ones too; returns when all of their results are there."""
        tickets = [(served.session.session, ticket) for served in self._open.values() for ticket in _unfinished(served)]
        for session, ticket in tickets:
            session.cancel(ticket)
        compactions = [one for served in self._open.values() if (one := served.session.session.compaction())]
        for compaction in compactions:
            compaction.interrupt.fire()
        ends = [*(ticket.result for _, ticket in tickets), *(compaction.result for compaction in compactions)]
        if ends:
            await asyncio.wait(ends)

    async def close_all(self) -> None:
        """Ends everything."""
        served, self._open, self._current = list(self._open.values()), {}, None
        await asyncio.gather(*(one.session.close() for one in served), *self._closing)

    def list(self, workspace: Path | None, limit: int, cursor: str | None) -> tuple[list[SessionInfo], str | None]:
        """A page of sessions, newest first: those on the disk, and on the first page the open ones that are not."""
        page = self._store.list(str(workspace) if workspace else None, limit, cursor)
        listed = [self._told(stored) for stored in page.sessions]
        on_disk = {stored.session_id for stored in page.sessions}
        if cursor is None:
            fresh = [
                info(one.session)
                for id, one in self._open.items()
                if id not in on_disk and not self._store.exists(id) and workspace in (None, one.session.workspace)
            ]
            listed = [*fresh, *listed]
        listed.sort(key=lambda session: session.updated_at, reverse=True)
        return listed, page.next_cursor

    async def delete(self, session_id: str, closing: asyncio.Task[None] | None) -> None:
        """Removes a session's traces, scratchpad and page, once it is closed. Raises SessionNotFound or SessionBusy."""
        if closing:
            await asyncio.shield(closing)
            if not self._store.exists(session_id):
                return  # it never ran, so there is nothing on the disk
        await asyncio.to_thread(self._store.delete, session_id)

    def scratchpad(self, session_id: str) -> Path:
        """Where a session keeps files of its own, there or not."""
        return self._store.scratchpad(session_id)

    def stored_history(self, session_id: str, limit: int, cursor: str | None, *, from_end: bool) -> Page:
        """A page of the history of a session that is only on the disk. Raises SessionNotFound or InvalidParams."""
        read = self._store.latest if from_end else self._store.history
        return read(session_id, limit, cursor)

    def _told(self, stored: StoredSession) -> SessionInfo:
        served = self._open.get(stored.session_id)
        told = info(served.session) if served else stored_info(stored)
        return told if told.title else told.model_copy(update={"title": stored.name})


def _not_a_folder(path: Path) -> str | None:
    """Why nobody can work there, None if one can."""
    try:
        return None if path.is_dir() else "is not a directory" if path.exists() else "does not exist"
    except OSError as error:
        return f"cannot be looked at: {error.strerror}"


def _unfinished(served: Served) -> list[Ticket]:
    """The runs of a session, those that wait first, so that none of them begins when the one before it is cancelled."""
    current = served.session.session.current()
    return [*served.session.session.waiting(), *([current] if current else [])]


def info(opened: OpenSession) -> SessionInfo:
    """What is told of an open session."""
    session, endpoint = opened.session, opened.model.endpoint
    return SessionInfo(
        session_id=opened.session_id,
        title=opened.title,
        workspace=uri_of(opened.workspace),
        model={"provider": endpoint.provider, "model": endpoint.model},
        mode=opened.mode,
        approval_mode=opened.grants.mode,
        thinking_level=session.thinking_level,
        state=session.state.state,
        created_at=opened.meta.created_at,
        updated_at=opened.updated_at,
        turns=session.turns,
        usage=session.usage,
        context_tokens=session.context_tokens,
        context_window=endpoint.context_window,
        compaction_at=session.options.compaction_at,
        trace_path=str(opened.trace.path) if opened.trace.path else None,
        parent_id=opened.meta.parent_id,
    )


def stored_info(stored: StoredSession) -> SessionInfo:
    """What is told of a session that is only on the disk."""
    provider, _, model = stored.model.partition("/")
    totals = stored.totals
    return SessionInfo(
        session_id=stored.session_id,
        title=stored.title,
        workspace=uri_of(Path(stored.meta.workspace)),
        model={"provider": provider, "model": model},
        mode=stored.mode,
        approval_mode=totals.settings.approval_mode or "ask",
        thinking_level=totals.settings.thinking_level,
        state="idle",
        created_at=stored.meta.created_at,
        updated_at=stored.updated_at,
        turns=totals.turns,
        usage=totals.usage,
        context_tokens=totals.context_tokens,
        context_window=stored.meta.model_context_window,
        compaction_at=totals.compaction_at,
        trace_path=str(stored.trace_path),
        parent_id=stored.meta.parent_id,
    )


def refuse(field: str, why: str) -> InvalidParams:
    """One wrong field."""
    return InvalidParams(f"invalid params: {field}", [(field, why)])
