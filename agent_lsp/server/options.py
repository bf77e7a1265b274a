"""Reads the configuration during the handshake; pydantic is imported only when a value does not certainly fit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from agent_lsp.config import layers, places, shape
from agent_lsp.errors import ConfigError, InvalidParams
from agent_lsp.providers import catalog
from agent_lsp.server.handshake import ClientInfo, Configuration, Configure


def configure(arguments: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> Configure:
    """How a handshake reads the configuration: `arguments` are the settings of the command line."""

    def read(client: ClientInfo) -> Configuration:
        options = client.options
        if options is not None and not isinstance(options, dict):
            raise InvalidParams("invalid params", [("initializationOptions.agent", "should be an object")])
        given = cast("dict[str, Any]", options or {})

        def load(
            settings: Mapping[str, Any] | None, trusted: bool | None, options: Mapping[str, Any] | None
        ) -> Configuration:
            laid = given if options is None else options
            configuration = _read(client, laid, arguments, environ, settings, trusted)
            configuration.reload, configuration.is_certain = load, shape.fits(configuration.values)
            return configuration

        return load(None, None, None)

    return read


def _read(
    client: ClientInfo,
    options: Mapping[str, Any],
    arguments: Mapping[str, Any],
    environ: Mapping[str, str],
    settings: Mapping[str, Any] | None,
    trusted: bool | None,
) -> Configuration:
    workspace = path_of(client.workspace) if client.workspace else None
    said = client.workspace_trusted if trusted is None else trusted

    def merge(trusted: bool) -> layers.Merged:
        return layers.load(
            workspace=workspace,
            trusted=trusted,
            options=options,
            settings=settings,
            arguments=arguments,
            environ=environ,
        )

    try:
        merged = merge(said is True)
        if workspace is not None and said is None and _is_trusted(workspace, merged.data_dir):
            merged = merge(True)
    except ConfigError as error:
        raise InvalidParams(error.message, [(error.key or error.source, error.message)]) from error
    if not shape.fits(merged.values):
        _validate(merged)
    providers = merged.values.get("providers", {})
    return Configuration(
        merged.values,
        origin=merged,
        models=catalog.configured_models(providers, environ),
        default_model=catalog.default_model(merged.values.get("default_model"), providers, environ),
        thinking_levels=shape.THINKING_LEVELS,
        warnings=merged.warnings,
    )


def _is_trusted(workspace: str, data_dir: str) -> bool:
    """Whether the person has said so on the command line. Looked up only where there is something to trust."""
    if not os.path.lexists(places.project_file(workspace)):
        return False
    from pathlib import Path

    from agent_lsp.policy.trust import Trust

    return Trust(Path(data_dir)).is_trusted(Path(workspace))


def _validate(merged: layers.Merged) -> None:
    from agent_lsp.config import problems, settings

    try:
        settings.validate(merged)
    except problems.InvalidSettings as error:
        errors = [(problem.path, f"{problem.message} ({problem.source})") for problem in error.problems]
        raise InvalidParams(error.message, errors) from error


def path_of(uri: str) -> str | None:
    """The path of a `file:` URI, or of a plain absolute path; None for anything else."""
    if os.path.isabs(uri):  # noqa: PTH117 - pathlib is not loaded yet
        return uri
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    return unquote(parts.path, errors="surrogateescape")
