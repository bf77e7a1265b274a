"""The names of what works, told to the client in the answer to `initialize`. Nothing heavy is imported to know them."""

from __future__ import annotations

PROTOCOL_VERSION = 1

METHODS: tuple[str, ...] = (
    "agent/session/new",
    "agent/session/list",
    "agent/session/close",
    "agent/session/update",
    "agent/session/history",
    "agent/session/resume",
    "agent/session/fork",
    "agent/session/delete",
    "agent/session/snapshot",
    "agent/session/page",
    "agent/run",
    "agent/steer",
    "agent/unsteer",
    "agent/abort",
    "agent/retryNow",
    "agent/edits",
    "agent/edits/keep",
    "agent/edits/undo",
    "agent/rules",
    "agent/rules/revoke",
    "agent/tools",
    "agent/usage",
    "agent/usage/page",
    "agent/models",
    "agent/models/test",
    "agent/compact",
    "agent/compactability",
    "agent/title",
)
SERVER_REQUESTS: tuple[str, ...] = ("agent/approve", "agent/ask", "agent/saveDocument", "agent/diagnostics")
MODES: tuple[str, ...] = ("native", "loop")
