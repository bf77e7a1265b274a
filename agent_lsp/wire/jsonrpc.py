"""JSON-RPC 2.0 without I/O: what a parsed body is, and the bytes of what we say. Standard library only.

    body ──parse──▶ Request | Notification | Response | Invalid

An `Invalid` is answered with its error; nothing else here is ever answered by itself. A response that fits nothing is
a `Response` all the same, because answering an answer would never end.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from agent_lsp.slotted import field, frozen

if TYPE_CHECKING:
    from agent_lsp.errors import FramingError

CODES: dict[str, int] = {
    "parse_error": -32700,
    "invalid_request": -32600,
    "method_not_found": -32601,
    "invalid_params": -32602,
    "internal_error": -32603,
    "server_not_initialized": -32002,
    "session_not_found": -32004,
    "session_busy": -32009,
    "model_unavailable": -32010,
    "workspace_invalid": -32011,
    "limit_exceeded": -32012,
    "request_cancelled": -32800,
    "request_failed": -32803,
}
"""Every error that is answered: its kind (`error.data.kind`) and its code."""

KINDS: dict[int, str] = {code: kind for kind, code in CODES.items()}

RequestId = str | int | float
Loads = Callable[[bytes], Any]


@frozen
class Request:
    """Somebody waits for an answer to `id`."""

    id: RequestId
    method: str
    params: dict[str, Any]


@frozen
class Notification:
    """Never answered. `params` that are no object are left out: there is nobody to tell."""

    method: str
    params: dict[str, Any] | None


@frozen
class Response:
    """The peer's answer to a request of ours; `error` is None when it went well."""

    id: Any
    result: Any
    error: dict[str, Any] | None


@frozen
class Invalid:
    """No message: to be answered with this error, with a null id where the sender's is not known."""

    id: RequestId | None
    kind: str
    message: str
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def answer(self) -> bytes:
        """The error response."""
        return failure(self.id, self.kind, self.message, self.data)


Incoming = Request | Notification | Response | Invalid


def parse(body: bytes, loads: Loads = json.loads) -> Incoming:
    """What a body is. `loads` may be a faster decoder that is too strict: what it refuses is looked at again."""
    try:
        value = loads(body)
    except (ValueError, RecursionError):
        try:
            value = scrubbed(json.loads(body.decode(), parse_constant=_no_constant))
        except (ValueError, RecursionError):
            return Invalid(None, "parse_error", "the body is not JSON")
    return classify(value)


def classify(value: Any) -> Incoming:
    """What a parsed body is."""
    if not isinstance(value, dict):
        what = "batches are not supported" if isinstance(value, list) else "a message is an object"
        return Invalid(None, "invalid_request", what)
    message = cast("dict[str, Any]", value)
    given = message.get("id")
    request_id = given if is_id(given) else None
    if "method" not in message and ("result" in message or "error" in message):
        error = message.get("error")
        return Response(
            given, message.get("result"), cast("dict[str, Any]", error) if isinstance(error, dict) else None
        )
    if message.get("jsonrpc") != "2.0":
        return Invalid(request_id, "invalid_request", 'jsonrpc must be "2.0"')
    method = message.get("method")
    if not isinstance(method, str):
        return Invalid(request_id, "invalid_request", "method must be a string")
    params = message.get("params")
    if "id" not in message:
        return Notification(method, cast("dict[str, Any]", params) if isinstance(params, dict) else None)
    if request_id is None:
        return Invalid(None, "invalid_request", "id must be a string or a number")
    if params is not None and not isinstance(params, dict):
        problem = {"path": "", "message": "params must be an object"}
        return Invalid(request_id, "invalid_params", problem["message"], {"errors": [problem]})
    return Request(request_id, method, cast("dict[str, Any]", params or {}))


def is_id(value: Any) -> bool:
    """Whether a value can be the id of a request: a string or a finite number."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int) and not isinstance(value, bool)


def scrubbed(value: Any) -> Any:
    """The value with every lone surrogate, which no UTF-8 can hold, replaced by U+FFFD."""
    if isinstance(value, str):
        return (
            value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") if not value.isascii() else value
        )
    if isinstance(value, list):
        return [scrubbed(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {scrubbed(key): scrubbed(item) for key, item in cast("dict[Any, Any]", value).items()}
    return value


def dumps(value: Any) -> bytes:
    """Compact JSON in UTF-8."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(scrubbed(value), ensure_ascii=False, separators=(",", ":")).encode()


def success(request_id: RequestId, result: bytes) -> bytes:
    """The body of a response; `result` is JSON already."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (dumps(request_id), result)


def failure(
    request_id: RequestId | None,
    kind: str,
    message: str,
    data: Mapping[str, Any] | None = None,
    codes: Mapping[str, int] = CODES,
) -> bytes:
    """The body of an error response; `kind` is one of `codes`."""
    error = {"code": codes[kind], "message": message, "data": {"kind": kind, **(data or {})}}
    return dumps({"jsonrpc": "2.0", "id": request_id, "error": error})


def framing_failure(error: FramingError) -> bytes:
    """The body of the answer to bytes that were no message."""
    return failure(None, KINDS.get(error.code, "parse_error"), error.message)


def request(request_id: int, method: str, params: bytes) -> bytes:
    """The body of a request of ours; `params` is JSON already."""
    return b'{"jsonrpc":"2.0","id":%d,"method":%b,"params":%b}' % (request_id, dumps(method), params)


def notification(method: str, params: bytes) -> bytes:
    """The body of a notification; `params` is JSON already."""
    return b'{"jsonrpc":"2.0","method":%b,"params":%b}' % (dumps(method), params)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
