"""The models of a process: what the configuration makes of a name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_lsp.config.builtin import REHEARSAL
from agent_lsp.config.settings import Settings
from agent_lsp.engine.options import EngineOptions
from agent_lsp.engine.ports import LLM
from agent_lsp.errors import ModelUnavailable
from agent_lsp.providers import build as adapters
from agent_lsp.providers import catalog
from agent_lsp.providers.endpoint import Endpoint, endpoint_for
from agent_lsp.providers.keys import secret_values
from agent_lsp.providers.lazy import LazyLLM
from agent_lsp.sessions.open_session import Model
from agent_lsp.sessions.prompt import COMPACTION_PROMPT


class Models:
    """What can be asked of providers under one configuration, which `configure` replaces."""

    def __init__(self, settings: Settings, providers: Mapping[str, dict[str, Any]], environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.configure(settings, providers)

    def configure(self, settings: Settings, providers: Mapping[str, dict[str, Any]]) -> None:
        """Puts another configuration in force; models that are in use follow it with their next request."""
        self._settings, self._providers = settings, providers

    def secrets(self) -> frozenset[str]:
        """Every credential there is."""
        return secret_values(self._providers, self._environ)

    def default(self) -> str:
        """The model of a session that names none, as `provider/model`."""
        chosen = catalog.default_model(self._settings.default_model, self._providers, self._environ)
        return f"{chosen['provider']}/{chosen['model']}"

    def get(self, name: str) -> Model:
        """The model `provider/model`. Raises ModelUnavailable."""
        provider, _, model = name.partition("/")
        endpoint = endpoint_for(provider, model, self._providers, self._environ)
        if endpoint.api not in adapters.APIS:  # a run would only find out when its request is made
            raise ModelUnavailable(
                f"provider {provider!r} speaks {endpoint.api!r}, which this version does not",
                hint=f"set providers.{provider}.api to one of {', '.join(adapters.APIS)}",
            )
        if self._settings.offline and endpoint.api != REHEARSAL and not endpoint.is_loopback:
            raise ModelUnavailable(
                f"{name} is not on this machine", hint="choose a local model, or set offline = false"
            )
        return Model(endpoint)

    def llm(self, model: Model) -> LLM:
        """The model itself, imported with its first request; its key is looked up for each."""
        return LazyLLM(lambda: self.get(model.name).endpoint)

    def options(self, endpoint: Endpoint, max_turns: int | None) -> EngineOptions:
        """The engine's settings for a session on this model."""
        reconnect, compaction = self._settings.reconnect, self._settings.compaction
        return EngineOptions(
            max_turns=self._settings.max_turns if max_turns is None else max_turns,
            max_retries=reconnect.max_retries,
            retry_base_ms=reconnect.base_ms,
            retry_cap_ms=reconnect.cap_ms,
            context_window=endpoint.context_window,
            max_output_tokens=endpoint.max_output_tokens,
            vision=endpoint.vision,
            compaction_mode=compaction.mode,
            compaction_prompt=compaction.prompt or COMPACTION_PROMPT,
            max_context_length=compaction.max_context_length,
            max_session_turns=compaction.max_session_turns,
        )
