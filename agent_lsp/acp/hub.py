"""The sessions of one connection: those that are open, and those that are only on the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.acp.editor import ClientBuffers
from agent_lsp.acp.person import ClientPerson
from agent_lsp.acp.projection import Projection, Speech
from agent_lsp.acp.questions import ClientQuestions
from agent_lsp.acp.settings import modes, options
from agent_lsp.acp.slash import available
from agent_lsp.config.sections import McpServer
from agent_lsp.errors import LimitExceeded, SessionNotFound, WorkspaceInvalid
from agent_lsp.messages.events import SessionUpdate
from agent_lsp.sessions.open_session import Client, Opener, OpenSession, SessionSpec
from agent_lsp.slotted import frozen
from agent_lsp.trace.session_ids import new_session_id

if TYPE_CHECKING:
    from agent_lsp.acp.connection import Connection
    from agent_lsp.engine.ports import Sink, StateChange
    from agent_lsp.messages.envelope import Message
    from agent_lsp.trace.history import Page
    from agent_lsp.trace.store import SessionPage, SessionStore

Servers = Mapping[str, McpServer]
_PAGE = 500


class ClientSink:
    """Where the stream of one session goes, once the client has been told of the session."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.see: Callable[[Message, str | None], None] | None = None

    def push(self, message: Message, run_id: str | None) -> None:
        """Tells of the next message."""
        if self.see:
            self.see(message, run_id)

    def state(self, change: StateChange) -> None:
        """Nothing: the client knows by its own requests what is going on."""

    async def drain(self) -> None:
        """Waits while the client reads too slowly."""
        await self._connection.outbox.drain()


class Served:
    """An open session and this client's side of it."""

    def __init__(self, opened: OpenSession, connection: Connection, opener: Opener, sink: ClientSink) -> None:
        self.opened, self._connection, self._opener, self._sink = opened, connection, opener, sink
        self.speech = Speech(opened.session_id, connection.outbox.chunk)
        self.projection = self._project(live=True)

    def begin(self) -> None:
        """The client knows of the session: it is told what it can do there, and all that happens from now on."""
        self._sink.see = self._see
        commands = available(self.opened.commands())
        self.tell({"sessionUpdate": "available_commands_update", "availableCommands": commands})

    async def replay(self) -> None:
        """Tells the client of everything that has happened so far."""
        trace, projection = self.opened.trace, self._project(live=False)
        until, cursor = trace.end(), None
        while True:
            page: Page = await asyncio.to_thread(trace.history, _PAGE, cursor, until)
            for message in page.messages:
                projection.see(message, None)
            await self._connection.outbox.drain()
            if (cursor := page.next_cursor) is None:
                break
        projection.calls.end(None)

    def tell(self, update: dict[str, object]) -> None:
        """Sends one update."""
        self._connection.update(self.opened.session_id, update)

    def settings(self) -> dict[str, object]:
        """What a client is told of a session that it opens."""
        return {"modes": modes(self.opened), "configOptions": options(self.opened, self._opener.models)}

    def _see(self, message: Message, run_id: str | None) -> None:
        self.projection.see(message, run_id)
        if isinstance(change := message.payload, SessionUpdate) and message.origin is None:
            self._settings_changed(change)

    def _settings_changed(self, change: SessionUpdate) -> None:
        if change.approval_mode:
            self.tell({"sessionUpdate": "current_mode_update", "currentModeId": change.approval_mode})
        if change.approval_mode or change.model or change.thinking_level or change.mode:
            current = options(self.opened, self._opener.models)
            self.tell({"sessionUpdate": "config_option_update", "configOptions": current})

    def _project(self, *, live: bool) -> Projection:
        return Projection(self.tell, self.speech, self.opened.toolset, self.opened.workspace, live=live)


@frozen
class Wanted:
    """Where a client wants to work, and with which servers of tools besides the configured ones."""

    cwd: Path
    servers: Servers


