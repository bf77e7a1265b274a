"""Which workspaces the user has said to trust, for editors that do not say it themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_lsp.policy.private_file import locked, read_object, write_object


class Trust:
    """The trusted workspaces, kept in the data directory. Trust in a folder is no trust in those below it."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / "trust.json"

    def is_trusted(self, root: Path) -> bool:
        """Whether the user trusts this very folder, links resolved."""
        return str(root.resolve()) in self.all()

    def all(self) -> tuple[str, ...]:
        """The trusted folders; none if the file is missing or damaged."""
        found: Any = read_object(self._path).get("trusted")
        return tuple(one for one in found if isinstance(one, str)) if isinstance(found, list) else ()  # pyright: ignore[reportUnknownVariableType]

    def add(self, root: Path) -> Path:
        """Trusts the folder from now on and returns it with its links resolved. Raises `OSError`."""
        resolved = root.resolve(strict=True)
        with locked(self._path):
            self._write(dict.fromkeys((*self.all(), str(resolved))))
        return resolved

    def remove(self, root: Path) -> bool:
        """Takes the trust back; whether there was any. Raises `OSError`."""
        resolved = str(root.resolve())
        if resolved not in self.all():
            return False
        with locked(self._path):
            self._write(dict.fromkeys(one for one in self.all() if one != resolved))
        return True

    def _write(self, roots: dict[str, None]) -> None:
        write_object(self._path, {"trusted": list(roots)})
