"""The interrupt of one run: a signal that ends waits, and cancels nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any


class Interrupt:
    """Fired at most once; the first reason stands."""

    def __init__(self) -> None:
        self._fired: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._released: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.reason: str | None = None

    @property
    def is_fired(self) -> bool:
        """Whether the run has been interrupted."""
        return self._fired.done()

    def fire(self, reason: str | None = None) -> None:
        """Interrupts the run; again: nothing."""
        if not self._fired.done():
            self.reason = reason
            self._fired.set_result(None)

    async def wait(self, future: asyncio.Future[Any]) -> bool:
        """Waits for the future or the interrupt; true when the future is done, however the two raced."""
        if not future.done() and not self._fired.done():
            await asyncio.wait((future, self._fired), return_when=asyncio.FIRST_COMPLETED)
        return future.done()

    async def wait_all(self, futures: Iterable[asyncio.Future[Any]]) -> bool:
        """Waits for all of them or the interrupt; true when all are done."""
        for future in tuple(futures):
            if not await self.wait(future):
                return False
        return True

    def release(self) -> None:
        """Nobody may wait for stubborn tools any more: the session is being closed."""
        if not self._released.done():
            self._released.set_result(None)

    async def released(self, futures: Iterable[asyncio.Future[Any]]) -> None:
        """Waits for all of the futures, or until it is released."""
        for future in tuple(futures):
            await asyncio.wait((future, self._released), return_when=asyncio.FIRST_COMPLETED)
