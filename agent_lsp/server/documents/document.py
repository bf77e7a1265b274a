"""One open document: its text as the editor shows it, and what of it is on the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agent_lsp.server.documents.positions import column_to_index, lines_of
from agent_lsp.tools import disk
from agent_lsp.tools.editor import Snapshot

Standing = Literal["clean", "dirty", "behind"]
"""`clean`: nothing is unsaved; `dirty`: something is; `behind`: nothing is, and the disk has another text since."""

if TYPE_CHECKING:
    from agent_lsp.server.documents.params import Change
    from agent_lsp.server.shapes import Position, Range

_NOT_LOOKED_AT = object()


class Document:
    """A document from its `didOpen` to its `didClose`. `path` is the file it is, without links; None for any other."""

    def __init__(self, uri: str, path: Path | None, version: int | None, text: str) -> None:
        self.uri, self.path, self.version = uri, path, version
        self.revision = 0
        self._lines = lines_of(text)
        self._text: str | None = text
        self._saved: str | None = None
        self._stamp: object = _NOT_LOOKED_AT
        self._looked: tuple[object, int, Standing] | None = None
        self._expected: list[tuple[str, asyncio.Future[bool]]] = []

    @property
    def text(self) -> str:
        """All of it."""
        if self._text is None:
            self._text = "".join(self._lines)
        return self._text

    def change(self, changes: Sequence[Change], version: int | None, encoding: str) -> None:
        """Makes the changes, each on what the one before left."""
        for change in changes:
            if change.range is None:
                self._lines, self._text = lines_of(change.text), change.text
            else:
                self._splice(change.range, change.text, encoding)
            self._settle()
        self.version = version if version is not None else self.version
        self.revision += 1

    def saved(self, text: str | None) -> None:
        """The editor has written the document to the disk."""
        self._saved = self.text if text is None else text
        self._stamp, self._looked = _NOT_LOOKED_AT, None

    def closed(self) -> None:
        """Nothing more will come of it."""
        for _, seen in self._expected:
            if not seen.done():
                seen.set_result(False)
        self._expected = []

    def expect(self, text: str) -> asyncio.Future[bool]:
        """Resolves to True when the text has been this one after a change, from now on; False when closed."""
        seen: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._expected.append((text, seen))
        seen.add_done_callback(lambda _: self._forget(seen))
        return seen

    def compare(self) -> None:
        """Compares the text with the disk, for the first time: what is there is what was saved."""
        if self.path is None:
            return
        stamp = disk.stamp(self.path)
        found = disk.peek(self.path)
        if found is None:
            self._saved, self._stamp = "", stamp  # an empty buffer of a file that is not there yet holds nothing
        elif isinstance(found, Snapshot):
            self._saved, self._stamp = found.text, stamp

    def standing(self) -> Standing:
        """How the text stands to the disk, which is read only when it has changed since."""
        if self.path is None:
            return "dirty"
        stamp = disk.stamp(self.path)
        if self._saved is not None and stamp == self._stamp:
            return "clean" if self.text == self._saved else "dirty"
        if self._looked and self._looked[:2] == (stamp, self.revision):
            return self._looked[2]
        standing = self._compared(stamp)
        self._looked = (stamp, self.revision, standing)
        return standing

    def _compared(self, stamp: object) -> Standing:
        assert self.path is not None
        found = disk.peek(self.path)
        if isinstance(found, Snapshot) and found.text == self.text:  # written by whoever: nothing is unsaved
            self._saved, self._stamp = self.text, stamp
            return "clean"
        return "behind" if self.text == self._saved else "dirty"

    def _splice(self, range: Range, text: str, encoding: str) -> None:
        first, before = self._place(range.start, encoding)
        last, after = self._place(range.end, encoding)
        if (last, after) < (first, before):
            first, before, last, after = last, after, first, before
        middle = f"{self._lines[first][:before]}{text}{self._lines[last][after:]}"
        if first and middle.startswith("\n") and self._lines[first - 1].endswith("\r"):
            first, middle = first - 1, self._lines[first - 1] + middle  # a CR and a LF have met
        spliced = lines_of(middle)
        if last + 1 < len(self._lines) and spliced[-1] == "":
            spliced.pop()
        self._lines[first : last + 1] = spliced
        self._text = None

    def _place(self, position: Position, encoding: str) -> tuple[int, int]:
        if position.line >= len(self._lines):
            return len(self._lines) - 1, len(self._lines[-1])
        return position.line, column_to_index(self._lines[position.line], position.character, encoding)

    def _settle(self) -> None:
        for text, seen in tuple(self._expected):
            if not seen.done() and self.text == text:
                seen.set_result(True)

    def _forget(self, seen: asyncio.Future[bool]) -> None:
        self._expected = [one for one in self._expected if one[1] is not seen]
