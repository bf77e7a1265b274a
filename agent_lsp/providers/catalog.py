"""The providers and models that are known without asking anyone: plain data and pure functions.

Standard library only: the handshake is answered from here, before anything heavy is imported. Lists of models age; a
model that is not listed gets safe defaults, so that a list is a convenience and never a gate.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from agent_lsp.config.builtin import KEY_VARIABLES, LOCAL_PORTS, REHEARSAL
from agent_lsp.slotted import field, frozen, replace

Providers = Mapping[str, Mapping[str, Any]]
"""The `providers` table of the configuration, merged, keys in snake_case."""


@frozen
class Model:
    """What is known of a model; None is unknown."""

    context_window: int | None = None
    max_output_tokens: int | None = None
    vision: bool = False
    tool_calling: bool = True
    think_tags: bool = False


@frozen
class BuiltIn:
    """A provider that needs no configuration but a key; one without `key_env` needs none."""

    api: str
    base_url: str
    key_env: tuple[str, ...] = ()
    base_url_env: str | None = None
    default_model: str | None = None
    models: Mapping[str, Model] = field(default_factory=dict[str, Model])
    other_urls: Mapping[str, str] = field(default_factory=dict[str, str])
    """Base URLs of other dialects that the provider speaks."""


def _hosted(
    name: str,
    api: str,
    base_url: str,
    default_model: str,
    models: Mapping[str, Model],
    other_urls: Mapping[str, str] | None = None,
) -> BuiltIn:
    url_variable = f"{name.upper()}_BASE_URL"
    return BuiltIn(api, base_url, KEY_VARIABLES[name], url_variable, default_model, models, other_urls or {})


_CLAUDE = Model(200_000, 64_000, vision=True)
_GPT = Model(400_000, 128_000, vision=True)
_GPT_OSS = Model(131_072)
_GEMINI = Model(1_048_576, 65_536, vision=True)
_FAMILIES: tuple[tuple[str, Model], ...] = (
    ("claude-", Model(200_000, vision=True)),
    ("gemini-", Model(1_048_576, vision=True)),
    ("gpt-oss", _GPT_OSS),
    ("gpt-5", Model(400_000, vision=True)),
    ("gpt-4o", Model(128_000, vision=True)),
)
"""What a model that is not listed is taken for, by a part of its name."""

BUILT_IN: Mapping[str, BuiltIn] = {
    "anthropic": _hosted(
        "anthropic",
        "anthropic",
        "https://api.anthropic.com",
        "claude-sonnet-5",
        {
            "claude-sonnet-5": _CLAUDE,
            "claude-sonnet-4-5": _CLAUDE,
            "claude-opus-4-5": _CLAUDE,
            "claude-haiku-4-5": _CLAUDE,
        },
    ),
    "openai": _hosted(
        "openai",
        "openai-responses",
        "https://api.openai.com/v1",
        "gpt-5.1",
        {
            "gpt-5.1": _GPT,
            "gpt-5.1-codex": _GPT,
            "gpt-5": _GPT,
            "gpt-5-mini": _GPT,
            "gpt-4.1": Model(1_047_576, 32_768, vision=True),
        },
    ),
    "gemini": _hosted(
        "gemini",
        "gemini",
        "https://generativelanguage.googleapis.com",
        "gemini-2.5-pro",
        dict.fromkeys(("gemini-2.5-pro", "gemini-2.5-flash", "gemini-3.1-pro-preview", "gemini-3.5-flash"), _GEMINI),
        {"openai-chat": "https://generativelanguage.googleapis.com/v1beta/openai"},
    ),
    "openrouter": _hosted(
        "openrouter",
        "openai-chat",
        "https://openrouter.ai/api/v1",
        "anthropic/claude-sonnet-4.5",
        {"anthropic/claude-sonnet-4.5": Model(200_000, vision=True), "openai/gpt-oss-120b": _GPT_OSS},
    ),
    "deepseek": _hosted(
        "deepseek",
        "openai-chat",
        "https://api.deepseek.com",
        "deepseek-chat",
        {"deepseek-chat": Model(128_000, 8_192), "deepseek-reasoner": Model(128_000, 64_000)},
    ),
    "mistral": _hosted(
        "mistral",
        "openai-chat",
        "https://api.mistral.ai/v1",
        "mistral-large-latest",
        {"mistral-large-latest": Model(128_000), "mistral-small-latest": Model(128_000, vision=True)},
    ),
    "groq": _hosted(
        "groq",
        "openai-chat",
        "https://api.groq.com/openai/v1",
        "openai/gpt-oss-120b",
        {"openai/gpt-oss-120b": _GPT_OSS, "openai/gpt-oss-20b": _GPT_OSS},
    ),
    "xai": _hosted(
        "xai",
        "openai-chat",
        "https://api.x.ai/v1",
        "grok-code-fast-1",
        {"grok-code-fast-1": Model(256_000), "grok-4": Model(256_000, vision=True)},
    ),
    "zai": _hosted("zai", "openai-chat", "https://api.z.ai/api/paas/v4", "glm-4.7", {"glm-4.7": Model(200_000)}),
    "moonshot": _hosted(
        "moonshot",
        "openai-chat",
        "https://api.moonshot.ai/v1",
        "kimi-k2.5",
        {"kimi-k2.5": Model(262_144, vision=True)},
    ),
    "together": _hosted(
        "together",
        "openai-chat",
        "https://api.together.xyz/v1",
        "openai/gpt-oss-120b",
        {"openai/gpt-oss-120b": _GPT_OSS},
    ),
    "fireworks": _hosted(
        "fireworks",
        "openai-chat",
        "https://api.fireworks.ai/inference/v1",
        "accounts/fireworks/models/gpt-oss-120b",
        {"accounts/fireworks/models/gpt-oss-120b": _GPT_OSS},
    ),
    "cerebras": _hosted(
        "cerebras", "openai-chat", "https://api.cerebras.ai/v1", "gpt-oss-120b", {"gpt-oss-120b": _GPT_OSS}
    ),
}
"""Hosted providers, in the order in which a key makes one the default."""

LOCAL: Mapping[str, BuiltIn] = {
    name: BuiltIn("openai-chat", f"http://127.0.0.1:{port}/v1") for name, port in LOCAL_PORTS.items()
}
"""Servers on this machine, in the order in which they are asked for their models."""

_REHEARSAL = BuiltIn(REHEARSAL, "", default_model=REHEARSAL, models={REHEARSAL: Model(128_000, 8_192, vision=True)})
KNOWN: Mapping[str, BuiltIn] = {**BUILT_IN, **LOCAL, REHEARSAL: _REHEARSAL}


@lru_cache(maxsize=64)  # asked twice for each request
def is_loopback(url: str) -> bool:
    """Whether the URL's host is this machine, by name or address (names are not looked up)."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
        return host == "localhost" or host.endswith(".localhost") or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def key_names(provider: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The environment variables that may hold the provider's key, first one first."""
    known = KNOWN.get(provider)
    named = settings.get("api_key_env")
    return (*([named] if named else []), *(known.key_env if known else ()))


def credential(provider: str, settings: Mapping[str, Any], environ: Mapping[str, str]) -> str | None:
    """The provider's key: the configured one, else the first variable that holds one."""
    given = settings.get("api_key") or next(filter(None, map(environ.get, key_names(provider, settings))), None)
    return str(given).strip() if given else None


def has_credential(provider: str, settings: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
    """Whether requests can be made: there is a key, or nothing says that one is needed."""
    return bool(credential(provider, settings, environ) or settings.get("headers")) or not key_names(provider, settings)


def model_settings(provider: str, model: str, providers: Providers) -> Model:
    """What is known of a model: configuration over catalogue over safe defaults."""
    known = KNOWN.get(provider)
    listed = known.models.get(model) if known else None
    base = listed or next((family for part, family in _FAMILIES if part in model), Model())
    if provider in LOCAL:  # how much was loaded is the server's choice
        base = replace(base, context_window=None, max_output_tokens=None)
    given = _models(providers.get(provider, {})).get(model) or {}
    return Model(
        context_window=given.get("context_window", base.context_window),
        max_output_tokens=given.get("max_output_tokens", base.max_output_tokens),
        vision=given.get("vision", base.vision),
        tool_calling=given.get("tool_calling", base.tool_calling),
        think_tags=given.get("think_tags", base.think_tags),
    )


def configured_models(providers: Providers, environ: Mapping[str, str]) -> list[dict[str, Any]]:
    """A `ModelInfo` for each model of the configured providers, the built-in ones with a key, and the rehearsal."""
    return [_info(provider, model, providers, environ) for provider, model in _listed(providers, environ)]


def is_nothing_configured(default: str | None, providers: Providers, environ: Mapping[str, str]) -> bool:
    """Whether neither a model nor a provider was named and no key is there: then this machine may be asked."""
    return not default and not providers and not any(credential(name, {}, environ) for name in BUILT_IN)


def default_model(default: str | None, providers: Providers, environ: Mapping[str, str]) -> dict[str, str]:
    """The model of a session that names none, as `{"provider", "model"}`.

    A configured default stays what it is, usable or not: nothing stands in for it silently. Without one it is the first
    built-in provider with a key, else the first model of a local server that is listed, else the rehearsal.
    """
    if default:
        provider, _, model = default.partition("/")
        return {"provider": provider, "model": model}
    for name, known in BUILT_IN.items():
        if known.default_model and credential(name, providers.get(name, {}), environ):
            return {"provider": name, "model": known.default_model}
    for name in LOCAL:
        for model in _models(providers.get(name, {})):
            return {"provider": name, "model": model}
    return {"provider": REHEARSAL, "model": REHEARSAL}


def _listed(providers: Providers, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, settings in providers.items():
        known = KNOWN.get(name)
        for model in dict.fromkeys((*_models(settings), *(known.models if known else ()))):
            yield name, model
    for name, known in BUILT_IN.items():
        if name not in providers and credential(name, {}, environ):
            for model in known.models:
                yield name, model
    if REHEARSAL not in providers:
        yield REHEARSAL, REHEARSAL


def _models(settings: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    return settings.get("models") or {}


def _info(provider: str, name: str, providers: Providers, environ: Mapping[str, str]) -> dict[str, Any]:
    model = model_settings(provider, name, providers)
    info: dict[str, Any] = {"provider": provider, "model": name}
    if model.context_window:
        info["contextWindow"] = model.context_window
    if model.max_output_tokens:
        info["maxOutputTokens"] = model.max_output_tokens
    info |= {"vision": model.vision, "toolCalling": model.tool_calling}
    return info | {"hasCredential": has_credential(provider, providers.get(provider, {}), environ)}
