"""Saves documents in the editor after an edit, where it can be asked to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from agent_lsp.wire.peer_errors import ConnectionLost, PeerError

if TYPE_CHECKING:
    from agent_lsp.server.connection import Connection
    from agent_lsp.server.documents.document import Document

_PATIENCE_S = 10.0  # people have formatters run when a file is saved
_INFO = 3  # MessageType


class Saving:
    """One for a connection: that files stay unsaved is said to the person once."""

    def __init__(self, connection: Connection, can_save: bool) -> None:
        self._connection, self._can_save = connection, can_save
        self._has_said_so = False

    async def save(self, document: Document, text: str) -> list[str]:
        """Has the document saved, whose text should be this one; notes for the model if it is left unsaved."""
        name = document.path.name if document.path else document.uri
        if document.text != text:
            return [f"[{name} was left unsaved in the editor: somebody is typing in it]"]
        if not self._can_save:
            self._say_once()
            return [f"[{name} was edited in the editor and is not saved: this editor cannot be asked to save]"]
        if not await self._ask(document):
            return [f"[{name} was edited in the editor, which could not save it: it is unsaved]"]
        return []

    async def _ask(self, document: Document) -> bool:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                answer = await self._connection.request("agent/saveDocument", {"uri": document.uri})
        except (PeerError, ConnectionLost, TimeoutError):
            return False
        return isinstance(answer, dict) and cast("dict[str, Any]", answer).get("saved") is True

    def _say_once(self) -> None:
        if not self._has_said_so:
            self._has_said_so = True
            message = "The agent's edits of open files are left unsaved: save them yourself when you have seen them."
            self._connection.notify("window/showMessage", {"type": _INFO, "message": message})
