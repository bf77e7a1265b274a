"""The models of a process: what the configuration, and the machine it runs on, make of a name."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_lsp.app.surroundings import Surroundings
from agent_lsp.engine.options import EngineOptions
from agent_lsp.errors import ModelUnavailable, ModelUnsettled
from agent_lsp.providers import build as adapters
from agent_lsp.providers import catalog, egress
from agent_lsp.providers.endpoint import Endpoint, endpoint_for, is_elsewhere
from agent_lsp.providers.keys import secret_values
from agent_lsp.providers.lazy import LazyLLM
from agent_lsp.sessions.open_session import Model
from agent_lsp.sessions.prompt import COMPACTION_PROMPT
from agent_lsp.slotted import replace
from agent_lsp.trace.paths import make_private

if TYPE_CHECKING:
    from agent_lsp.config.settings import Settings
    from agent_lsp.engine.ports import LLM
    from agent_lsp.providers.catalog import Providers
    from agent_lsp.sessions.model_source import ModelSource

_log = logging.getLogger(__name__)


class Models:
    """What can be asked of providers under one configuration, which `configure` replaces."""

    def __init__(self, settings: Settings, providers: Providers, environ: Mapping[str, str], data_dir: Path) -> None:
        self._environ, self._data_dir = environ, data_dir
        self._around = Surroundings(environ)
        self._settings, self._configured = settings, providers
        self._know()

    def configure(self, settings: Settings, providers: Providers) -> bool:
        """Puts another configuration in force; models that are in use follow it with their next request.

        Whether it says anything else of providers.
        """
        is_other = providers != self._configured
        self._settings, self._configured = settings, providers
        self._around.forget()
        self._know()
        return is_other

    def _know(self) -> None:
        self._providers = self._around.table(self._configured)
        self._secrets = secret_values(self._providers, self._environ)

    def secrets(self) -> frozenset[str]:
        """Every credential that is known now."""
        return self._secrets

    # --- which there are ---

    @property
    def is_settled(self) -> bool:
        """Whether `listed` says all there is (`sessions.model_source.ModelSource`)."""
        return not self._around.may_list(self._settings.default_model, self._configured)

    @property
    def is_right(self) -> bool:
        """Whether `listed` is right as far as it goes."""
        return not self._around.may_mend(self._settings.default_model, self._configured)

    def listed(self) -> dict[str, Any]:
        """The models as the client is told, and which one a session has that names none."""
        return {
            "models": catalog.configured_models(self._providers, self._environ),
            "defaultModel": self._default(),
        }

    def is_kept(self, name: str) -> bool:
        """Whether a key of the keyring would be used for the model."""
        provider = name.partition("/")[0]
        return self._around.could_keep(provider, self._configured) and not self._must_stay_away(provider)

    async def look(self, *, afresh: bool = False) -> None:
        """Asks the keyring and, where nothing is configured, this machine for model servers."""
        await self._around.look(self._settings.default_model, self._configured, afresh=afresh)
        self._know()

    async def test(self, name: str) -> dict[str, Any]:
        """Tries the model out, with the key that is kept now. Raises ModelUnavailable."""
        from agent_lsp.providers import probe

        return await probe.test_model(self.get(name).endpoint)

    # --- one of them ---

    def default(self) -> str:
        """The model of a session that names none, as `provider/model`. Raises ModelUnsettled before the first look."""
        if self._around.may_choose(self._settings.default_model, self._configured):
            raise ModelUnsettled("no model is configured, and none was looked for yet")
        chosen = self._default()
        return f"{chosen['provider']}/{chosen['model']}"

    def get(self, name: str) -> Model:
        """The model `provider/model`. Raises ModelUnavailable, ModelUnsettled where the keyring may have its key."""
        provider = name.partition("/")[0]
        if self._around.may_have_key(provider, self._configured) and not self._must_stay_away(provider):
            raise ModelUnsettled(f"the keyring was not asked for a key of {provider!r} yet")
        return Model(self._endpoint(name))

    def llm(self, model: Model) -> LLM:
        """The model itself, imported with its first request; its key is looked up for each."""
        return LazyLLM(lambda: self._endpoint(model.name))

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

    def _endpoint(self, name: str) -> Endpoint:
        provider, _, model = name.partition("/")
        if self._must_stay_away(provider):
            raise ModelUnavailable(
                f"{name} is not on this machine", hint="choose a local model, or set offline = false"
            )
        endpoint = endpoint_for(provider, model, self._providers, self._environ)
        if endpoint.api not in adapters.APIS:  # a run would only find out when its request is made
            raise ModelUnavailable(
                f"provider {provider!r} speaks {endpoint.api!r}, which this version does not",
                hint=f"set providers.{provider}.api to one of {', '.join(adapters.APIS)}",
            )
        return self._noted(endpoint)

    def _must_stay_away(self, provider: str) -> bool:
        return self._settings.offline and is_elsewhere(provider, self._providers, self._environ)

    def _default(self) -> dict[str, str]:
        return catalog.default_model(self._settings.default_model, self._providers, self._environ)

    def _noted(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint, told where its requests are noted if the person wants that."""
        if not self._settings.egress_log:
            return endpoint
        try:
            make_private(self._data_dir)
        except OSError as error:  # each request will say that it could not be noted
            _log.warning("%s cannot be made: %s", self._data_dir, error.strerror or error)
        return replace(endpoint, egress_log=str(self._data_dir / egress.FILE_NAME))


if TYPE_CHECKING:
    _: type[ModelSource] = Models
