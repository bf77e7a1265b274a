"""The handlers of sessions that are there, and of what there is: list, history, update, close, rules, tools."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from agent_lsp.messages.events import SessionUpdate
from agent_lsp.server.history import history
from agent_lsp.server.hub import Hub, info
from agent_lsp.server.methods import NamedSessionParams, SessionInfo, SessionParams, model_name
from agent_lsp.server.session_methods import (
    ForkParams,
    HistoryParams,
    ListParams,
    RevokeParams,
    RuleInfo,
    Rules,
    SessionList,
    UpdateParams,
)
from agent_lsp.server.uris import path_of
from agent_lsp.wire.service import Call, Method

if TYPE_CHECKING:
    from agent_lsp.server.connection import Connection


class SessionHandlers:
    """What resumes, shows and ends sessions."""

    def __init__(self, connection: Connection, hub: Hub) -> None:
        self._connection, self._hub = connection, hub

    def requests(self) -> dict[str, Method[Any]]:
        """The methods, by name."""
        return {
            "agent/session/resume": Method(NamedSessionParams, self.resume),
            "agent/session/fork": Method(ForkParams, self.fork),
            "agent/session/list": Method(ListParams, self.list),
            "agent/session/history": Method(HistoryParams, self.history),
            "agent/session/update": Method(UpdateParams, self.update),
            "agent/session/close": Method(NamedSessionParams, self.close),
            "agent/session/delete": Method(NamedSessionParams, self.delete),
            "agent/rules": Method(SessionParams, self.rules),
            "agent/rules/revoke": Method(RevokeParams, self.revoke),
            "agent/tools": Method(SessionParams, self.tools),
        }

    def resume(self, params: NamedSessionParams, _: Call) -> SessionInfo:
        """`agent/session/resume`: an open session only becomes the current one."""
        return info(self._hub.resume(params.session_id).session)

    def fork(self, params: ForkParams, _: Call) -> SessionInfo:
        """`agent/session/fork`."""
        return info(self._hub.fork(params.session_id, params.at_turn).session)

    def list(self, params: ListParams, _: Call) -> SessionList:
        """`agent/session/list`."""
        workspace = path_of(params.workspace, "workspace") if params.workspace is not None else None
        sessions, cursor = self._hub.list(workspace, params.limit, params.cursor)
        return SessionList(sessions=sessions, next_cursor=cursor)

    def history(self, params: HistoryParams, _: Call) -> Awaitable[bytes]:
        """`agent/session/history`."""
        return history(self._hub, self._connection, params)

    def update(self, params: UpdateParams, _: Call) -> SessionInfo:
        """`agent/session/update`."""
        opened = self._hub.get(params.session_id).session
        change = SessionUpdate(
            title=params.title,
            approval_mode=params.approval_mode,
            thinking_level=params.thinking_level,
            model=model_name(params.model),
            mode=params.mode,
            tools=tuple(params.tools) if params.tools is not None else None,
        )
        opened.update(change, self._hub.opener)
        return info(opened)

    def close(self, params: NamedSessionParams, _: Call) -> Awaitable[dict[str, Any]]:
        """`agent/session/close`."""
        return _done(asyncio.shield(self._hub.close(params.session_id)))

    def delete(self, params: NamedSessionParams, _: Call) -> Awaitable[dict[str, Any]]:
        """`agent/session/delete`: an open session is closed first."""
        closing = self._hub.close(params.session_id) if self._hub.find(params.session_id) else None
        return self._deleted(params.session_id, closing)

    async def _deleted(self, session_id: str, closing: asyncio.Task[None] | None) -> dict[str, Any]:
        await self._hub.delete(session_id, closing)
        return {}

    def rules(self, params: SessionParams, _: Call) -> Rules:
        """`agent/rules`."""
        opened = self._hub.get(params.session_id).session
        return Rules(rules=[RuleInfo.model_validate(rule, from_attributes=True) for rule in opened.grants.rules()])

    def revoke(self, params: RevokeParams, call: Call) -> Rules:
        """`agent/rules/revoke`: in every open session, and in their workspaces."""
        for opened in self._hub.sessions():
            opened.grants.revoke(params.rule_ids)
        return self.rules(SessionParams(), call) if self._hub.has_current else Rules(rules=[])

    def tools(self, params: SessionParams, _: Call) -> dict[str, Any]:
        """`agent/tools`: those of a session, or of a new one when there is none."""
        opener = self._hub.opener
        named = params.session_id is not None or self._hub.has_current
        toolset = self._hub.get(params.session_id).session.toolset if named else opener.toolset(opener.workspace)
        return {"tools": toolset.described()}


async def _done(work: Awaitable[None]) -> dict[str, Any]:
    await work
    return {}
