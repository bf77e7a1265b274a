"""From what went wrong to the error response that says so."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from agent_lsp.errors import InvalidParams, RequestRefused
from agent_lsp.wire import jsonrpc

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from agent_lsp.wire.jsonrpc import RequestId

_log = logging.getLogger(__name__)
_PLAIN_WORDS = {
    "missing": "is required",
    "dict_type": "should be an object",
    "model_type": "should be an object",
    "model_attributes_type": "should be an object",
    "tuple_type": "should be a list",
}


def failure(request_id: RequestId, error: Exception, codes: Mapping[str, int] = jsonrpc.CODES) -> bytes:
    """The body that answers a request whose handler raised; what nobody expected is logged with its traceback."""
    if not isinstance(error, RequestRefused) or error.kind not in codes:
        _log.error("a handler failed", exc_info=error)
        return jsonrpc.failure(request_id, "internal_error", f"internal error ({type(error).__name__})")
    data: dict[str, Any] = {"retryable": error.retryable}
    for key, value in (
        ("hint", error.hint),
        ("sessionId", getattr(error, "session_id", None)),
        ("runId", getattr(error, "run_id", None)),
    ):
        if value is not None:
            data[key] = value
    if isinstance(error, InvalidParams):
        data["errors"] = [{"path": path, "message": message} for path, message in error.errors]
    return jsonrpc.failure(request_id, error.kind, error.message, data, codes)


def invalid_params(error: ValidationError, sent: Any) -> InvalidParams:
    """The wrong fields of what was sent, each named once, by the path at which the sender finds it."""
    problems: dict[str, list[str]] = {}
    for detail in error.errors(include_url=False, include_context=False):
        said = problems.setdefault(_path(detail["loc"], sent, detail["type"] == "missing"), [])
        words = _words(detail)
        if words not in said:
            said.append(words)
    # Of a union every branch complains: what is wrong deep inside one says more than that the whole fits no other.
    specific = {path for path in problems if not any(_inside(other, path) for other in problems)}
    errors = [(path, ", or ".join(said)) for path, said in problems.items() if path in specific]
    first = "; ".join(f"{path or 'params'}: {message}" for path, message in errors[:3])
    return InvalidParams(f"invalid params: {first}", errors)


def _path(location: Sequence[int | str], sent: Any, is_missing: bool) -> str:
    """Follows a pydantic location through what was sent: names of union branches and validators are no part of it.

    `is_missing`: the last name is that of a field that should have been there.
    """
    path = ""
    here = sent
    for index, step in enumerate(location):
        if isinstance(step, int) and isinstance(here, list):
            path += f"[{step}]"
            items = cast("list[Any]", here)
            here = items[step] if step < len(items) else None
        elif isinstance(step, str) and isinstance(here, Mapping):
            fields = cast("Mapping[str, Any]", here)
            if step in fields or (is_missing and index == len(location) - 1):
                path += f".{step}" if path else step
                here = fields.get(step)
    return path


def _inside(inner: str, outer: str) -> bool:
    return len(inner) > len(outer) and inner.startswith(outer) and (not outer or inner[len(outer)] in ".[")


def _words(detail: ErrorDetails) -> str:
    words = _PLAIN_WORDS.get(detail["type"]) or detail["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return " ".join(words.split())
