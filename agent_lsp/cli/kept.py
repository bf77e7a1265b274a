"""What the commands that look back share: the data directory, the prices in force, and a page to look at."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from agent_lsp.cli.status import USAGE
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


def prices(file: str | None = None) -> PriceList:
    """The prices in `file` (`-`: stdin), else those in force.

    With a configuration that cannot be read those of the bundled list alone. Raises ConfigError for a bad file.
    """
    if file is not None:
        try:
            return PriceList.read(sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigError(f"{file}: {error.strerror}", source=file) from error
        except ValueError as error:
            raise ConfigError(f"{file}: no prices by provider and model, as JSON", source=file) from error
    try:
        return PriceList(validate(load()).providers)
    except ConfigError as error:
        print(visible_line(f"agent-lsp: configured prices are left out: {error.message}"), file=sys.stderr)
        return PriceList({})


def show_page(page: str, target: str, *, is_opened: bool) -> int:
    """Writes a page where it was wanted (`-`: stdout), for nobody else to read, and opens it; the exit status."""
    if target == "-":
        sys.stdout.write(page)
        return 0
    path = Path(target)
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(page)
    except OSError as error:
        print(visible_line(f"agent-lsp: {path}: {error.strerror}"), file=sys.stderr)
        return USAGE
    print(visible_line(str(path)))
    if is_opened:
        import webbrowser

        webbrowser.open(path.absolute().as_uri())
    return 0


def width() -> int:
    """Columns of the terminal; plenty where there is none."""
    return shutil.get_terminal_size((160, 24)).columns
