"""Keys of providers in the system's keyring, which is asked last and never for long.

A keyring may ask the person to unlock it, or hang. So it is asked in a thread that nobody waits for at exit. The
package `keyring` is optional: without it there are no kept keys, and keeping one is refused with what to install.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from agent_lsp.config.builtin import REHEARSAL
from agent_lsp.errors import ConfigError
from agent_lsp.providers import catalog
from agent_lsp.providers.catalog import BUILT_IN, LOCAL, Providers

SERVICE = "agent-lsp"
WITHIN_S = 2.0

_log = logging.getLogger(__name__)
_NOT_INSTALLED = "keys are kept in the system keyring, which needs the package keyring: install agent-lsp[keyring]"

T = TypeVar("T")


def kept_keys(names: Iterable[str] = tuple(BUILT_IN), *, within_s: float = WITHIN_S) -> dict[str, str]:
    """The kept key of each provider that has one. Blocks up to `within_s` for all; what fails is as if nothing were."""

    def read() -> dict[str, str]:
        import keyring

        found = ((name, keyring.get_password(SERVICE, name)) for name in names)
        return {name: key for name, key in found if key}

    try:
        return _asked(read, within_s)
    except ImportError:
        return {}
    except ConfigError as error:
        _log.info("no keys from the keyring: %s", error.message)
        return {}


def keep_key(provider: str, key: str, *, within_s: float = WITHIN_S) -> None:
    """Keeps a provider's key, in the place of an earlier one. Raises ConfigError where that does not work."""

    def write() -> None:
        import keyring

        keyring.set_password(SERVICE, provider, key)

    _changed(write, within_s)


def forget_key(provider: str, *, within_s: float = WITHIN_S) -> bool:
    """Drops a provider's kept key; whether there was one. Raises ConfigError where that does not work."""

    def drop() -> bool:
        import keyring

        known = keyring.get_password(SERVICE, provider) is not None
        if known:
            keyring.delete_password(SERVICE, provider)
        return known

    return _changed(drop, within_s)


def with_kept_keys(providers: Providers, environ: Mapping[str, str], keys: Mapping[str, str]) -> Providers:
    """The `providers` table with a kept key for each provider that has no other credential."""
    added = {
        name: {**providers.get(name, {}), "api_key": key}
        for name, key in keys.items()
        if (name in BUILT_IN or name in providers) and not _has_own(name, providers, environ)
    }
    return {**providers, **added}


def lacks_key(name: str, providers: Providers, environ: Mapping[str, str]) -> bool:
    """Whether a kept key of the provider would be used: it has no other credential, and its server may want one.

    A server on this machine wants one if the configuration names a variable for it.
    """
    if (name not in BUILT_IN and name not in providers) or _has_own(name, providers, environ):
        return False
    settings = providers.get(name, {})
    is_elsewhere = not catalog.is_loopback(str(settings.get("base_url") or ""))
    needs_none = settings.get("api") == REHEARSAL or name in LOCAL or name == REHEARSAL
    return bool(catalog.key_names(name, settings)) or (is_elsewhere and not needs_none)


def _has_own(name: str, providers: Providers, environ: Mapping[str, str]) -> bool:
    settings = providers.get(name, {})
    return bool(catalog.credential(name, settings, environ) or settings.get("headers"))


def _changed(change: Callable[[], T], within_s: float) -> T:
    try:
        return _asked(change, within_s)
    except ImportError as error:
        raise ConfigError(_NOT_INSTALLED) from error


def _asked(ask: Callable[[], T], within_s: float) -> T:
    """The answer of the keyring. Raises ConfigError with what is wrong, ImportError without the package."""
    answers: list[T] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            answers.append(ask())
        except Exception as error:  # whatever the platform's backend raises: it is told, in the thread that asked
            errors.append(error)

    thread = threading.Thread(target=run, name="keyring", daemon=True)
    thread.start()
    thread.join(within_s)
    if answers:
        return answers[0]
    if errors and isinstance(errors[0], ImportError):
        raise errors[0]
    said = f"{type(errors[0]).__name__}: {errors[0]}" if errors else f"no answer within {within_s:g} s"
    raise ConfigError(f"the system keyring cannot be used ({said})")
