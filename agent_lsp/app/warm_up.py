"""What the first request of a session needs is imported while the person types."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from importlib import import_module

CLIENT = "agent_lsp.providers.http"
"""The module that brings the HTTP client."""

_ANSWER_S = 0.005
"""A thread that imports holds the interpreter for 5 ms at a time: the answer that a client waits for goes out first."""


class WarmUp:
    """Imports of one process, in threads, each begun once."""

    def __init__(self) -> None:
        self._begun: set[Hashable] = set()
        self._waiting: list[asyncio.TimerHandle] = []
        self._going: set[asyncio.Future[None]] = set()

    def begin(self, work: Callable[[], None]) -> None:
        """Has the work done soon, unless it has been begun before."""
        if work not in self._begun:
            self._begun.add(work)
            self._waiting.append(asyncio.get_running_loop().call_later(_ANSWER_S, self._do, work))

    async def close(self) -> None:
        """Waits for what goes on; nothing begins any more."""
        for one in self._waiting:
            one.cancel()
        if self._going:
            await asyncio.wait(self._going)

    def _do(self, work: Callable[[], None]) -> None:
        going = asyncio.get_running_loop().run_in_executor(None, work)
        self._going.add(going)
        going.add_done_callback(self._going.discard)


def import_engine() -> None:
    """Imports what tasks consist of."""
    import_module("agent_lsp.engine.loop")


def import_client() -> None:
    """Imports the HTTP client."""
    import_module(CLIENT)
