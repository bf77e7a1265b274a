"""The handler that makes sessions. It is what a start waits for, so it brings nothing that another method needs."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from agent_lsp.errors import AgentError
from agent_lsp.server.hub import Hub, Served, info
from agent_lsp.server.methods import NewParams, SessionInfo, model_name
from agent_lsp.server.uris import path_of
from agent_lsp.sessions.open_session import SessionSpec
from agent_lsp.slotted import replace
from agent_lsp.wire.service import Call, Method

if TYPE_CHECKING:
    from agent_lsp.server.connection import Connection
    from agent_lsp.server.early_session import PromisedSession

_log = logging.getLogger(__name__)
_ERROR = 1  # MessageType


class SessionOpening:
    """What makes sessions."""

    def __init__(self, connection: Connection, hub: Hub) -> None:
        self._connection, self._hub = connection, hub

    def requests(self) -> dict[str, Method[Any]]:
        """The methods, by name."""
        return {"agent/session/new": Method(NewParams, self.new)}

    def new(self, params: NewParams, call: Call) -> SessionInfo:
        """`agent/session/new`."""
        served = self._make(params, None)
        call.after_answer(lambda: self._hub.opener.warm_up(served.session.model))
        return info(served.session)

    def keep(self, promised: PromisedSession) -> None:
        """Makes a session that the client was told of already. One that cannot be made is told, and is not there."""
        try:
            served = self._make(NewParams.model_validate(promised.params), promised)
        except Exception as error:
            _log.exception("session %s was promised and cannot be made", promised.session_id)
            why = error.message if isinstance(error, AgentError) else f"internal error ({type(error).__name__})"
            message = f"The session could not be made: {why}. Start another one."
            self._connection.notify("window/showMessage", {"type": _ERROR, "message": message})
            return
        self._hub.opener.warm_up(served.session.model)

    def _make(self, params: NewParams, promised: PromisedSession | None) -> Served:
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
            created_at=promised.created_at if promised else None,
        )
        if (params.initial_history, params.limits, params.preparation) != (None, None, None):
            from agent_lsp.server.loop_params import read

            spec = replace(spec, **read(self._hub.opener.mode_of(spec), params))
        return self._hub.create(spec, promised.session_id if promised else None)
