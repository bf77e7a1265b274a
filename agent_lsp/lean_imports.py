"""Spares a start what libraries bring along and no server uses. Each costs nothing but milliseconds, which are told.

Only the server's own process does this, before it imports anything that the functions are about; whoever imports
agent-lsp as a library has all of these libraries as they are. A library that looks elsewhere than expected is no
quicker than usual, and nothing else.
"""

from __future__ import annotations

import sys
import typing
from importlib import import_module
from types import ModuleType


def spare() -> None:
    """All of it: 35 ms of a start of 170 where 100 packages are installed, and 25 before the first request."""
    _forgo_pydantic_plugins()
    _forgo_asyncio_tls()
    _forgo_schema_types()
    _forgo_httpx_command()


def _forgo_pydantic_plugins() -> None:
    """Has pydantic look for no plugins: it would read the metadata of every installed package, 22 ms.

    A plugin would see each message, too.
    """
    loader = ModuleType("pydantic.plugin._loader")
    loader.__dict__["get_plugins"] = tuple
    sys.modules.setdefault(loader.__name__, loader)


def _forgo_asyncio_tls() -> None:
    """Has asyncio do as in a Python without OpenSSL, 7 ms: nobody asks asyncio for TLS.

    Connections to providers are encrypted by httpx, which brings it when it is imported itself.
    """
    if "ssl" in sys.modules or "asyncio" in sys.modules:
        return
    sys.modules["ssl"] = typing.cast("ModuleType", None)  # its import fails
    try:
        import_module("asyncio")
    finally:
        del sys.modules["ssl"]


class _Untyped(dict[str, object]):
    """A `TypedDict` whose keys nobody will look at."""

    def __init_subclass__(cls, *, total: bool = True) -> None:
        """Takes what the head of a `TypedDict` may say."""


def _forgo_schema_types() -> None:
    """Has the schemas of pydantic's core be plain dictionaries, 6 ms: it declares 60 of them, key by key, for checkers.

    Those keys are read by no program. The kinds that somebody does read (`ConfigDict`) are declared elsewhere.
    """
    if "pydantic_core" in sys.modules:
        return
    extensions = import_module("typing_extensions")  # which may take over what `typing` has
    source = extensions if sys.version_info < (3, 12) else typing
    declared = source.TypedDict
    source.__dict__["TypedDict"] = _Untyped
    try:
        import_module("pydantic_core")
    finally:
        source.__dict__["TypedDict"] = declared


def _forgo_httpx_command() -> None:
    """Has httpx do without its command line, as it does where rich and click are not installed; else 25 ms."""
    sys.modules.setdefault("httpx._main", typing.cast("ModuleType", None))
