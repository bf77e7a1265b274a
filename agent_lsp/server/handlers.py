"""The service of one connection: every method and notification, with its handler."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agent_lsp.server.configuration import ConfigurationHandlers
from agent_lsp.server.late_handlers import Groups, LateHandlers
from agent_lsp.server.model_handlers import ModelHandlers
from agent_lsp.server.session_opening import SessionOpening
from agent_lsp.wire.service import Method, Service

if TYPE_CHECKING:
    from agent_lsp.server.connection import Connection
    from agent_lsp.server.handshake import Configuration
    from agent_lsp.server.hub import Hub
    from agent_lsp.server.run_handlers import RunHandlers
    from agent_lsp.sessions.pages import Pages


_SESSIONS = (
    "agent/session/resume",
    "agent/session/fork",
    "agent/session/list",
    "agent/session/history",
    "agent/session/update",
    "agent/session/close",
    "agent/session/delete",
    "agent/rules",
    "agent/rules/revoke",
    "agent/tools",
)
_CONTEXTS = ("agent/compact", "agent/compactability", "agent/title")
_MODELS = ("agent/models", "agent/models/test")
_DOCUMENTS = ("textDocument/didOpen", "textDocument/didChange", "textDocument/didSave", "textDocument/didClose")
_RUNS = ("agent/run", "agent/steer", "agent/unsteer", "agent/abort", "agent/retryNow")
_RUN_NOTIFICATIONS = ("window/workDoneProgress/cancel",)
_EDITS = ("agent/edits", "agent/edits/keep", "agent/edits/undo")
_SNAPSHOTS = ("agent/session/snapshot",)
_USAGE = ("agent/usage",)
_PAGES = ("agent/session/page", "agent/usage/page")


def service(connection: Connection, hub: Hub, pages: Pages, configured: Callable[[Configuration], None]) -> Service:
    """What the connection serves, on the sessions of `hub`. `configured` gets the configuration whenever it changes."""
    opening, models = SessionOpening(connection, hub), ModelHandlers(connection, hub)
    late = _Late(connection, hub, pages)
    if promised := connection.greeted.promised:
        opening.keep(promised)
    groups: Groups[Method[Any]] = {
        _SESSIONS: late.sessions,
        _CONTEXTS: late.contexts,
        _MODELS: models.requests,
        _RUNS: lambda: late.runs.requests(),
        _EDITS: late.edits,
        _SNAPSHOTS: late.snapshots,
        _USAGE: late.usage,
        _PAGES: late.pages,
    }
    requests = LateHandlers(opening.requests(), groups)
    client = connection.greeted.client
    offered: dict[str, Method[Any]] = {}
    if client.plain or client.can("codeActions"):
        from agent_lsp.server.plain_commands import PlainHandlers  # 3 ms that a client with a plugin need not wait

        plain = PlainHandlers(connection, hub, requests)
        offered = plain.requests() if client.plain else plain.offers()
    return Service(
        requests=models.patient(requests, offered),
        notifications=LateHandlers(
            ConfigurationHandlers(connection, configured).notifications(),
            {
                _DOCUMENTS: hub.editor.documents.notifications,
                _RUN_NOTIFICATIONS: lambda: late.runs.notifications(),
            },
        ),
        shutdown=hub.abort_all,
        close=hub.close_all,
    )


class _Late:
    """Imports and makes handlers: 10 ms that the first session need not wait for."""

    def __init__(self, connection: Connection, hub: Hub, pages: Pages) -> None:
        self._connection, self._hub, self._pages = connection, hub, pages

    @cached_property
    def runs(self) -> RunHandlers:
        """Those of requests and of a notification, which know of each other."""
        from agent_lsp.server.run_handlers import RunHandlers

        return RunHandlers(self._connection, self._hub)

    def sessions(self) -> dict[str, Method[Any]]:
        """Those of sessions that are there."""
        from agent_lsp.server.session_handlers import SessionHandlers

        return SessionHandlers(self._connection, self._hub).requests()

    def contexts(self) -> dict[str, Method[Any]]:
        """Those of contexts."""
        from agent_lsp.server.compact_handlers import CompactHandlers

        return CompactHandlers(self._hub).requests()

    def edits(self) -> dict[str, Method[Any]]:
        """Those of edits."""
        from agent_lsp.server.edits import EditHandlers

        return EditHandlers(self._hub).requests()

    def snapshots(self) -> dict[str, Method[Any]]:
        """Those of snapshots."""
        from agent_lsp.server.snapshots import SnapshotHandlers

        return SnapshotHandlers(self._hub).requests()

    def usage(self) -> dict[str, Method[Any]]:
        """Those of usage."""
        from agent_lsp.server.usage_handlers import UsageHandlers

        return UsageHandlers(self._hub).requests()

    def pages(self) -> dict[str, Method[Any]]:
        """Those of pages."""
        from agent_lsp.server.page_handlers import PageHandlers

        return PageHandlers(self._pages).requests()
