"""Where the credentials of the providers are, and what they are: kept from commands, and out of what tools say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_lsp.config import builtin
from agent_lsp.providers import catalog

Providers = Mapping[str, Mapping[str, Any]]


def key_variables(providers: Providers) -> frozenset[str]:
    """The environment variables that hold keys of providers."""
    built_in = (name for names in builtin.KEY_VARIABLES.values() for name in names)
    named = (settings.get("api_key_env") for settings in providers.values())
    return frozenset((*built_in, *(name for name in named if name)))


def secret_values(providers: Providers, environ: Mapping[str, str]) -> frozenset[str]:
    """Every credential there is, the values of configured headers included."""
    keys = [catalog.credential(name, settings, environ) for name, settings in providers.items()]
    headers: list[str] = [value for settings in providers.values() for value in settings.get("headers", {}).values()]
    inherited = map(environ.get, key_variables(providers))
    return frozenset(value for value in (*keys, *headers, *inherited) if value)
