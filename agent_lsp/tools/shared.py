"""What the tools of a session have in common and that ends with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from agent_lsp.messages.events import Event
    from agent_lsp.tools.tool import Tool


class Shared(Protocol):
    """Something that the tools of a session share and that ends with it, within 4 s."""

    def take_reports(self) -> Sequence[str]:
        """What the model has not heard yet of what goes on in it, a line each."""
        ...

    async def close(self) -> None:
        """Ends it."""
        ...


class LateTools(Shared, Protocol):
    """Tools that somebody else has and that may come late, change or go."""

    def prepare(self, announce: Callable[[Event], None]) -> asyncio.Future[None] | None:
        """Starts to get them, or looks again: as `Environment.prepare`."""
        ...

    def tools(self) -> Sequence[Tool[Any]]:
        """Those that are there now."""
        ...

    def owners(self) -> tuple[str, ...]:
        """Whose they are, connected or not."""
        ...