class Hub:
    """The sessions that one client has opened."""

    def __init__(self, connection: Connection, opener: Opener, store: SessionStore, max_sessions: int) -> None:
        self.opener = opener
        self._connection, self._store, self._max_sessions = connection, store, max_sessions
        self._open: dict[str, Served] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def create(self, wanted: Wanted) -> Served:
        """Opens a new session. Raises LimitExceeded, WorkspaceInvalid, ModelUnavailable or InvalidParams."""
        if problem := _not_a_folder(wanted.cwd):
            raise WorkspaceInvalid(f"{wanted.cwd} {problem}", hint="name an existing folder as cwd")
        session_id, spec = new_session_id(), SessionSpec(wanted.cwd)
        return self._serve(session_id, wanted, lambda client: self.opener.open(session_id, spec, client))

    def resume(self, session_id: str, wanted: Wanted) -> Served:
        """Goes on with a session that is only on the disk; one that is open stays as it is.

        Raises SessionNotFound, SessionBusy, LimitExceeded, ModelUnavailable or WorkspaceInvalid.
        """
        if served := self._open.get(session_id):
            return served
        return self._serve(session_id, wanted, lambda client: self.opener.resume(session_id, client))

    def fork(self, source_id: str, wanted: Wanted) -> Served:
        """Opens a new session with what another one has committed."""
        session_id = new_session_id()
        return self._serve(session_id, wanted, lambda client: self.opener.fork(source_id, None, session_id, client))

    def _serve(self, session_id: str, wanted: Wanted, open_session: Callable[[Client], OpenSession]) -> Served:
        if len(self._open) >= self._max_sessions:
            raise LimitExceeded(
                f"{self._max_sessions} sessions are open", hint="close one, or raise limits.max_sessions"
            )
        connection = self._connection
        sink, person = ClientSink(connection), ClientPerson(connection, session_id, wanted.cwd)
        questions, buffers = ClientQuestions(connection, session_id), ClientBuffers(connection, session_id, wanted.cwd)
        opened = open_session(Client(sink, person, questions, buffers, servers=wanted.servers))
        person.proposals = opened.toolset
        served = self._open[session_id] = Served(opened, connection, self.opener, sink)
        return served

    def get(self, session_id: str) -> Served:
        """An open session. Raises SessionNotFound."""
        served = self._open.get(session_id)
        if served is None:
            raise SessionNotFound(session_id)
        return served

    def find(self, session_id: str) -> Served | None:
        """An open session, if it is one."""
        return self._open.get(session_id)

    def sessions(self) -> tuple[Served, ...]:
        """All that are open."""
        return tuple(self._open.values())

    def list(self, cwd: Path | None, cursor: str | None) -> SessionPage:
        """A page of the sessions on the disk, newest first."""
        return self._store.list(str(cwd) if cwd else None, cursor=cursor)

    def is_known(self, session_id: str) -> bool:
        """Whether there is such a session, open or not."""
        return session_id in self._open or self._store.exists(session_id)

    def close(self, session_id: str) -> asyncio.Task[None]:
        """Gives up a session and ends it, whether or not anybody waits for that. Raises SessionNotFound."""
        served = self.get(session_id)
        del self._open[session_id]
        task = self._connection.spawn(served.opened.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
        return task

    async def delete(self, session_id: str, closing: asyncio.Task[None] | None) -> None:
        """Removes a session's traces and scratchpad, once it is closed. Raises SessionNotFound or SessionBusy."""
        if closing:
            await asyncio.shield(closing)
            if not self._store.exists(session_id):
                return  # it never ran, so there is nothing on the disk
        await asyncio.to_thread(self._store.delete, session_id)

    async def close_all(self) -> None:
        """Ends everything."""
        served, self._open = list(self._open.values()), {}
        await asyncio.gather(*(one.opened.close() for one in served), *self._closing)


def _not_a_folder(path: Path) -> str | None:
    """Why nobody can work there, None if one can."""
    try:
        return None if path.is_dir() else "is not a directory" if path.exists() else "does not exist"
    except OSError as error:
        return f"cannot be looked at: {error.strerror}"


if TYPE_CHECKING:
    _: type[Sink] = ClientSink
