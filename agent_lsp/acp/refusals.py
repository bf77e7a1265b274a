"""From what went wrong to the error that the client is told, by the codes of its protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from agent_lsp.errors import InvalidParams, RequestRefused
from agent_lsp.wire import jsonrpc, refusals

if TYPE_CHECKING:
    from agent_lsp.engine.account import RunResult
    from agent_lsp.wire.jsonrpc import RequestId

_AUTH_REQUIRED, _NOT_FOUND, _INTERNAL = -32000, -32002, -32603
CODES: Final[Mapping[str, int]] = {
    **jsonrpc.CODES,
    "session_not_found": _NOT_FOUND,
    "model_unavailable": _AUTH_REQUIRED,
    "auth": _AUTH_REQUIRED,
    "failed": _INTERNAL,
    "timeout": _INTERNAL,
    "malformed": _INTERNAL,
}


class PromptFailed(RequestRefused):
    """A prompt whose run ended badly; its `kind` is the status of the run."""

    def __init__(self, result: RunResult) -> None:
        super().__init__(result.error_message or f"the run has ended: {result.status}")
        self.kind, self.run_id = result.status, result.run_id


_HINTS: Final[Mapping[str, str]] = {
    "session_not_found": "create one with session/new",
    "session_busy": "wait for it, or cancel it with session/cancel",
}
"""What to do, in the words of this protocol."""


def failure(request_id: RequestId, error: Exception) -> bytes:
    """The body that answers a request whose handler raised."""
    if isinstance(error, RequestRefused) and error.kind in _HINTS:
        error.hint = _HINTS[error.kind]
    return refusals.failure(request_id, error, CODES)


def refuse(field: str, why: str) -> InvalidParams:
    """One wrong field."""
    return InvalidParams(f"invalid params: {field} {why}", [(field, why)])
