"""The handler that makes sessions. It is what a start waits for, so it brings nothing that another method needs."""

from __future__ import annotations

from typing import Any

from agent_lsp.server.hub import Hub, info
from agent_lsp.server.methods import NewParams, SessionInfo, model_name
from agent_lsp.server.uris import path_of
from agent_lsp.sessions.open_session import SessionSpec
from agent_lsp.slotted import replace
from agent_lsp.wire.service import Call, Method


class SessionOpening:
    """What makes sessions."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def requests(self) -> dict[str, Method[Any]]:
        """The methods, by name."""
        return {"agent/session/new": Method(NewParams, self.new)}

    def new(self, params: NewParams, call: Call) -> SessionInfo:
        """`agent/session/new`."""
        workspace = self._hub.opener.workspace
        spec = SessionSpec(
            workspace=path_of(params.workspace, "workspace") if params.workspace is not None else workspace,
            model=model_name(params.model),
            mode=params.mode,
            approval_mode=params.approval_mode,
            thinking_level=params.thinking_level,
            system_prompt=params.system_prompt,
            max_turns=params.max_turns,
            agent=params.agent,
            tags=tuple(params.tags) if params.tags is not None else None,
            title=params.title or None,
            ephemeral=params.ephemeral,
        )
        if (params.initial_history, params.limits, params.preparation) != (None, None, None):
            from agent_lsp.server.loop_params import read

            spec = replace(spec, **read(self._hub.opener.mode_of(spec), params))
        served = self._hub.create(spec)
        call.after_answer(lambda: self._hub.opener.warm_up(served.session.model))
        return info(served.session)
