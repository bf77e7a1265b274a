"""Why a request that we sent got no result."""

from __future__ import annotations

from typing import Any

from agent_lsp.errors import AgentError


class PeerError(AgentError):
    """The client answered with an error."""

    def __init__(self, code: Any, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data


class ConnectionLost(AgentError):
    """The client is gone; nothing more will be answered."""

    def __init__(self) -> None:
        super().__init__("the connection is lost")
