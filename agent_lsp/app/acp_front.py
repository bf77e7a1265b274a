"""The composition of the second front end: an `App` behind the Agent Client Protocol."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.acp.handlers import service
from agent_lsp.acp.hub import Hub
from agent_lsp.app.opener import App
from agent_lsp.app.upkeep import forget_old
from agent_lsp.slotted import replace

if TYPE_CHECKING:
    from agent_lsp.acp.connection import Connection
    from agent_lsp.wire.service import Service

_log = logging.getLogger(__name__)


def build(connection: Connection) -> Service:
    """What one client is served. What goes wrong on the side is logged: the protocol has no place for it."""
    app = App(connection.greeted.configuration.origin, Path.cwd(), os.environ, _log.warning)
    hub = Hub(connection, app, app.store, app.settings.limits.max_sessions)

    if keep_days := app.settings.sessions.keep_days:
        connection.spawn(asyncio.to_thread(forget_old, app.data, app.store, keep_days))

    async def close() -> None:
        await hub.close_all()
        await app.close()

    return replace(service(connection, hub), close=close)
