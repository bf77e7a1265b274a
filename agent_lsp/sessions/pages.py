"""Pages to look at in a browser: a session's trace, and what was used.

They are made by the command line, in a process of its own: a trace may have 50 MB, and the event loop serves others.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_lsp.errors import RequestRefused, SessionNotFound
from agent_lsp.policy.visible import visible_line
from agent_lsp.trace.paths import DataDir, make_private

if TYPE_CHECKING:
    from agent_lsp.tools.processes import Commands

WITHIN_S = 300.0
"""A page that takes longer is given up."""
PROGRAM = (sys.executable, "-P", "-m", "agent_lsp")
"""-P: nothing that lies where it runs is one of its modules."""
_SAYS = "agent-lsp: "


class Pages:
    """Makes pages, one at a time; a file is replaced as a whole, and only its owner can read it.

    `commands` end with the server. `prices` are those in force, as `usage.prices.PriceList.written` gives them;
    `recorded` blocks until everything that was used is in the database.
    """

    def __init__(
        self,
        data: DataDir,
        commands: Commands,
        prices: Callable[[], str],
        recorded: Callable[[], object],
    ) -> None:
        self._data, self._commands, self._prices, self._recorded = data, commands, prices, recorded
        self._one_at_a_time = asyncio.Lock()

    def of_session(self, session_id: str) -> Coroutine[Any, Any, Path]:
        """The page of a session's trace as of now. Raises SessionNotFound, and RequestRefused when it is awaited.

        Cancelling ends the process.
        """
        page = self._data.page(session_id)
        self._check(session_id)
        return self._of_session(session_id, page)

    async def _of_session(self, session_id: str, page: Path) -> Path:
        await self._make(page, "trace", "html", session_id, "--prices", "-", "-o", given=self._prices())
        self._check(session_id, made=page)
        return page

    async def of_usage(self) -> Path:
        """The page of what was used in the last days, by all sessions. Raises RequestRefused."""
        await asyncio.to_thread(self._recorded)
        page = self._data.usage_page
        await self._make(page, "usage", "--html")
        return page

    def _check(self, session_id: str, made: Path | None = None) -> None:
        """Raises SessionNotFound where there is no trace; of one that was deleted there shall be no page either."""
        if not self._data.trace_files(session_id):
            if made:
                made.unlink(missing_ok=True)
            error = SessionNotFound(session_id, "it has nothing on the disk")
            error.hint = "run a prompt first"
            raise error

    async def _make(self, page: Path, *words: str, given: str = "") -> None:
        """Has the page written by the command that these words, and a path, are."""
        async with self._one_at_a_time:
            fresh = page.with_name(f".{page.name}.{secrets.token_hex(4)}")
            try:
                make_private(page.parent)
                _forget_torn(page.parent)
                await self._run(*words, str(fresh), "--data-dir", str(self._data.root), given=given)
                fresh.replace(page)
            except OSError as error:
                raise RequestRefused(f"the page {page} was not made: {error.strerror or error}") from error
            finally:
                with contextlib.suppress(OSError):
                    fresh.unlink()

    async def _run(self, *words: str, given: str) -> None:
        try:
            async with asyncio.timeout(WITHIN_S):
                said, status = await self._commands.capture((*PROGRAM, *words), self._data.root, given)
        except TimeoutError:
            raise RequestRefused(f"the page was not made within {WITHIN_S:.0f} s") from None
        if status != 0:
            raise RequestRefused(f"the page was not made: {_reason(said, status)}")


def _reason(said: str, status: int) -> str:
    """Why a command has failed: its complaint, else the last it said, as one line."""
    lines = [line for line in said.splitlines() if line.strip()]
    complaints = [line.removeprefix(_SAYS) for line in lines if line.startswith(_SAYS)]
    last = (complaints or lines)[-1:]
    return visible_line(last[0], 400) if last else f"its process ended with {status}"


def _forget_torn(folder: Path) -> None:
    """Removes what servers that were killed have left; what is younger may still be written by another one."""
    for torn in folder.glob(".*.html.*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - torn.stat().st_mtime > WITHIN_S:
                torn.unlink()
