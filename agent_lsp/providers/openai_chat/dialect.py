"""What differs between the servers that speak Chat Completions, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from agent_lsp.providers.catalog import BUILT_IN, LOCAL
from agent_lsp.providers.thinking import Style, openai_style
from agent_lsp.slotted import frozen, replace

if TYPE_CHECKING:
    from agent_lsp.providers.endpoint import Endpoint


@frozen
class Dialect:
    """One server's habits. The defaults are what nearly all of them understand."""

    thinking: Style = "effort"
    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    stream_options: bool = True
    text_parts: bool = True
    """Whether a user message may hold several texts; else each text is a message of its own."""
    user_after_tool: bool = True
    """Whether a user message may follow the results of tools: an image that a tool returned goes there."""
    nine_character_ids: bool = False
    """Whether ids of calls must be nine letters or digits."""
    thinking_field: str | None = None
    """The field in which earlier thinking is wanted back even where another model wrote it."""
    cache_key: bool = False
    """Whether `prompt_cache_key` is understood."""
    cache_marks: tuple[str, ...] = ()
    """Parts of the names of models whose prompts are cached only up to marks in the messages."""
    unsigned_extra: Mapping[str, Any] | None = None
    """What a call of another model needs beside it, where a model wants all calls of its history signed."""
    key_header: str = "authorization"


_OPENAI = Dialect(max_tokens="max_completion_tokens", cache_key=True)
_LOW_TO_HIGH = Dialect(thinking="low_high")
_KIMI = Dialect(thinking="switch", thinking_field="reasoning_content")

_BY_HOST: Mapping[str, Dialect] = {
    "api.openai.com": _OPENAI,
    "openai.azure.com": Dialect(max_tokens="max_completion_tokens", key_header="api-key"),
    "generativelanguage.googleapis.com": Dialect(
        unsigned_extra={"google": {"thought_signature": "skip_thought_signature_validator"}}
    ),
    "openrouter.ai": Dialect(thinking="openrouter", cache_marks=("claude", "gemini-2")),
    "api.deepseek.com": Dialect(thinking="deepseek", text_parts=False, thinking_field="reasoning_content"),
    "api.mistral.ai": Dialect(
        thinking="high_only", stream_options=False, user_after_tool=False, nine_character_ids=True
    ),
    "api.groq.com": _LOW_TO_HIGH,
    "api.x.ai": _LOW_TO_HIGH,
    "api.z.ai": Dialect(thinking="zai", thinking_field="reasoning_content"),
    "api.moonshot.ai": _KIMI,
    "api.moonshot.cn": _KIMI,
    "api.together.xyz": _LOW_TO_HIGH,
    "api.fireworks.ai": _LOW_TO_HIGH,
    "api.cerebras.ai": Dialect(thinking="low_high", max_tokens="max_completion_tokens"),
}

_BY_NAME: Mapping[str, Dialect] = dict.fromkeys(LOCAL, _LOW_TO_HIGH)
"""Servers on this machine have no host of their own."""


def dialect_of(endpoint: Endpoint) -> Dialect:
    """The habits of the endpoint's server, by its host; behind a proxy, by the name of the built-in provider."""
    known = BUILT_IN.get(endpoint.provider)
    hosts = [endpoint.host]
    if known:
        hosts.append(known.base_url.split("/")[2])
    for host in hosts:
        for suffix, dialect in _BY_HOST.items():
            if host == suffix or host.endswith("." + suffix):
                is_silent = dialect is _OPENAI and openai_style(endpoint.model) == "silent"
                return replace(dialect, thinking="silent") if is_silent else dialect
    return _BY_NAME.get(endpoint.provider) or Dialect()
