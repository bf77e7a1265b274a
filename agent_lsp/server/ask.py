"""Asks the person behind a client a question of the model's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from agent_lsp.wire.peer_errors import ConnectionLost, PeerError

if TYPE_CHECKING:
    from agent_lsp.server.connection import Connection

_INFO = 3  # MessageType


class ClientQuestions:
    """Puts the questions of one session: by `agent/ask`, else as a message with buttons (`tools.ask_user.Ask`)."""

    def __init__(self, connection: Connection, session_id: str) -> None:
        self._connection, self._session_id = connection, session_id

    async def __call__(self, question: str, options: Sequence[str], *, multiple: bool) -> str | list[str] | None:
        """The answer; None when the person gives none, or the client cannot put such a question."""
        try:
            if self._connection.greeted.client.can("ask"):
                return await self._ask(question, options, multiple)
            return await self._show(question, options) if options and not multiple else None
        except (PeerError, ConnectionLost):
            return None

    async def _ask(self, question: str, options: Sequence[str], multiple: bool) -> str | list[str] | None:
        params = {"sessionId": self._session_id, "question": question, "options": options, "multiple": multiple}
        answer = _field(await self._connection.request("agent/ask", params), "answer")
        if isinstance(answer, list):
            return [one for one in cast("list[Any]", answer) if isinstance(one, str)]
        return answer if isinstance(answer, str) else None

    async def _show(self, question: str, options: Sequence[str]) -> str | None:
        params = {"type": _INFO, "message": question, "actions": [{"title": option} for option in options]}
        title = _field(await self._connection.request("window/showMessageRequest", params), "title")
        return title if title in options else None


def _field(result: Any, name: str) -> Any:
    return cast("dict[str, Any]", result).get(name) if isinstance(result, dict) else None
