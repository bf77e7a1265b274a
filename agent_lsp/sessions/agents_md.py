"""`AGENTS.md`: the root's is part of the prompt; that of a folder is told once, when something there was touched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.sessions.documents import read_text

if TYPE_CHECKING:
    from agent_lsp.messages.content import Text
    from agent_lsp.policy.access import Access
    from agent_lsp.policy.paths import PathRules

NAME = "AGENTS.md"
_HEAD = "[instructions for "


class NestedInstructions:
    """The instructions of a workspace's folders, each told once in a context."""

    def __init__(self, paths: PathRules) -> None:
        self._paths = paths
        self._touched: set[Path] = set()
        self._seen: set[Path] = set()
        self._told: set[str] = set()
        self._untold: list[str] = []

    def root(self) -> str | None:
        """The text of the workspace's own."""
        return self._read(self._paths.workspace)

    def touched(self, access: Access) -> None:
        """A call has touched these places: what their folders say is due."""
        for path in (*access.paths, *([access.cwd] if access.cwd else [])):
            if path in self._touched:
                continue
            self._touched.add(path)
            for folder in self._folders(path):
                if folder not in self._seen:
                    self._seen.add(folder)
                    self._find(folder)

    def take(self) -> tuple[str, ...]:
        """What is to be told now, outer folders first."""
        told, self._untold = tuple(self._untold), []
        return told

    def heard(self, message: Text) -> None:
        """A message that was told before, in the context that a session goes on with."""
        if message.sender == "harness" and message.text.startswith(_HEAD):
            self._told.add(message.text.partition("\n")[0])

    def begin(self) -> None:
        """A fresh context begins, in which nothing was told yet."""
        self._touched, self._seen, self._told, self._untold = set[Path](), set[Path](), set[str](), []

    def _find(self, folder: Path) -> None:
        text = self._read(folder)
        if text is None or not text.strip():
            return
        where = folder.relative_to(self._paths.workspace).as_posix()
        head = f"{_HEAD}{where}/, from {where}/{NAME}]"
        if head not in self._told:
            self._told.add(head)
            self._untold.append(f"{head}\n{text.strip()}")

    def _folders(self, path: Path) -> Iterator[Path]:
        """The folders that a place is in, below the workspace, outer ones first."""
        real = self._paths.leads(path)
        if not real.is_relative_to(self._paths.workspace):
            return
        inner = (real, *real.parents)
        depth = len(real.parts) - len(self._paths.workspace.parts)
        yield from reversed(inner[:depth])

    def _read(self, folder: Path) -> str | None:
        """What the folder says, unless its file leads out of the workspace or to where no tool may look."""
        path = folder / NAME
        return read_text(path) if self._paths.place(path).standing == "inside" else None
