"""Reads the configuration during the handshake; pydantic is imported only when a value does not certainly fit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from agent_lsp.acp.handshake import Configuration, Configure
from agent_lsp.config import layers, places, shape
from agent_lsp.errors import ConfigError, InvalidParams
from agent_lsp.providers import catalog

USAGE = "agent-lsp acp [--data-dir DIR] [--config FILE] [--log-level LEVEL] [--log-file FILE]"
_REHEARSAL = "rehearsal"


def configure(arguments: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> Configure:
    """How a handshake reads the configuration: `arguments` are the settings of the command line.

    A client names its folders with each session, later: the project's file is that of the working directory, where
    clients start their agents.
    """

    def read() -> Configuration:
        workspace = os.getcwd()  # noqa: PTH109 - pathlib is not loaded yet
        try:
            merged = layers.load(workspace=workspace, arguments=arguments, environ=environ)
            if _is_trusted(workspace, merged.data_dir):
                merged = layers.load(workspace=workspace, trusted=True, arguments=arguments, environ=environ)
        except ConfigError as error:
            raise InvalidParams(error.message, [(error.key or error.source, error.message)]) from error
        if not shape.fits(merged.values):
            _validate(merged)
        needs_login = not _has_credential(merged, environ)
        return Configuration(merged, merged.values.get("limits", {}), merged.warnings, needs_login=needs_login)

    return read


def _is_trusted(workspace: str, data_dir: str) -> bool:
    """Whether the person has said so on the command line. Looked up only where there is something to trust."""
    if not os.path.lexists(places.project_file(workspace)):
        return False
    from pathlib import Path

    from agent_lsp.policy.trust import Trust

    return Trust(Path(data_dir)).is_trusted(Path(workspace))


def _has_credential(merged: layers.Merged, environ: Mapping[str, str]) -> bool:
    """Whether some model can be used as it is; the one for rehearsals counts when it was asked for."""
    providers = merged.values.get("providers", {})
    if str(merged.values.get("default_model", "")).startswith(f"{_REHEARSAL}/"):
        return True
    models = catalog.configured_models(providers, environ)
    return any(model["hasCredential"] for model in models if model["provider"] != _REHEARSAL)


def _validate(merged: layers.Merged) -> None:
    from agent_lsp.config import problems, settings

    try:
        settings.validate(merged)
    except problems.InvalidSettings as error:
        errors = [(problem.path, f"{problem.message} ({problem.source})") for problem in error.problems]
        raise InvalidParams(error.message, errors) from error
