"""What certainly fits: a quick look at plain values, without pydantic.

The table says the same as the model in `settings`, in fewer words and more strictly. What does not pass here may still
be right: the model gives the verdict. Tests hold the two together: each field is in the table, and what passes here
passes the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from agent_lsp.config import builtin

Check = Callable[[object], bool]
APIS = ("openai-chat", "openai-responses", "anthropic", "gemini", "rehearsal")
APPROVAL_MODES = ("read-only", "plan", "ask", "auto-edit", "allow-all")
"""From the strictest to the widest."""
THINKING_LEVELS = ("none", "low", "medium", "high", "xhigh", "max")
LARGEST = 2**53 - 1
"""The largest whole number that every JSON reader keeps."""


class Named:
    """A table whose keys are names of a person's own, each with an entry of the shape `entry`."""

    __slots__ = ("entry",)

    def __init__(self, entry: Shape) -> None:
        self.entry = entry


Shape = Check | dict[str, "Shape"] | Named


def _flag(value: object) -> bool:
    return type(value) is bool


def _text(value: object) -> bool:
    return type(value) is str and bool(value) and (value.isascii() or _is_unicode(value))


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)  # half a surrogate pair: JSON can bring it


def _texts(value: object) -> bool:
    return type(value) is list and all(map(_text, cast("list[object]", value)))


def _one_of(*choices: str) -> Check:
    return lambda value: type(value) is str and value in choices


def _whole(least: int) -> Check:
    return lambda value: type(value) is int and least <= value <= LARGEST


def _number(value: object) -> bool:
    return type(value) in (int, float) and 0 <= cast("float", value) <= LARGEST


def _seconds(value: object) -> bool:
    return _number(value) and cast("float", value) > 0


def _model(value: object) -> bool:
    provider, _, model = value.partition("/") if isinstance(value, str) and _text(value) else ("", "", "")
    return bool(provider and model) and "\n" not in f"{provider}{model}"


def _web_address(value: object) -> bool:
    return type(value) is str and value.startswith(("http://", "https://")) and value.isascii() and value.isprintable()


_PRICES: dict[str, Shape] = {"input": _number, "cache_read": _number, "cache_write": _number, "output": _number}
_MODEL: dict[str, Shape] = {
    "context_window": _whole(1),
    "max_output_tokens": _whole(1),
    "vision": _flag,
    "tool_calling": _flag,
    "think_tags": _flag,
    "prices": _PRICES,
}
_PROVIDER: dict[str, Shape] = {
    "api": _one_of(*APIS),
    "base_url": _web_address,
    "api_key": _text,
    "api_key_env": _text,
    "headers": Named(_text),
    "request_timeout": _seconds,
    "content_timeout": _seconds,
    "models": Named(_MODEL),
}
_ANY_INTEGER = _whole(-LARGEST)
TABLE: dict[str, Shape] = {
    "config": _text,
    "data_dir": _text,
    "token": _text,
    "default_model": _model,
    "approval_mode": _one_of(*APPROVAL_MODES),
    "mode": _one_of("native", "loop", "auto"),
    "max_turns": _ANY_INTEGER,
    "thinking_level": _one_of(*THINKING_LEVELS),
    "titles": _flag,
    "offline": _flag,
    "egress_log": _flag,
    "allow_remote": _flag,
    "allowed_origins": _texts,
    "prompts": Named(_text),
    "providers": Named(_PROVIDER),
    "reconnect": {"max_retries": _whole(0), "base_ms": _whole(0), "cap_ms": _whole(0)},
    "compaction": {
        "max_context_length": _ANY_INTEGER,
        "max_session_turns": _ANY_INTEGER,
        "mode": _one_of("summarize", "discard", "off"),
        "prompt": _text,
    },
    "limits": {"max_message_bytes": _whole(1024), "max_queued_bytes": _whole(1024), "max_sessions": _whole(1)},
    "tools": {
        "disabled": _texts,
        "deny_paths": _texts,
        "deny_commands": _texts,
        "max_output_length": _whole(1),
        "timeout": _number,
        "read_only_commands": _flag,
        "sandbox": _one_of("off", "bwrap"),
        "sandbox_network": _flag,
        "vision_model": _model,
        "web_fetch": _flag,
        "web_fetch_private": _flag,
    },
    "loop": {
        "max_steps_per_turn": _whole(0),
        "max_errors": _whole(1),
        "max_retries_per_turn": _whole(0),
        "history_compression_enabled": _flag,
        "history_compression_threshold_tokens": _whole(1),
        "history_compression_keep_recent_entries": _whole(0),
        "history_compression_max_summary_tokens": _whole(200),
        "history_compression_model": _model,
    },
    "budget": {"usd_per_run": _number, "usd_per_day": _number, "tokens_per_run": _whole(0)},
    "agents": Named({"prompt": _text, "model": _model, "tools": _texts}),
    "mcp_servers": Named(
        {"command": _text, "args": _texts, "env": Named(_text), "url": _web_address, "headers": Named(_text)}
    ),
    "sessions": {"keep_days": _whole(0)},
    "telemetry": {"enabled": _flag, "endpoint": _web_address, "content": _flag},
}


SESSION: dict[str, Shape] = {
    "workspace": _text,
    "model": lambda value: _text(value) or _fits(value, {"provider": _text, "model": _text}),
    "mode": _one_of("native", "loop"),
    "approvalMode": _one_of(*APPROVAL_MODES),
    "thinkingLevel": _one_of(*THINKING_LEVELS),
    "title": _text,
    "ephemeral": _flag,
}
"""What a client usually says of a new session, as it says it."""


def fits_session(params: Mapping[str, Any]) -> bool:
    """True only for params of `agent/session/new` that its model would certainly accept as they are."""
    model = params.get("model", "")
    return _fits(params, SESSION) and (isinstance(model, str) or len(model) == 2)


def fits(values: Mapping[str, Any]) -> bool:
    """True only when the model would certainly accept `values` (snake_case) without a warning."""
    return _fits(values, TABLE) and _providers_fit(values) and _mcp_servers_fit(values)


def _fits(value: object, shape: Shape) -> bool:
    if callable(shape):
        return shape(value)
    if type(value) is not dict:
        return False
    entries = cast("dict[object, object]", value)
    if isinstance(shape, Named):
        return all(_text(name) and _fits(entry, shape.entry) for name, entry in entries.items())
    return all(name in shape and _fits(entry, shape[name]) for name, entry in entries.items() if isinstance(name, str))


def _providers_fit(values: Mapping[str, Any]) -> bool:
    providers: dict[str, dict[str, Any]] = values.get("providers", {})
    return all("api" in provider or name in builtin.NAMES for name, provider in providers.items())


def _mcp_servers_fit(values: Mapping[str, Any]) -> bool:
    servers: dict[str, dict[str, Any]] = values.get("mcp_servers", {})
    return all(("command" in server) != ("url" in server) for server in servers.values())
