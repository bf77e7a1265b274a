"""The service of one connection: every method and notification, with its handler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_lsp.acp.patience import patient
from agent_lsp.acp.prompt_handlers import PromptHandlers
from agent_lsp.acp.session_handlers import SessionHandlers
from agent_lsp.wire.service import Service

if TYPE_CHECKING:
    from agent_lsp.acp.connection import Connection
    from agent_lsp.acp.hub import Hub


def service(connection: Connection, hub: Hub) -> Service:
    """What the connection serves, on the sessions of `hub`."""
    prompts = PromptHandlers(connection, hub)
    requests = SessionHandlers(connection, hub).requests() | prompts.requests()
    return Service(
        requests=patient(requests, connection, hub),
        notifications=prompts.notifications(),
        close=hub.close_all,
    )
