"""Where the commands that look back find what was kept: the data directory, and the prices in force."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from agent_lsp.config.layers import load
from agent_lsp.config.settings import validate
from agent_lsp.errors import ConfigError
from agent_lsp.policy.visible import visible_line
from agent_lsp.trace.paths import DataDir
from agent_lsp.usage.prices import PriceList

DATA_DIR_HELP = "where traces and usage are kept; default: what the configuration says"


def data_dir(given: Path | None) -> DataDir:
    """The data directory that was named, else the one in force. Raises ConfigError."""
    return DataDir(given.absolute() if given else Path(load().data_dir))


def prices() -> PriceList:
    """The prices in force; with a configuration that cannot be read, those of the bundled list alone."""
    try:
        return PriceList(validate(load()).providers)
    except ConfigError as error:
        print(visible_line(f"agent-lsp: configured prices are left out: {error.message}"), file=sys.stderr)
        return PriceList({})


def width() -> int:
    """Columns of the terminal; plenty where there is none."""
    return shutil.get_terminal_size((160, 24)).columns
