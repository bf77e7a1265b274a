"""The handlers of a session's context: compact, compactability, title."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from agent_lsp.server.methods import SessionParams
from agent_lsp.server.session_methods import CompactAnswer, CompactParams
from agent_lsp.wire.service import Call, Method

if TYPE_CHECKING:
    from agent_lsp.engine.account import Availability
    from agent_lsp.engine.tasks import CompactionTicket
    from agent_lsp.server.hub import Hub, Served


class CompactHandlers:
    """What works on a context rather than in it."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def requests(self) -> dict[str, Method[Any]]:
        """The methods, by name."""
        return {
            "agent/compact": Method(CompactParams, self.compact),
            "agent/compactability": Method(SessionParams, self.compactability),
            "agent/title": Method(SessionParams, self.title),
        }

    def compact(self, params: CompactParams, call: Call) -> Awaitable[CompactAnswer]:
        """`agent/compact`: begins before it returns; the result comes when it has ended."""
        session = self._hub.get(params.session_id).session.session
        available = session.compactability()
        ticket = session.start_compaction(params.mode)
        if ticket is None:
            return _nothing_to_do(available)
        call.on_cancel(ticket.interrupt.fire)
        return _compacted(ticket)

    def compactability(self, params: SessionParams, _: Call) -> dict[str, str]:
        """`agent/compactability`."""
        return {"availability": self._hub.get(params.session_id).session.session.compactability()}

    def title(self, params: SessionParams, _: Call) -> Awaitable[dict[str, str]]:
        """`agent/title`: asks the model for one."""
        return _titled(self._hub.get(params.session_id))


async def _titled(served: Served) -> dict[str, str]:
    title = await served.session.retitle()
    return {"title": title or served.session.title or ""}


async def _nothing_to_do(available: Availability) -> CompactAnswer:
    return CompactAnswer(status="completed", availability=available)


async def _compacted(ticket: CompactionTicket) -> CompactAnswer:
    result = await asyncio.shield(ticket.result)
    return CompactAnswer(status=result.status, availability="ok", error_message=result.error_message)
