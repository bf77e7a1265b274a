"""The handler of `agent/session/snapshot`: the records of a loop session, or what a native one has committed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from agent_lsp.messages.envelope import encode, envelope
from agent_lsp.server.methods import NamedSessionParams
from agent_lsp.wire.service import Call, Method

if TYPE_CHECKING:
    from agent_lsp.server.hub import Hub
    from agent_lsp.sessions.open_session import OpenSession


class SnapshotHandlers:
    """Looks at open sessions."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def requests(self) -> dict[str, Method[Any]]:
        """The methods, by name."""
        return {"agent/session/snapshot": Method(NamedSessionParams, self.snapshot)}

    def snapshot(self, params: NamedSessionParams, _: Call) -> dict[str, Any]:
        """`agent/session/snapshot`: as of this moment."""
        opened = self._hub.get(params.session_id).session
        if opened.mode == "loop" and opened.loop:
            return opened.loop.snapshot()
        return _native(opened)


def _native(opened: OpenSession) -> dict[str, Any]:
    session = opened.session
    committed = [message for commit in session.history() for message in commit.messages]
    return {
        "type": "native",
        "status": session.state.state,
        "history": [from_json(encode(envelope(message))) for message in committed],
        "systemPrompt": session.system_prompt,
    }
