"""Code lenses on what the agent has edited and nobody has kept yet: *Keep*, *Undo*, *Show diff*."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from agent_lsp.errors import InvalidParams
from agent_lsp.policy.private_file import write_private
from agent_lsp.server.documents.store import file_of
from agent_lsp.server.methods import Params
from agent_lsp.server.plain_actions import DocumentId
from agent_lsp.server.plain_answers import MOST_CHARS, Answers
from agent_lsp.server.plain_arguments import ExecuteParams, argument
from agent_lsp.server.plain_capabilities import EDIT_COMMANDS, refreshes_lenses
from agent_lsp.tools.diff import unified_diff
from agent_lsp.wire.peer_errors import ConnectionLost, PeerError
from agent_lsp.wire.service import Call, Method

if TYPE_CHECKING:
    from agent_lsp.engine.session import Session
    from agent_lsp.server.connection import Connection
    from agent_lsp.server.edits import EditInfo, EditList
    from agent_lsp.server.hub import Hub
    from agent_lsp.sessions.open_session import OpenSession

_TITLES = ("Keep", "Undo", "Show diff")

_log = logging.getLogger(__name__)


class LensParams(Params):
    """`textDocument/codeLens`."""

    text_document: DocumentId


class ChosenEdit(Params):
    """The argument of a lens's command."""

    session_id: str
    edit_id: str


class Lenses:
    """What an editor without a plugin shows of pending edits. `methods` are those of the protocol."""

    def __init__(self, connection: Connection, hub: Hub, methods: Mapping[str, Method[Any]], answers: Answers) -> None:
        self._connection, self._hub, self._methods, self._answers = connection, hub, methods, answers
        self._watched: WeakSet[Session] = WeakSet()
        self._refreshing: asyncio.Task[None] | None = None
        self._is_stale = False

    def requests(self) -> dict[str, Method[Any]]:
        """The methods, by name."""
        return {"textDocument/codeLens": Method(LensParams, self.lenses)}

    def commands(self) -> dict[str, Callable[[ExecuteParams, Call], Any]]:
        """The commands, by name."""
        return dict(zip(EDIT_COMMANDS, (self._keep, self._undo, self._show), strict=True))

    def watch(self, opened: OpenSession) -> None:
        """Has the client ask for lenses again whenever the session's edits are others."""
        if opened.session not in self._watched:
            self._watched.add(opened.session)
            opened.files.edits.listen(self._changed)

    def lenses(self, params: LensParams, call: Call) -> list[dict[str, Any]]:
        """`textDocument/codeLens`: those of all sessions."""
        wanted = file_of(params.text_document.uri)
        found: list[dict[str, Any]] = []
        for opened in self._hub.sessions() if wanted else ():
            self.watch(opened)
            listed: EditList = self._methods["agent/edits"].serve(call, sessionId=opened.session_id)
            for edit in listed.edits:
                if edit.state == "pending" and file_of(edit.uri) == wanted:
                    found += _written(edit, opened.session_id)
        return found

    # --- commands -----------------------------------------------------------------------------------------------------

    def _keep(self, params: ExecuteParams, call: Call) -> Awaitable[EditList]:
        chosen = argument(params.arguments, 0, ChosenEdit)
        return self._methods["agent/edits/keep"].serve(call, sessionId=chosen.session_id, editIds=[chosen.edit_id])

    def _undo(self, params: ExecuteParams, call: Call) -> Awaitable[EditList]:
        chosen = argument(params.arguments, 0, ChosenEdit)
        method = self._methods["agent/edits/undo"]
        return self._undone(method.serve(call, sessionId=chosen.session_id, editIds=[chosen.edit_id]))

    async def _undone(self, result: Awaitable[EditList]) -> EditList:
        answer = await result
        for edit in answer.edits:
            if edit.reason:
                self._answers.say("warning", f"The edit was not undone: {edit.reason}")
        return answer

    def _show(self, params: ExecuteParams, _: Call) -> Awaitable[dict[str, Any]]:
        chosen = argument(params.arguments, 0, ChosenEdit)
        opened = self._hub.get(chosen.session_id).session
        found = opened.files.edits.texts(chosen.edit_id)
        if found is None:
            raise InvalidParams(
                "invalid params: arguments[0].editId", [("arguments[0].editId", "is no edit's any more")]
            )
        path, before, after = found
        name = str(path.relative_to(opened.workspace)) if path.is_relative_to(opened.workspace) else str(path)
        return self._shown(opened.session_id, chosen.edit_id, name, (before, after))

    async def _shown(
        self, session_id: str, edit_id: str, name: str, texts: tuple[str | None, str | None]
    ) -> dict[str, Any]:
        """Answered before it is opened, as the transcript is; a client that opens nothing gets a short one as it is."""
        diff = await asyncio.to_thread(unified_diff, name, *texts)
        path = self._hub.scratchpad(session_id) / "diffs" / f"{edit_id}.diff"
        if not self._answers.can_open and len(diff) <= MOST_CHARS:
            self._answers.say("info", diff)
            return {"diff": diff}
        try:
            await asyncio.to_thread(write_private, path, diff.encode("utf-8", "backslashreplace"))
        except OSError as error:
            self._answers.say("warning", f"{path} could not be written: {error.strerror}")
            return {"diff": diff}
        self._connection.spawn(self._answers.open(path))
        return {"diff": diff}

    # --- refreshing ---------------------------------------------------------------------------------------------------

    def _changed(self) -> None:
        """One request at a time; what changes while it is open is one more."""
        if not refreshes_lenses(self._connection.greeted.client.capabilities):
            return
        self._is_stale = True
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = self._connection.spawn(self._refresh())

    async def _refresh(self) -> None:
        while self._is_stale:
            self._is_stale = False
            try:
                await self._connection.request("workspace/codeLens/refresh")
            except (PeerError, ConnectionLost) as error:
                _log.info("the lenses were not refreshed: %s", error.message)


def _written(edit: EditInfo, session_id: str) -> list[dict[str, Any]]:
    """The lenses of an edit: LSP wants each on a single line, the first one of the edit."""
    start = edit.range.start.model_dump()
    place, chosen = {"start": start, "end": start}, {"sessionId": session_id, "editId": edit.edit_id}
    return [
        {"range": place, "command": {"title": title, "command": command, "arguments": [chosen]}}
        for title, command in zip(_TITLES, EDIT_COMMANDS, strict=True)
    ]
