"""Work-done progress of a run: begins with its title, reports per turn and tool, ends with its status."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from agent_lsp.loop.options import RESERVED
from agent_lsp.messages.content import ToolCall
from agent_lsp.messages.events import RequestBegin, RequestEnd
from agent_lsp.wire.peer_errors import ConnectionLost, PeerError

if TYPE_CHECKING:
    from agent_lsp.messages.envelope import Message
    from agent_lsp.server.connection import Connection

Token = str | int


def new_token() -> str:
    """A token of the server's own."""
    return f"agent-{uuid.uuid4().hex[:12]}"


class Progress:
    """The progress of one run, under one token."""

    def __init__(self, connection: Connection, token: Token, title: str) -> None:
        self.token = token
        self._connection, self._title = connection, title
        self._turn = 1
        self._begun = self._ended = False

    def begin(self) -> None:
        """Shows it, unless it has ended already: a client may take its time to create a token."""
        if self._ended:
            return
        self._begun = True
        self._say({"kind": "begin", "title": self._title, "cancellable": True})

    async def create_and_begin(self) -> None:
        """Asks the client for its own token first; a client that refuses gets no progress."""
        try:
            await self._connection.request("window/workDoneProgress/create", {"token": self.token})
        except (PeerError, ConnectionLost):
            return
        self.begin()

    def see(self, message: Message) -> None:
        """Reports what a person would want to know."""
        match message.payload:
            case RequestEnd(status="completed"):
                self._turn += 1
            case RequestBegin():
                self._report(f"turn {self._turn}")
            case ToolCall(name=name) if name not in RESERVED:
                self._report(f"turn {self._turn} · {name}")
            case _:
                pass

    def end(self, status: str) -> None:
        """Takes it away."""
        self._ended = True
        if self._begun:
            self._say({"kind": "end", "message": status})

    def _report(self, text: str) -> None:
        if self._begun:
            self._say({"kind": "report", "message": text, "cancellable": True})

    def _say(self, value: dict[str, object]) -> None:
        self._connection.notify("$/progress", {"token": self.token, "value": value})
