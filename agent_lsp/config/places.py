"""Where things are on this machine: the user's configuration and the data directory.

Paths are strings and the work is done by `os.path`: importing pathlib takes 3.6 ms and platformdirs 5.8 ms, and this
runs before `initialize` is answered. On Linux the two rules of the XDG specification are all that is needed.
"""
# ruff: noqa: PTH100, PTH111, PTH117, PTH118

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

APP = "agent-lsp"
PROJECT_FOLDER = ".agent-lsp"
DATA_DIR_VARIABLE = "AGENT_LSP_DATA_DIR"


def user_file(chosen: object, environ: Mapping[str, str]) -> str:
    """The user's configuration file: the `chosen` one, else the platform's."""
    if isinstance(chosen, str) and chosen:
        return absolute(chosen, environ)
    return os.path.join(_platform_folder("XDG_CONFIG_HOME", ".config", environ), "config.toml")


def project_file(workspace: str) -> str:
    """The configuration that a project brings."""
    return os.path.join(workspace, PROJECT_FOLDER, "config.toml")


def default_data_dir(environ: Mapping[str, str]) -> str:
    """The data directory when neither the command line nor a setting names one."""
    named = environ.get(DATA_DIR_VARIABLE)
    return absolute(named, environ) if named else _platform_folder("XDG_DATA_HOME", ".local/share", environ)


def absolute(path: str, environ: Mapping[str, str]) -> str:
    """`path` with `~` replaced, absolute."""
    if path == "~" or path.startswith("~/"):
        path = _home(environ) + path[1:]
    return os.path.abspath(path)


def _home(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or os.path.expanduser("~")


def _platform_folder(variable: str, below_home: str, environ: Mapping[str, str]) -> str:
    if sys.platform == "linux":
        folder = environ.get(variable, "")
        # The XDG specification: a relative path in the variable is invalid and to be ignored.
        return os.path.join(folder if os.path.isabs(folder) else os.path.join(_home(environ), below_home), APP)
    import platformdirs

    config = variable == "XDG_CONFIG_HOME"
    return platformdirs.user_config_dir(APP) if config else platformdirs.user_data_dir(APP)
