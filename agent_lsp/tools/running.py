"""One running tool: its own task, so that whoever waits can stop waiting though the tool does not listen."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from agent_lsp.tools.tool import End, Tool

if TYPE_CHECKING:
    from pydantic import BaseModel


class RunningTool:
    """Hands out what the tool yields, one piece at a time; the tool goes on when its piece was taken.

    It ends once: by its `End`, by an exception, by its time-out or by `cancel`. What comes later is dropped.
    """

    def __init__(self, tool: Tool[Any], args: BaseModel, on_error: Callable[[Exception], End]) -> None:
        self._tool, self._args, self._on_error = tool, args, on_error
        self._pieces = deque[str]()
        self._news, self._room = asyncio.Event(), asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self.end: End | None = None
        self.task = asyncio.create_task(self._pump())

    def time_out_after(self, timeout_s: float) -> None:
        """Ends the tool when it has run this long."""
        self._timer = asyncio.get_running_loop().call_later(timeout_s, self._time_out, timeout_s)

    async def next(self) -> str | None:
        """The next piece of text; None when the tool has ended and `end` is set."""
        while not self._pieces:
            if self.end:
                return None
            self._room.set()
            self._news.clear()
            await self._news.wait()
        return self._pieces.popleft()

    def cancel(self) -> None:
        """Stops the timer and, if the tool is still at it, the tool. Waits for nothing."""
        if self._timer:
            self._timer.cancel()
        if self.end is None:
            self._finish(End(stop_reason="aborted"))
            self.task.cancel()

    def _time_out(self, timeout_s: float) -> None:
        if self.end is None:
            self._finish(End(note=f"[tool timeout: exceeded {round(timeout_s * 1000)} ms]", stop_reason="failed"))
            self.task.cancel()

    def _finish(self, end: End) -> None:
        if self.end is None:
            self.end = end
            self._news.set()
            self._room.set()

    async def _pump(self) -> None:
        try:
            async with aclosing(self._tool.run(self._args)) as items:
                async for item in items:
                    if isinstance(item, End):
                        self._finish(item)
                        return
                    await self._put(item)
            self._finish(End())
        except Exception as error:
            self._finish(self._on_error(error))
        finally:
            self._finish(End(note="[the tool cancelled itself]", stop_reason="failed"))

    async def _put(self, piece: str) -> None:
        if self.end is None and piece:
            self._pieces.append(piece)
            self._news.set()
            self._room.clear()
            await self._room.wait()
