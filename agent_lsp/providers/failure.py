"""What a failed request means: a refusal, an error inside a stream or a broken connection becomes an `Outcome`.

The rules are tried in the order of `_RULES`; the first that fits decides.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Literal, cast

from pydantic_core import from_json

from agent_lsp.engine.ports import Outcome
from agent_lsp.providers.retry_after import retry_after_ms
from agent_lsp.slotted import field, frozen

Reason = Literal["connect", "silent", "no_content", "broken", "protocol", "certificate", "proxy", "unusable"]

_MASK = "***"
_DAILY_QUOTA = "quota_per_day"
_SHORTEST_SECRET = 4
_MAX_MESSAGE = 300
PROXY_AUTHENTICATION = 407
PROXY_LOGIN = "the proxy wants a name and a password: put them into HTTPS_PROXY, as http://NAME:PASSWORD@HOST:PORT"


class TransportError(Exception):
    """The connection did not do its part. `detail` may be anything: it is cleaned before anyone sees it."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason: Reason = reason
        self.detail = detail


@frozen
class Fault:
    """An error as a provider told it. `status` is None inside a stream; `codes` are codes and types in lower case."""

    message: str = ""
    codes: frozenset[str] = frozenset()
    status: int | None = None
    number: int | None = None
    param: str = ""
    delay: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def effective(self) -> int:
        """The status of the answer, else the number of that range that the body names, else 0."""
        return self.status or self.number or 0


# --- reading ----------------------------------------------------------------------------------------------------------


def read_answer(status: int, headers: Mapping[str, str], body: bytes) -> Fault:
    """The error of an answer that is no success. Header names in lower case."""
    try:
        value: Any = from_json(body)
    except ValueError:
        value = body.decode("utf-8", "replace")
    return _read(value, status, headers)


def read_error(value: Any) -> Fault:
    """An error that came inside a stream or with status 200."""
    return _read(value, None, {})


def _read(value: Any, status: int | None, headers: Mapping[str, str]) -> Fault:
    if isinstance(value, list) and value:
        value = cast("list[Any]", value)[0]
    if not isinstance(value, dict):
        return Fault(message="" if value is None else str(cast("object", value)), status=status, headers=headers)
    outer = cast("dict[str, Any]", value)
    given = outer.get("error")
    inner = cast("dict[str, Any]", given) if isinstance(given, dict) else outer
    names = [level.get(name) for level in (inner, outer) for name in ("code", "type", "status", "error_type")]
    details = [one for one in _dicts(inner.get("details"))]
    codes = {str(name).lower() for name in [*names, *(one.get("reason") for one in details)] if name}
    if any("PerDay" in str(violation.get("quotaId")) for one in details for violation in _dicts(one.get("violations"))):
        codes.add(_DAILY_QUOTA)
    return Fault(
        message=_message(inner, outer),
        codes=frozenset(codes - {"error"}),
        status=status,
        number=next(filter(None, map(_status_number, [*names, inner.get("status_code")])), None),
        param=str(inner.get("param") or ""),
        delay=next((str(one["retryDelay"]) for one in details if one.get("retryDelay")), None),
        headers=headers,
    )


def _message(inner: dict[str, Any], outer: dict[str, Any]) -> str:
    said = inner.get("message") or outer.get("error") or outer.get("detail") or outer.get("message") or ""
    if not isinstance(said, str):
        said = "; ".join(str(one.get("msg") or one) for one in _dicts(said)) or str(said)
    metadata = inner.get("metadata")
    raw = cast("dict[str, Any]", metadata).get("raw") if isinstance(metadata, dict) else None
    return f"{said}: {raw}" if isinstance(raw, str) and raw else said


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (cast("dict[str, Any]", one) for one in cast("list[Any]", value) if isinstance(one, dict))


def _status_number(value: Any) -> int | None:
    text = str(value)
    return int(text) if re.fullmatch(r"[45]\d\d", text) else None


# --- judging ----------------------------------------------------------------------------------------------------------

_CONTEXT_CODES = frozenset(
    {
        "context_length_exceeded",
        "context_window_exceeded",
        "exceed_context_size_error",
        "request_too_large",
        "too_many_prompt_tokens",
        "too_many_tokens",
        "model_context_window_exceeded",
    }
)
_CONTEXT_TEXT = re.compile(
    r"prompt is too long|prompt too long|exceeds? the context window|maximum context length"
    r"|input token count .{0,40}exceeds the maximum|exceeded max context length|input tokens exceeded|input is too long"
    r"|context size has been exceeded|exceeds? the available context size|when context the overflows"
    r"|reduce the length of the (messages|prompt|input)|input length .{0,60}exceed.{0,20} context|too many tokens: "
    r"|request too large for|context length exceeded|exceeds the model'?s (maximum )?context",
    re.I,
)
_AUTH_CODES = frozenset(
    {"invalid_api_key", "api_key_invalid", "authentication_error", "permission_error", "unauthenticated"}
)
_BAD_KEY_TEXT = re.compile(r"\bapi[ _-]?key\b", re.I)
_MALFORMED_CODES = frozenset({"tool_use_failed", "json_validate_failed"})
_PERMANENT_CODES = frozenset(
    {
        _DAILY_QUOTA,
        "insufficient_quota",
        "insufficient_credits",
        "insufficient_balance",
        "billing_error",
        "billing_hard_limit_reached",
        "billing_not_active",
        "model_not_found",
        "model_not_available",
        "model_decommissioned",
        "invalid_model",
        "deploymentnotfound",
        "unsupported_parameter",
        "unsupported_value",
        "unknown_parameter",
    }
)
_NOT_FOUND_CODES = frozenset({"not_found_error", "not_found"})
_TRANSIENT_CODES = frozenset(
    {
        "overloaded_error",
        "overloaded",
        "api_error",
        "rate_limit_error",
        "rate_limit_exceeded",
        "server_error",
        "internal_server_error",
        "internal_error",
        "internal",
        "internalservererror",
        "unavailable",
        "service_unavailable",
        "resource_exhausted",
        "deadline_exceeded",
        "timeout_error",
        "engine_overloaded",
        "too_many_requests",
    }
)
_TRANSIENT_STATUSES = frozenset({408, 409, 425, 429})


