"""The handlers of sessions: new, load, resume, fork, list, close, delete, and what can be chosen in one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from agent_lsp.acp.handshake import LOGIN
from agent_lsp.acp.hub import Hub, Served, Wanted
from agent_lsp.acp.methods import (
    AuthenticateParams,
    HttpServer,
    ListParams,
    ModeParams,
    NewParams,
    OldParams,
    OptionParams,
    Server,
    SessionParams,
    SseServer,
)
from agent_lsp.acp.refusals import refuse
from agent_lsp.acp.settings import MODES, chosen, options
from agent_lsp.config.sections import McpServer
from agent_lsp.errors import ModelUnavailable, SessionNotFound
from agent_lsp.messages.events import SessionUpdate
from agent_lsp.wire.service import Call, Method

if TYPE_CHECKING:
    from agent_lsp.acp.connection import Connection
    from agent_lsp.trace.store import StoredSession


class SessionHandlers:
    """What makes, shows, changes and ends sessions."""

    def __init__(self, connection: Connection, hub: Hub) -> None:
        self._connection, self._hub = connection, hub

    def requests(self) -> dict[str, Method[Any]]:
        """The methods, by name."""
        return {
            "authenticate": Method(AuthenticateParams, self.authenticate),
            "session/new": Method(NewParams, self.new),
            "session/load": Method(OldParams, self.load),
            "session/resume": Method(OldParams, self.resume),
            "session/fork": Method(OldParams, self.fork),
            "session/list": Method(ListParams, self.list),
            "session/close": Method(SessionParams, self.close),
            "session/delete": Method(SessionParams, self.delete),
            "session/set_mode": Method(ModeParams, self.set_mode),
            "session/set_config_option": Method(OptionParams, self.set_config_option),
        }

    def authenticate(self, params: AuthenticateParams, _: Call) -> Awaitable[dict[str, Any]]:
        """`authenticate`: the person has logged in elsewhere, so the credentials are looked for again."""
        if params.method_id != LOGIN:
            raise refuse("methodId", f"is {LOGIN}")
        return self._look_for_credentials()

    def new(self, params: NewParams, call: Call) -> dict[str, Any]:
        """`session/new`."""
        served = self._hub.create(_wanted(params))
        call.after_answer(lambda: self._begin(served))
        return {"sessionId": served.opened.session_id, **served.settings()}

    def load(self, params: OldParams, call: Call) -> Awaitable[dict[str, Any]]:
        """`session/load`: all that has happened is told before the answer."""
        served = self._resumed(params)
        call.after_answer(lambda: self._begin(served))
        return _replayed(served)

    def resume(self, params: OldParams, call: Call) -> dict[str, Any]:
        """`session/resume`: nothing is told again."""
        served = self._resumed(params)
        call.after_answer(lambda: self._begin(served))
        return served.settings()

    def fork(self, params: OldParams, call: Call) -> dict[str, Any]:
        """`session/fork`: a new session that begins with what another one has committed."""
        if not self._hub.is_known(params.session_id):
            raise SessionNotFound(params.session_id)
        served = self._hub.fork(params.session_id, _wanted(params))
        call.after_answer(lambda: self._begin(served))
        return {"sessionId": served.opened.session_id, **served.settings()}

    def list(self, params: ListParams, _: Call) -> dict[str, Any]:
        """`session/list`: those on the disk, newest first."""
        page = self._hub.list(_folder(params.cwd, "cwd") if params.cwd is not None else None, params.cursor)
        result: dict[str, Any] = {"sessions": [_info(stored) for stored in page.sessions]}
        return {**result, "nextCursor": page.next_cursor} if page.next_cursor else result

    def close(self, params: SessionParams, _: Call) -> Awaitable[dict[str, Any]]:
        """`session/close`."""
        return _done(self._hub.close(params.session_id))

    def delete(self, params: SessionParams, _: Call) -> Awaitable[dict[str, Any]]:
        """`session/delete`: an open session is closed first."""
        if not self._hub.is_known(params.session_id):
            raise SessionNotFound(params.session_id)
        closing = self._hub.close(params.session_id) if self._hub.find(params.session_id) else None
        return self._deleted(params.session_id, closing)

    async def _deleted(self, session_id: str, closing: asyncio.Task[None] | None) -> dict[str, Any]:
        await self._hub.delete(session_id, closing)
        return {}

    def set_mode(self, params: ModeParams, _: Call) -> dict[str, Any]:
        """`session/set_mode`."""
        served = self._hub.get(params.session_id)
        if params.mode_id not in MODES:
            raise refuse("modeId", f"is one of {', '.join(MODES)}")
        served.opened.update(SessionUpdate(approval_mode=params.mode_id), self._hub.opener)
        return {}

    def set_config_option(self, params: OptionParams, _: Call) -> dict[str, Any]:
        """`session/set_config_option`."""
        opened, models = self._hub.get(params.session_id).opened, self._hub.opener.models
        opened.update(chosen(params.config_id, params.value, opened, models), self._hub.opener)
        return {"configOptions": options(opened, models)}

    def _resumed(self, params: OldParams) -> Served:
        if not self._hub.is_known(params.session_id):
            raise SessionNotFound(params.session_id)
        return self._hub.resume(params.session_id, _wanted(params))

    def _begin(self, served: Served) -> None:
        served.begin()
        self._hub.opener.warm_up(served.opened.model)

    async def _look_for_credentials(self) -> dict[str, Any]:
        models = self._hub.opener.models
        await models.look(afresh=True)
        listed = models.listed()
        default = listed["defaultModel"]
        usable = [one for one in listed["models"] if one["hasCredential"]]
        if not any((one["provider"], one["model"]) == (default["provider"], default["model"]) for one in usable):
            name = f"{default['provider']}/{default['model']}"
            raise ModelUnavailable(f"there is no credential for {name}", hint="run `agent-lsp login`")
        for served in self._hub.sessions():
            served.opened.session.credential_changed()
        return {}


def _wanted(params: NewParams) -> Wanted:
    return Wanted(_folder(params.cwd, "cwd"), _servers(params.mcp_servers or ()))


def _folder(text: str, field: str) -> Path:
    path = Path(text)
    if not path.is_absolute() or "\0" in text:
        raise refuse(field, "must be an absolute path")
    return path


def _servers(given: Sequence[Server]) -> dict[str, McpServer]:
    return {server.name: _server(server, f"mcpServers[{at}]") for at, server in enumerate(given)}


def _server(server: Server, field: str) -> McpServer:
    if isinstance(server, SseServer):
        raise refuse(field, "is reached over SSE, which is not supported")
    try:
        if isinstance(server, HttpServer):
            return McpServer(url=server.url, headers={one.name: one.value for one in server.headers})
        return McpServer(
            command=server.command, args=tuple(server.args), env={one.name: one.value for one in server.env}
        )
    except ValidationError as error:
        raise refuse(field, f"cannot be used: {error.errors()[0]['msg']}") from None


def _info(stored: StoredSession) -> dict[str, Any]:
    info = {"sessionId": stored.session_id, "cwd": stored.meta.workspace, "updatedAt": stored.updated_at}
    return {**info, "title": stored.name} if stored.name else info


async def _replayed(served: Served) -> dict[str, Any]:
    await served.replay()
    return served.settings()


async def _done(work: Awaitable[None]) -> dict[str, Any]:
    await work
    return {}
