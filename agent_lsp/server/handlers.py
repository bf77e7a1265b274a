"""The service of one connection: every method and notification, with its handler."""

from __future__ import annotations

from collections.abc import Callable

from agent_lsp.server.compact_handlers import CompactHandlers
from agent_lsp.server.configuration import ConfigurationHandlers
from agent_lsp.server.connection import Connection
from agent_lsp.server.edits import EditHandlers
from agent_lsp.server.handshake import Configuration
from agent_lsp.server.hub import Hub
from agent_lsp.server.model_handlers import ModelHandlers
from agent_lsp.server.run_handlers import RunHandlers
from agent_lsp.server.session_handlers import SessionHandlers
from agent_lsp.server.snapshots import SnapshotHandlers
from agent_lsp.server.usage_handlers import UsageHandlers
from agent_lsp.wire.service import Service


def service(connection: Connection, hub: Hub, configured: Callable[[Configuration], None]) -> Service:
    """What the connection serves, on the sessions of `hub`. `configured` gets the configuration whenever it changes."""
    sessions, runs, contexts = SessionHandlers(connection, hub), RunHandlers(connection, hub), CompactHandlers(hub)
    models = ModelHandlers(connection, hub)
    requests = sessions.requests() | runs.requests() | contexts.requests() | models.requests()
    requests |= EditHandlers(hub).requests() | SnapshotHandlers(hub).requests() | UsageHandlers(hub).requests()
    client = connection.greeted.client
    if client.plain or client.can("codeActions"):
        from agent_lsp.server.plain_commands import PlainHandlers  # 3 ms that a client with a plugin need not wait

        plain = PlainHandlers(connection, hub, requests)
        requests |= plain.requests() if client.plain else plain.offers()
    return Service(
        requests=models.patient(requests),
        notifications=hub.editor.documents.notifications()
        | runs.notifications()
        | ConfigurationHandlers(connection, configured).notifications(),
        shutdown=hub.abort_all,
        close=hub.close_all,
    )
