"""What the machine adds to the configuration: keys in its keyring, and model servers that run on it.

Both are asked when something needs them, and what they said is kept: neither is worth a wait at every turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from agent_lsp.providers import catalog
from agent_lsp.providers.catalog import BUILT_IN, Providers
from agent_lsp.providers.credentials import kept_keys, lacks_key, with_kept_keys
from agent_lsp.providers.discovery import as_providers, discover


class Surroundings:
    """What has been found so far. `configured` is the table of the configuration, `default` the model that it names."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._keys: dict[str, str] = {}
        self._found: dict[str, dict[str, Any]] = {}
        self._asked_for: frozenset[str] = frozenset()
        self._has_looked = False
        self._one_at_a_time = asyncio.Lock()

    def table(self, configured: Providers) -> Providers:
        """All that is known of providers: what was found, what is configured, and kept keys where no other is."""
        return {**self._found, **with_kept_keys(configured, self._environ, self._keys)}

    def forget(self) -> None:
        """Has the next need ask the keyring again; until then, what it said holds."""
        self._asked_for = frozenset()

    def may_have_key(self, provider: str, configured: Providers) -> bool:
        """Whether the provider wants a key that only the keyring could have, which was not asked for it yet."""
        unknown = provider not in self._keys and provider not in self._asked_for
        return unknown and self.could_keep(provider, configured)

    def could_keep(self, provider: str, configured: Providers) -> bool:
        """Whether a key of the keyring would be used for the provider."""
        return lacks_key(provider, configured, self._environ)

    def may_choose(self, default: str | None, configured: Providers) -> bool:
        """Whether something that was not looked at yet could decide which model a session without one has."""
        return self._is_bare(default, configured) and (not self._has_looked or bool(self._lacking(configured)))

    def may_list(self, default: str | None, configured: Providers) -> bool:
        """Whether there may be more models to list: a server may have been started since none was found."""
        return bool(self._lacking(configured)) or (self._is_bare(default, configured) and not self._found)

    def may_mend(self, default: str | None, configured: Providers) -> bool:
        """Whether what is listed may be wrong: the default model, or that a configured provider has no key."""
        if self._is_bare(default, configured):
            return self.may_list(default, configured)
        return any(self.may_have_key(name, configured) for name in configured)

    async def look(self, default: str | None, configured: Providers, *, afresh: bool = False) -> None:
        """Asks the keyring, as far as a key could be there, then this machine if nothing is configured even so."""
        async with self._one_at_a_time:
            if afresh:
                self.forget()
            if names := self._lacking(configured):
                self._keys = {
                    **{name: key for name, key in self._keys.items() if name not in names},
                    **await asyncio.to_thread(kept_keys, sorted(names)),
                }
                self._asked_for |= names
            if self._is_bare(default, configured) and not self._found:
                self._found = as_providers(await discover())
            self._has_looked = True

    def _lacking(self, configured: Providers) -> set[str]:
        """The providers that the keyring could be asked for."""
        names = {*BUILT_IN, *configured} - self._asked_for
        return {name for name in names if self.could_keep(name, configured)}

    def _is_bare(self, default: str | None, configured: Providers) -> bool:
        known = with_kept_keys(configured, self._environ, self._keys)
        return catalog.is_nothing_configured(default, known, self._environ)
