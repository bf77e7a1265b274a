"""The composition root: the one place that names every concrete class and plugs them together."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import TYPE_CHECKING

from agent_lsp.app.opener import App
from agent_lsp.app.upkeep import forget_old
from agent_lsp.server.handlers import service
from agent_lsp.server.hub import Hub
from agent_lsp.server.uris import workspace_of
from agent_lsp.sessions.pages import Pages
from agent_lsp.slotted import replace

if TYPE_CHECKING:
    from agent_lsp.server.connection import Connection
    from agent_lsp.server.handshake import Configuration
    from agent_lsp.wire.service import Service

_log = logging.getLogger(__name__)
_WARNING = 2  # MessageType


def build(connection: Connection) -> Service:
    """What one client is served: the LSP front end on an `App` of its own."""
    greeted = connection.greeted

    def warn(message: str) -> None:
        connection.notify("window/showMessage", {"type": _WARNING, "message": message})

    app = App(greeted.configuration.origin, workspace_of(greeted.client.workspace), os.environ, warn)
    hub = Hub(connection, app, app.store, app.settings.limits.max_sessions)
    pages = Pages(app.data, app.workshop.own_commands(), app.accounts.prices, app.accounts.store.flush)

    if keep_days := app.settings.sessions.keep_days:
        connection.spawn(asyncio.to_thread(forget_old, app.data, app.store, keep_days))

    async def close() -> None:
        await hub.close_all()
        await app.close()

    def configured(configuration: Configuration) -> None:
        if app.configure(configuration.origin):
            for opened in hub.sessions():
                opened.session.credential_changed()

    return replace(service(connection, hub, pages, configured), close=close)
