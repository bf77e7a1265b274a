"""Gathers what `report` tells: the only part of it that looks at the machine."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from agent_lsp import __version__
from agent_lsp.config import builtin, places
from agent_lsp.config.layers import BUILT_IN, ENVIRONMENT, Merged
from agent_lsp.config.problems import SECRET, InvalidSettings, hides
from agent_lsp.config.sections import Section
from agent_lsp.config.settings import Settings, validate
from agent_lsp.config.spelling import dotted
from agent_lsp.slotted import frozen

PROGRAMS = ("git", "rg", "bwrap", "bash")
PACKAGES = ("mcp", "tree_sitter", "genai_prices", "keyring")


@frozen
class InForce:
    """One setting: `value` is text for a person, never a credential; `source` is the layer that said it."""

    key: str
    value: str
    source: str


@frozen
class Credential:
    """Whether a provider has a key, and where it would come from."""

    provider: str
    place: str
    found: bool


@frozen
class Facts:
    """The state of one installation, as seen from one workspace. Paths are text; a missing program has no path.

    `settings` is None when the configuration does not fit; then `problems` says why.
    """

    version: str
    python: str
    platform: str
    user_file: str
    user_file_exists: bool
    data_dir: str
    data_dir_source: str
    data_dir_usable: bool
    workspace: str | None
    trusted: bool
    programs: Mapping[str, str | None]
    packages: Mapping[str, bool]
    credentials: tuple[Credential, ...]
    settings: Settings | None
    in_force: tuple[InForce, ...]
    warnings: tuple[str, ...]
    problems: tuple[str, ...]


def gather(
    merged: Merged,
    *,
    workspace: str | None,
    trusted: bool,
    kept: frozenset[str] = frozenset(),
    environ: Mapping[str, str] = os.environ,
) -> Facts:
    """Looks at the machine; reads nothing but what is there, writes nothing, contacts nobody.

    `kept` are the providers whose key is in the keyring, and nowhere else.
    """
    problems: tuple[str, ...] = ()
    settings: Settings | None = None
    try:
        settings = validate(merged)
    except InvalidSettings as error:
        problems = tuple(map(str, error.problems))
    return Facts(
        version=__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        user_file=merged.user_file,
        user_file_exists=Path(merged.user_file).is_file(),
        data_dir=merged.data_dir,
        data_dir_source=_data_dir_source(merged, environ),
        data_dir_usable=_can_write(Path(merged.data_dir)),
        workspace=workspace,
        trusted=trusted,
        programs={name: shutil.which(name, path=environ.get("PATH")) for name in PROGRAMS},
        packages={name: importlib.util.find_spec(name) is not None for name in PACKAGES},
        credentials=tuple(_credentials(settings, kept, environ)) if settings else (),
        settings=settings,
        in_force=tuple(in_force(settings, merged)) if settings else (),
        warnings=tuple(merged.warnings),
        problems=problems,
    )


def in_force(settings: Settings, merged: Merged) -> Iterator[InForce]:
    """Every setting that has a value, in the order of the model."""
    return _leaves(settings, (), merged)


def _leaves(value: Any, path: tuple[str, ...], merged: Merged) -> Iterator[InForce]:
    if isinstance(value, Section):
        value = {name: getattr(value, name) for name in type(value).model_fields}
    if isinstance(value, dict):
        for name, below in cast("dict[str, Any]", value).items():
            yield from _leaves(below, (*path, name), merged)
    elif value is not None:
        yield _told(value, path, merged)


def _told(value: object, path: tuple[str, ...], merged: Merged) -> InForce:
    key = dotted(path)
    text = SECRET if hides(path, value) else json.dumps(value, ensure_ascii=False)
    return InForce(key, text, merged.sources.get(key, BUILT_IN))


def _credentials(settings: Settings, kept: frozenset[str], environ: Mapping[str, str]) -> Iterator[Credential]:
    for name in sorted(kept):
        yield Credential(name, "keyring", found=True)
    for name, provider in settings.providers.items():
        if name in kept:
            continue
        if provider.api_key is not None:
            yield Credential(name, "configuration", found=True)
        elif provider.api_key_env is not None:
            yield Credential(name, provider.api_key_env, found=bool(environ.get(provider.api_key_env)))
    for name, variables in builtin.KEY_VARIABLES.items():
        if name in kept:
            continue
        entry = settings.providers.get(name)
        if entry is None or (entry.api_key is None and entry.api_key_env is None):
            present = next((variable for variable in variables if environ.get(variable)), None)
            yield Credential(name, present or " or ".join(variables), found=present is not None)


def _data_dir_source(merged: Merged, environ: Mapping[str, str]) -> str:
    said = merged.values.get("data_dir")
    if said is not None and places.absolute(str(said), environ) == merged.data_dir:
        return merged.source("data_dir")
    return ENVIRONMENT if environ.get(places.DATA_DIR_VARIABLE) else BUILT_IN


def _can_write(folder: Path) -> bool:
    """Whether `folder` can be written, or made where it does not exist yet."""
    existing = next((place for place in (folder, *folder.parents) if place.exists()), None)
    return existing is not None and existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
