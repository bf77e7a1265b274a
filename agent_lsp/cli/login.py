"""`agent-lsp login` and `logout`: keys of providers in the system's keyring, out of files and the environment."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Callable
from getpass import getpass
from pathlib import Path

from agent_lsp.cli.status import USAGE
from agent_lsp.config.layers import load
from agent_lsp.config.settings import validate
from agent_lsp.errors import ConfigError
from agent_lsp.policy.visible import visible_line
from agent_lsp.providers import catalog, credentials
from agent_lsp.providers.catalog import BUILT_IN, Providers

_WITHIN_S = 120.0
"""A keyring that is locked asks the person first."""


def add_login(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Adds both commands to those that `add` makes."""
    login = add(
        "login",
        help="keep a provider's key in the keyring",
        description="Asks for the key, or reads it from stdin where that is no terminal, and keeps it in the system's"
        " keyring. A key that the environment or the configuration has goes before it.",
    )
    logout = add("logout", help="drop a provider's key from the keyring")
    for command, carry_out in ((login, _login), (logout, _logout)):
        command.add_argument("provider", metavar="PROVIDER", help=f"one of {', '.join(BUILT_IN)}, or one of your own")
        command.add_argument("--config", type=Path, metavar="FILE", help="a user configuration to read instead")
        command.set_defaults(carry_out=carry_out)


def _login(given: argparse.Namespace) -> int:
    name = given.provider
    providers, user_file = _configured(given.config)
    instead = _instead(name, providers, user_file)
    _refuse_unless_wanted(name, providers)
    if importlib.util.find_spec("keyring") is None:
        raise ConfigError(f"keys are kept by the package keyring, which agent-lsp[keyring] installs. {instead}")
    key = _read_key(name)
    if key is None:
        print("agent-lsp: that is no key: one word without blanks was expected", file=sys.stderr)
        return USAGE
    try:
        credentials.keep_key(name, key, within_s=_WITHIN_S)
    except ConfigError as error:
        raise ConfigError(f"{error.message}. {instead}") from error
    print(visible_line(f"the key of {name} is kept in the keyring"))
    if not credentials.lacks_key(name, providers, os.environ):
        print(visible_line(f"but the environment or {user_file} has a credential of {name} too, which goes before it"))
    return 0


def _logout(given: argparse.Namespace) -> int:
    dropped = credentials.forget_key(given.provider, within_s=_WITHIN_S)
    said = "is no longer kept in the keyring" if dropped else "was not in the keyring"
    print(visible_line(f"the key of {given.provider} {said}"))
    return 0


def _configured(config: Path | None) -> tuple[Providers, str]:
    merged = load(arguments={"config": str(config.absolute())} if config else None)
    validate(merged)
    return merged.values.get("providers", {}), merged.user_file


def _refuse_unless_wanted(name: str, providers: Providers) -> None:
    """Raises ConfigError for a provider whose kept key nobody would ask for."""
    settings = providers.get(name, {})
    has_own = bool(catalog.credential(name, settings, os.environ) or settings.get("headers"))
    if name in BUILT_IN or has_own or credentials.lacks_key(name, providers, os.environ):
        return
    if name in providers or name in catalog.KNOWN:
        more = f"; if it does, name a variable for it: providers.{name}.api_key_env" if name in providers else ""
        raise ConfigError(f"{name} is on this machine and wants no key{more}")
    raise ConfigError(f"no provider named {name}: it is one of {', '.join((*BUILT_IN, *providers))}")


def _instead(name: str, providers: Providers, user_file: str) -> str:
    variables = catalog.key_names(name, providers.get(name, {}))
    environment = f"set {' or '.join(variables)} in the environment, or " if variables else ""
    return f"Instead, {environment}put api_key under [providers.{name}] in {user_file} (with mode 0600)"


def _read_key(name: str) -> str | None:
    """What was typed without echo, or came on stdin; None when that cannot be a key."""
    if sys.stdin.isatty():
        try:
            typed = getpass(visible_line(f"Key of {name} (it is not shown): "))
        except EOFError:
            return None
    else:
        typed = sys.stdin.read()
    key = typed.strip()
    return key if key and key.isprintable() and not any(letter.isspace() for letter in key) else None