def _is_context(fault: Fault) -> bool:
    return bool(fault.codes & _CONTEXT_CODES or _CONTEXT_TEXT.search(fault.message)) or fault.effective == 413


def _is_auth(fault: Fault) -> bool:
    if fault.effective in (401, 403):
        return True
    if fault.effective >= 500 or fault.effective in (429, PROXY_AUTHENTICATION):
        return False
    keyed = fault.effective == 400 and "invalid-argument" in fault.codes and _BAD_KEY_TEXT.search(fault.message)
    return bool(fault.codes & _AUTH_CODES or keyed)


def _is_permanent(fault: Fault) -> bool:
    """Only on an unmistakable code: words alone have meant plain rate limits too."""
    unknown_model = bool(fault.codes & _NOT_FOUND_CODES) and "model" in fault.message.lower()
    return bool(fault.codes & _PERMANENT_CODES) or unknown_model or fault.effective in (402, PROXY_AUTHENTICATION)


def _is_transient(fault: Fault) -> bool:
    if fault.effective:
        return fault.effective >= 500 or fault.effective in _TRANSIENT_STATUSES
    return bool(fault.codes & _TRANSIENT_CODES) or "overloaded" in fault.message.lower()


_RULES: tuple[tuple[Callable[[Fault], bool], Outcome], ...] = (
    (_is_context, Outcome("failed", context_length=True)),
    (_is_auth, Outcome("auth")),
    (lambda fault: bool(fault.codes & _MALFORMED_CODES), Outcome("malformed")),
    (_is_permanent, Outcome("failed", permanent=True)),
    (lambda fault: fault.headers.get("x-should-retry") == "true", Outcome("timeout")),
    (lambda fault: fault.headers.get("x-should-retry") == "false", Outcome("failed", permanent=True)),
    (_is_transient, Outcome("timeout")),
    (lambda fault: True, Outcome("failed")),
)


def judge(fault: Fault, secrets: Collection[str], now_s: float | None = None) -> Outcome:
    """The outcome that the fault stands for, its message fit to be shown."""
    verdict = next(outcome for fits, outcome in _RULES if fits(fault))
    wait_ms = None
    if verdict.status == "timeout":
        now_s = time.time() if now_s is None else now_s
        limits = fault.effective == 429
        wait_ms = retry_after_ms(fault.headers, fault.delay, fault.message, now_s, limits=limits)
    return Outcome(
        verdict.status,
        one_line(_told(fault), secrets),
        permanent=verdict.permanent,
        context_length=verdict.context_length,
        retry_after_ms=wait_ms,
    )


def _told(fault: Fault) -> str:
    named = next(iter(sorted(fault.codes - {str(fault.number)})), "")
    said = _plain(fault.message) or named or "no explanation"
    if fault.status is None:
        return f"the provider reports: {said}"
    if 300 <= fault.status < 400:
        return f"HTTP {fault.status}: redirected to {fault.headers.get('location', 'nowhere')}; is the base URL right?"
    if fault.status == PROXY_AUTHENTICATION:
        return f"HTTP {fault.status}: {PROXY_LOGIN}"
    return f"HTTP {fault.status}: {said}"


_TRANSPORT: Mapping[Reason, Outcome] = {
    "connect": Outcome("timeout", "cannot connect"),
    "silent": Outcome("timeout", "no answer in time"),
    "no_content": Outcome("timeout", "connected, but no content in time"),
    "broken": Outcome("timeout", "the connection broke"),
    "protocol": Outcome("timeout", "the connection broke: not valid HTTP"),
    "certificate": Outcome("failed", "cannot connect", permanent=True),
    "proxy": Outcome("failed", "cannot connect", permanent=True),
    "unusable": Outcome("failed", "the request cannot be sent", permanent=True),
}


def judge_transport(error: TransportError, secrets: Collection[str]) -> Outcome:
    """The outcome of a connection that failed."""
    verdict = _TRANSPORT[error.reason]
    said = f"{verdict.message}: {error.detail}" if error.detail else str(verdict.message)
    return Outcome(verdict.status, one_line(said, secrets), permanent=verdict.permanent)


# --- saying -----------------------------------------------------------------------------------------------------------

_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.I | re.S)
_UNSEEN = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.I | re.S)
_CONTROL = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def _plain(text: str) -> str:
    """The text; of an HTML page its title, else what can be read of it."""
    if not re.match(r"\s*<(!doctype|html|head|body)", text, re.I):
        return text
    title = _TITLE.search(text)
    return f"an HTML page: {(title[1] if title else _UNSEEN.sub(' ', text[:20_000]))[:120].strip()}"


def one_line(text: str, secrets: Collection[str]) -> str:
    """The text as one short line without any secret in it."""
    parts = {part for secret in secrets for part in (secret, secret.split()[-1] if secret.split() else "")}
    for part in sorted(parts, key=len, reverse=True):
        if len(part) >= _SHORTEST_SECRET:
            text = text.replace(part, _MASK)
    line = _CONTROL.sub(" ", text).strip()
    return line if len(line) <= _MAX_MESSAGE else line[: _MAX_MESSAGE - 1] + "…"
