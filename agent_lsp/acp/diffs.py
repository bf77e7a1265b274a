"""Unified diffs, as tools write them, as the pairs of old and new text that a client shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_NO_FILE = "/dev/null"
_NO_LINE_END = "\\ No newline at end of file"


def diffs_of(text: str, root: Path) -> tuple[list[dict[str, Any]], str]:
    """The diffs in an output, one for each hunk, and the text around them. `root` is where relative paths begin."""
    reader = _Reader(root)
    for line in text.split("\n"):
        reader.take(line)
    return reader.end()


def diff(path: Path, old: str | None, new: str) -> dict[str, Any]:
    """One difference; without an old text the file is new."""
    return {"type": "diff", "path": str(path), "oldText": old, "newText": new}


class _Reader:
    """Reads line by line; where what must be the line of a hunk is none, the diff has ended."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._found: list[dict[str, Any]] = []
        self._around: list[str] = []
        self._old_name = self._new_name = ""
        self._hunk: list[str] | None = None

    def take(self, line: str) -> None:
        """The next line."""
        if self._hunk is not None and (line[:1] in (" ", "+", "-") or line == _NO_LINE_END) and not _begins_file(line):
            self._hunk.append(line)
            return
        self._close()
        if line.startswith("--- "):
            self._old_name = line[4:]
        elif line.startswith("+++ ") and self._old_name:
            self._new_name = line[4:]
        elif self._new_name and _HUNK.match(line):
            self._hunk = []
        else:
            self._old_name = self._new_name = ""
            self._around.append(line)

    def end(self) -> tuple[list[dict[str, Any]], str]:
        """All that was found."""
        self._close()
        return self._found, "\n".join(self._around).strip("\n")

    def _close(self) -> None:
        hunk, self._hunk = self._hunk, None
        if not hunk:
            return
        name = self._old_name if self._new_name == _NO_FILE else self._new_name
        old = None if self._old_name == _NO_FILE else "".join(_side(hunk, "-"))
        self._found.append(diff(self._root / name[2:], old, "".join(_side(hunk, "+"))))


def _begins_file(line: str) -> bool:
    return line.startswith(("--- a/", f"--- {_NO_FILE}", "+++ b/", f"+++ {_NO_FILE}"))


def _side(hunk: list[str], sign: str) -> Iterator[str]:
    """The lines of one side, with their ends."""
    for line, following in zip(hunk, [*hunk[1:], ""], strict=True):
        if line[:1] in (" ", sign):
            yield line[1:] + ("" if following == _NO_LINE_END else "\n")
