"""Answers the client's first `agent/session/new` while the application is still being imported.

All that the answer says follows from the configuration and a new id, so it takes no engine to give it. The session is
made under that id before anything else is taken up that the client has said (`session_opening.py`). Where the least
thing is unusual (params or settings that do not certainly fit, a model that may need to be looked for, a request in
between) nothing is answered here, and whoever comes later does it, errors included. Like the handshake it is done
before there is a loop.
"""

from __future__ import annotations

import os
import select
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_lsp.config import shape
from agent_lsp.engine.options import EngineOptions
from agent_lsp.errors import FramingError, InvalidParams, ModelUnavailable
from agent_lsp.messages.clock import timestamp
from agent_lsp.providers import build, catalog
from agent_lsp.providers.credentials import lacks_key
from agent_lsp.providers.endpoint import Endpoint, endpoint_for, is_elsewhere
from agent_lsp.server.framing import frame
from agent_lsp.server.greeting import read, write
from agent_lsp.server.uris import path_of, uri_of, workspace_of
from agent_lsp.slotted import frozen
from agent_lsp.trace.session_ids import new_session_id
from agent_lsp.wire import jsonrpc

if TYPE_CHECKING:
    from agent_lsp.server.handshake import Greeted

METHOD = "agent/session/new"
_NO_TOKENS = {"cache_read": 0, "cache_write": 0, "output": 0, "total": 0}


@frozen
class PromisedSession:
    """A session that a client has been told of: its id, the moment, and what was asked for (`NewParams`, as sent)."""

    session_id: str
    created_at: str
    params: Mapping[str, Any]


class EarlySession:
    """The first request of a client that was greeted; what it is told goes into `greeted.promised`."""

    def __init__(self, greeted: Greeted, read_fd: int, write_fd: int, *, is_open: bool = True) -> None:
        self._greeted, self._read_fd, self._write_fd = greeted, read_fd, write_fd
        self._is_open = is_open and greeted.configuration.is_certain

    def look(self) -> None:
        """Takes what there is and what one read brings now, and answers if the request is in it. Waits for nothing."""
        if not self._is_open:
            return
        try:
            has_left = False
            if _has_come(self._read_fd):
                data = read(self._read_fd)
                self._greeted.decoder.feed(data)
                has_left = not data
            self._take()
        except OSError:  # reset, or nobody reads the answer: the transport will find that, too
            has_left = True
        self._is_open &= not has_left

    def _take(self) -> None:
        decoder = self._greeted.decoder
        others: list[bytes | FramingError] = []
        try:
            while self._is_open and (item := decoder.take()) is not None:
                said = jsonrpc.parse(item) if isinstance(item, bytes) else None
                self._is_open = _does_not_matter(said)
                if not self._answered(said):
                    others.append(item)
        finally:
            decoder.put_back(others)

    def _answered(self, said: jsonrpc.Incoming | None) -> bool:
        if not isinstance(said, jsonrpc.Request) or said.method != METHOD:
            return False
        told = promise(self._greeted, said.params)
        if told is None:
            return False
        self._greeted.promised = PromisedSession(told["sessionId"], told["createdAt"], said.params)
        write(self._write_fd, frame(jsonrpc.success(said.id, jsonrpc.dumps(told))))
        return True


def promise(
    greeted: Greeted, params: Mapping[str, Any], environ: Mapping[str, str] = os.environ
) -> dict[str, Any] | None:
    """What is told of the session that these params will certainly make (`methods.SessionInfo`); None: not certain."""
    given = {name: value for name, value in params.items() if value is not None}
    if not (greeted.configuration.is_certain and shape.fits_session(given)):
        return None
    values = greeted.configuration.values
    try:
        workspace = _folder(given.get("workspace"), greeted.client.workspace)
        endpoint = _endpoint(given.get("model"), values, environ)
    except (InvalidParams, ModelUnavailable, OSError, ValueError):
        return None  # whoever comes later says what is wrong
    if workspace is None or endpoint is None:
        return None
    mode = given.get("mode") or values.get("mode", "native")
    now = timestamp()
    told = {
        "sessionId": new_session_id(),
        "title": given.get("title"),
        "workspace": uri_of(workspace),
        "model": {"provider": endpoint.provider, "model": endpoint.model},
        "mode": mode if mode != "auto" else "native" if endpoint.tool_calling else "loop",
        "approvalMode": given.get("approvalMode") or values.get("approval_mode", "ask"),
        "thinkingLevel": given.get("thinkingLevel") or values.get("thinking_level", "medium"),
        "state": "idle",
        "createdAt": now,
        "updatedAt": now,
        "turns": 0,
        "usage": _NO_TOKENS,
        "contextTokens": 0,
        "contextWindow": endpoint.context_window,
        "compactionAt": _compaction_at(endpoint, values.get("compaction", {})),
    }
    return {name: value for name, value in told.items() if value is not None}


def _folder(named: str | None, opened: str | None) -> Path | None:
    """The folder of the session, if it is one."""
    workspace = path_of(named, "workspace") if named is not None else workspace_of(opened)
    return workspace if workspace.is_dir() else None


def _endpoint(
    named: str | dict[str, str] | None, values: Mapping[str, Any], environ: Mapping[str, str]
) -> Endpoint | None:
    """The model of the session; None where the keyring, or this machine, would be asked first. ModelUnavailable."""
    providers = values.get("providers", {})
    default = values.get("default_model")
    if named is None:
        if catalog.is_nothing_configured(default, providers, environ):
            return None
        named = catalog.default_model(default, providers, environ)
    name = named if isinstance(named, str) else f"{named['provider']}/{named['model']}"
    provider, _, model = name.partition("/")
    if lacks_key(provider, providers, environ):
        return None
    if values.get("offline") and is_elsewhere(provider, providers, environ):
        return None
    endpoint = endpoint_for(provider, model, providers, environ)
    return endpoint if endpoint.api in build.APIS else None


def _compaction_at(endpoint: Endpoint, said: Mapping[str, Any]) -> int | None:
    names = {"mode": "compaction_mode", "max_context_length": "max_context_length"}
    given = {names[name]: value for name, value in said.items() if name in names}
    window = {"context_window": endpoint.context_window, "max_output_tokens": endpoint.max_output_tokens}
    return EngineOptions(**window, **given).compaction_at


def _does_not_matter(said: jsonrpc.Incoming | None) -> bool:
    """Whether it says nothing that a new session depends on, and wants no answer."""
    if not isinstance(said, jsonrpc.Notification):
        return False
    return said.method in ("initialized", "$/setTrace") or said.method.startswith("textDocument/")


def _has_come(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(0))
