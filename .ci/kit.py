"""Runs the black-box suite in the folder given, as far as it must pass, against the installed `agent-lsp`.

`kit-modules` names what is run, `kit-deselect` the cases that are still open. A name there that matches nothing fails
the run, so that both lists stay true.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def entries(name: str) -> list[str]:
    """The lines of one of the lists, comments and blanks aside."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


class OpenCases:
    """Takes the open cases out by their exact names (pytest's own option takes out whatever begins alike)."""

    def __init__(self, names: list[str]) -> None:
        self._names = set(names)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Called by pytest once it has collected."""
        named = {item: _names(item) for item in items}
        if unknown := self._names.difference(*named.values()):
            raise pytest.UsageError(f"kit-deselect names no test: {', '.join(sorted(unknown))}")
        config.hook.pytest_deselected(items=[item for item in items if named[item] & self._names])
        items[:] = [item for item in items if not named[item] & self._names]


def _names(item: pytest.Item) -> set[str]:
    """What a line may call the test: with its parameters one case, without them all of its cases."""
    names = {item.name, item.originalname} if isinstance(item, pytest.Function) else {item.name}
    return {f"{item.path.stem}::{name}" for name in names}


def main(kit: Path) -> int:
    """pytest's exit status."""
    os.environ["AGENT_LSP_CMD"] = str(Path(sys.prefix) / "bin" / "agent-lsp")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    modules = [str(kit / f"{module}.py") for module in entries("kit-modules")]
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:asyncio",
        "-c",
        os.devnull,
        f"--rootdir={kit}",
        "--timeout=120",
    ]
    return pytest.main([*options, *modules], plugins=[OpenCases(entries("kit-deselect"))])


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(Path(sys.argv[1]).resolve()))
