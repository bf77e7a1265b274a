"""The wait between two attempts: announced, skipped by a person, ended by an interrupt."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_lsp.engine.ports import StateChange

if TYPE_CHECKING:
    from agent_lsp.engine.calls import LiveCall
    from agent_lsp.engine.interrupt import Interrupt
    from agent_lsp.engine.runtime import Runtime


class Pause:
    """The waits of one turn or compaction, one at a time."""

    def __init__(self, runtime: Runtime, interrupt: Interrupt, after: StateChange) -> None:
        self._runtime, self._interrupt, self._after = runtime, interrupt, after
        self._wait: asyncio.Future[None] | None = None

    def skip(self) -> bool:
        """Ends the present wait; false when nothing waits."""
        if self._wait is None or self._wait.done():
            return False
        self._wait.set_result(None)
        return True

    async def wait(self, wait_ms: int, attempt: int, calls: Iterable[LiveCall] = ()) -> bool:
        """Waits after attempt `attempt`, and for the calls that still run; false when interrupted."""
        loop = asyncio.get_running_loop()
        self._wait = loop.create_future()
        timer = loop.call_later(wait_ms / 1000, _resolve, self._wait)
        self._runtime.set_state(StateChange("reconnecting", attempt=attempt, retry_in_ms=wait_ms))
        waited = await self._interrupt.wait(self._wait)
        timer.cancel()
        self._wait = None
        if waited and await self._interrupt.wait_all(call.settled for call in calls):
            self._runtime.set_state(self._after)
            return True
        return False


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
