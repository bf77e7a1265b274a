"""Reads the layers of the configuration and merges them, later ones over earlier ones.

built in → user file → file of a trusted project → the editor's settings section → initializationOptions → command line

Standard library only, and TOML is imported when there is a file to read: this runs before `initialize` is answered.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import Any, cast

from agent_lsp.config import places, unknown
from agent_lsp.config.problems import is_secret
from agent_lsp.config.spelling import Path, dotted, normalised, visible
from agent_lsp.errors import ConfigError

BUILT_IN = "built in"
SETTINGS = "editor settings (agent)"
OPTIONS = "initializationOptions.agent"
COMMAND_LINE = "command line"
ENVIRONMENT = f"${places.DATA_DIR_VARIABLE}"


class Layer:
    """What one source says: `values` as they were written, in either spelling; `source` is a file or a name above."""

    __slots__ = ("source", "values")

    def __init__(self, source: str, values: Mapping[str, Any]) -> None:
        self.source, self.values = source, values


class Merged:
    """What all layers say together: only what was said, no built-in values.

    `values`: nested, snake_case. `sources`: dotted snake_case key → its layer. `warnings`: lines for a person.
    `user_file` and `data_dir` are absolute and need not exist.
    """

    __slots__ = ("_spellings", "data_dir", "sources", "user_file", "values", "warnings")

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.sources: dict[str, str] = {}
        self.warnings: list[str] = []
        self.user_file = self.data_dir = ""
        self._spellings: dict[str, str] = {}

    def add(self, layer: Layer, *, restricted: bool = False) -> None:
        """Lays `layer` over what is there; a `restricted` one may be a repository's, so only what `trust` lets pass."""
        values, spellings = normalised(layer.values)
        if restricted:
            from agent_lsp.config import trust  # most starts have no such layer

            values, dropped = trust.narrowed(values, self.values)
            self.warnings += [f"{layer.source}: {spellings[dotted(path)]} {trust.explain(path)}" for path in dropped]
        for path in unknown.unknown_keys(values):
            self.warnings.append(unknown.warning(path, spellings[dotted(path)], layer.source, layer.source in _IN_JSON))
        self._lay(values, self.values, (), layer.source, spellings)

    def source(self, key: str) -> str:
        """The layer that said `key` (dotted snake_case), or the nearest table around it; `built in` if none did."""
        return self.sources.get(self._said(key), BUILT_IN)

    def as_written(self, key: str) -> str:
        """`key` (dotted snake_case) as the layer it came from spells it."""
        said = self._said(key)
        return self._spellings.get(said, said) + key[len(said) :]

    def _said(self, key: str) -> str:
        while key and key not in self.sources:
            key = key.rpartition(".")[0]
        return key

    def _lay(
        self, over: dict[str, Any], under: dict[str, Any], path: Path, source: str, spellings: Mapping[str, str]
    ) -> None:
        for key, value in over.items():
            here = (*path, key)
            name = dotted(here)
            below = under.get(key)
            self.sources[name], self._spellings[name] = source, spellings[name]
            if not (isinstance(value, dict) and isinstance(below, dict)):
                self._forget(name)
                below = under[key] = cast("dict[str, Any]", {}) if isinstance(value, dict) else value
            if isinstance(value, dict):
                self._lay(cast("dict[str, Any]", value), cast("dict[str, Any]", below), here, source, spellings)

    def _forget(self, name: str) -> None:
        for known in [known for known in self.sources if known.startswith(f"{name}.")]:
            del self.sources[known]


_IN_JSON = (SETTINGS, OPTIONS)


def load(
    *,
    workspace: str | None = None,
    trusted: bool = False,
    options: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    arguments: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Merged:
    """Reads and merges everything that is said now.

    `options`: `initializationOptions.agent`; `settings`: the section `agent` of the editor's settings; `arguments`:
    what the command line sets, by the names of the settings. Raises `ConfigError` for a file that is no readable TOML.
    """
    merged = Merged()
    first = normalised({**(options or {}), **(arguments or {})})[0]
    merged.user_file = places.user_file(first.get("config"), environ)
    _add_file(merged, merged.user_file)
    if workspace is not None:
        _add_project(merged, places.project_file(workspace), trusted)
    for source, values in ((SETTINGS, settings), (OPTIONS, options), (COMMAND_LINE, arguments)):
        if values:
            merged.add(Layer(source, values), restricted=source == SETTINGS)
    merged.data_dir = _data_dir(merged, environ)
    return merged


def _add_file(merged: Merged, file: str) -> None:
    read = read_file(file)
    if read is None:
        return
    values, mode = read
    merged.add(Layer(file, values))
    if mode & 0o077:
        for name in _keys_kept(merged, file):
            merged.warnings.append(f"{file}: others can read this file, and {name} is in it; chmod 600 {file}")


def _keys_kept(merged: Merged, file: str) -> list[str]:
    """The keys and header values that `file` holds, named as they are written."""
    return [
        merged.as_written(name)
        for name, source in merged.sources.items()
        if source == file and is_secret(tuple(name.split("."))) and name.rpartition(".")[2] not in ("headers", "env")
    ]


def _add_project(merged: Merged, file: str, trusted: bool) -> None:
    if trusted:
        read = read_file(file)
        if read is not None:
            merged.add(Layer(file, read[0]), restricted=True)
    elif os.path.lexists(file):
        merged.warnings.append(f"{file}: not read, because this workspace is not trusted")


def _data_dir(merged: Merged, environ: Mapping[str, str]) -> str:
    said = merged.values.get("data_dir")
    from_command_line = merged.sources.get("data_dir") == COMMAND_LINE
    if isinstance(said, str) and said and (from_command_line or not environ.get(places.DATA_DIR_VARIABLE)):
        return places.absolute(said, environ)
    return places.default_data_dir(environ)


def read_file(file: str) -> tuple[dict[str, Any], int] | None:
    """The tables of a TOML file and its permission bits, None where no file is. Raises `ConfigError`."""
    try:
        state = os.stat(file)  # noqa: PTH116
        if not (stat.S_ISREG(state.st_mode) or stat.S_ISCHR(state.st_mode)):
            raise ConfigError(f"{file}: not a file", source=file)  # a pipe would be waited for
        with open(file, "rb") as opened:  # noqa: PTH123
            content = opened.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        detail = getattr(error, "strerror", None) or error
        raise ConfigError(f"{visible(file)}: cannot be read: {detail}", source=file) from error
    return _parsed(content, file), stat.S_IMODE(state.st_mode)


def _parsed(content: bytes, file: str) -> dict[str, Any]:
    import tomllib  # 3 ms, and most people have no file

    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file}: not UTF-8 (at line {line})", source=file) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        detail = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "nested too deep"
        raise ConfigError(f"{file}: {detail}", source=file) from error
