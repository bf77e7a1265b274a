"""Where one model is reached and with what: everything an adapter needs to know, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from agent_lsp.config.builtin import REHEARSAL
from agent_lsp.errors import ModelUnavailable
from agent_lsp.providers import catalog
from agent_lsp.providers.catalog import BUILT_IN, KNOWN, BuiltIn, Providers
from agent_lsp.slotted import field, frozen

REQUEST_TIMEOUT_S = 120.0
LOOPBACK_REQUEST_TIMEOUT_S = 600.0
"""A model on this machine is silent while it reads a long prompt."""
CONTENT_TIMEOUT_S = 600.0

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


@frozen
class Endpoint:
    """One model of one provider. Times in seconds; `repr` shows neither the key nor a header."""

    provider: str
    api: str
    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default=_NO_HEADERS, repr=False)
    context_window: int | None = None
    max_output_tokens: int | None = None
    vision: bool = False
    tool_calling: bool = True
    think_tags: bool = False
    egress_log: str | None = None
    """File that is told of each request, see `egress`; None: nothing is."""
    request_timeout_s: float = REQUEST_TIMEOUT_S
    content_timeout_s: float = CONTENT_TIMEOUT_S

    @property
    def is_loopback(self) -> bool:
        """Whether requests stay on this machine."""
        return catalog.is_loopback(self.base_url)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never be shown: the key, the headers' values, a password inside the URL."""
        inside = urlsplit(self.base_url).password
        return tuple(filter(None, (self.api_key, *self.headers.values(), inside)))

    @property
    def host(self) -> str:
        """The host's name, without a port."""
        return urlsplit(self.base_url).hostname or ""

    def url(self, path: str) -> str:
        """The URL of `path` below the base, whose own query stays at the end."""
        base = urlsplit(self.base_url)
        return urlunsplit(base._replace(path=base.path.rstrip("/") + path))


def endpoint_for(provider: str, model: str, providers: Providers, environ: Mapping[str, str]) -> Endpoint:
    """The endpoint of a model. Raises ModelUnavailable, with a hint that says what to set."""
    settings, known = providers.get(provider, {}), KNOWN.get(provider)
    if provider not in providers and known is None:
        raise _unknown(provider, model)
    if not model:
        raise ModelUnavailable(f"no model named for provider {provider!r}", hint='write it as "provider/model"')
    api = settings.get("api") or (known.api if known else "")
    if not api:
        raise ModelUnavailable(
            f"provider {provider!r} has no api", hint=f'set providers.{provider}.api, e.g. "openai-chat"'
        )
    if provider == REHEARSAL and model != REHEARSAL:
        raise ModelUnavailable(f"the rehearsal has no model {model!r}", hint="use rehearsal/rehearsal")
    base_url = _base_url(settings, known, api, environ)
    if api != REHEARSAL:
        _require_url(provider, base_url)
        _require_key(provider, settings, environ)
    facts = catalog.model_settings(provider, model, providers)
    timeout_s = LOOPBACK_REQUEST_TIMEOUT_S if catalog.is_loopback(base_url) else REQUEST_TIMEOUT_S
    return Endpoint(
        provider=provider,
        api=api,
        base_url=base_url,
        model=model,
        api_key=catalog.credential(provider, settings, environ),
        headers=MappingProxyType(dict(settings.get("headers") or {})),
        context_window=facts.context_window,
        max_output_tokens=facts.max_output_tokens,
        vision=facts.vision,
        tool_calling=facts.tool_calling,
        think_tags=facts.think_tags,
        request_timeout_s=float(settings.get("request_timeout") or timeout_s),
        content_timeout_s=float(settings.get("content_timeout") or CONTENT_TIMEOUT_S),
    )


def _unknown(provider: str, model: str) -> ModelUnavailable:
    names = ", ".join(KNOWN)
    if not model:
        return ModelUnavailable(
            f"{provider!r} names no provider", hint=f'write it as "provider/model", with one of {names}'
        )
    return ModelUnavailable(
        f"no provider named {provider!r}", hint=f"configure providers.{provider}, or use one of {names}"
    )


def is_elsewhere(provider: str, providers: Providers, environ: Mapping[str, str]) -> bool:
    """Whether requests to the provider would leave this machine; not so for one that nobody knows."""
    settings, known = providers.get(provider, {}), KNOWN.get(provider)
    api = settings.get("api") or (known.api if known else REHEARSAL)
    return api != REHEARSAL and not catalog.is_loopback(_base_url(settings, known, api, environ))


def _base_url(settings: Mapping[str, Any], known: BuiltIn | None, api: str, environ: Mapping[str, str]) -> str:
    from_env = environ.get(known.base_url_env or "") if known else None
    usual = known.other_urls.get(api, known.base_url) if known else ""
    url = settings.get("base_url") or from_env or usual
    return str(url).strip()


def _require_url(provider: str, base_url: str) -> None:
    try:
        parts = urlsplit(base_url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        fits = False
    if not fits:
        what = "has no base URL" if not base_url else "has a base URL that is no http(s) address"
        raise ModelUnavailable(f"provider {provider!r} {what}", hint=f"set providers.{provider}.base_url")


def _require_key(provider: str, settings: Mapping[str, Any], environ: Mapping[str, str]) -> None:
    if catalog.has_credential(provider, settings, environ):
        return
    names = catalog.key_names(provider, settings)
    where = " or ".join(names)
    more = f", or keep it with `agent-lsp login {provider}`" if provider in BUILT_IN else ""
    raise ModelUnavailable(f"no API key for provider {provider!r}", hint=f"set {where} in the environment{more}")
