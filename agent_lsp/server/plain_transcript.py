"""The transcript of a session: a Markdown file beside its other files, for its owner's eyes only."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.policy.private_file import write_private
from agent_lsp.server.plain_markdown import Markdown, heading
from agent_lsp.trace.history import End, encode_cursor

if TYPE_CHECKING:
    from agent_lsp.sessions.open_session import OpenSession

_PAGE = 500
_UNNAMED = "A session of the agent"


class Transcript:
    """Follows the trace of one open session. What was rendered is kept: each message is read once.

    `is_shown`: the client was asked to open it.
    """

    def __init__(self, opened: OpenSession, scratchpad: Path) -> None:
        self.is_shown = False
        self.path = scratchpad / "transcript.md"
        self._opened = opened
        self._markdown = Markdown()
        self._body: list[str] = []
        self._cursor: str | None = None
        self._writing = asyncio.Lock()

    async def write(self) -> None:
        """Brings the file up to what has been traced by now. Raises `OSError`, and may then be called again."""
        async with self._writing:
            until = self._opened.trace.end()
            top = heading(self._opened.title or _UNNAMED, (str(self._opened.workspace), self._opened.model.name))
            await asyncio.to_thread(self._catch_up, until, top)

    def _catch_up(self, until: End, top: str) -> None:
        while True:
            page = self._opened.trace.history(_PAGE, self._cursor, until)
            self._body += filter(None, map(self._markdown.add, page.messages))
            self._cursor = page.next_cursor
            if page.next_cursor is None:
                break
        last = until.unwritten[-1].end if until.unwritten else until.written
        self._cursor = encode_cursor(last)
        write_private(self.path, (top + "".join(self._body)).encode("utf-8", "backslashreplace"))
