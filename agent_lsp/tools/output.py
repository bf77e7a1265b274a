"""One call's output on its way out: made valid, masked, cut, archived. People and the model see the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.messages.markers import NO_OUTPUT
from agent_lsp.tools.archive import Archive

if TYPE_CHECKING:
    from agent_lsp.tools.mask import Mask

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Output:
    """Everything that `feed` and `close` return, joined, is the output."""

    def __init__(self, limit: int, scratchpad: Path, mask: Mask) -> None:
        self._limit, self._scratchpad, self._mask = limit, scratchpad, mask
        self._stream = mask.stream()
        self._shown: list[str] = []
        self._length = 0
        self._archive: Archive | None = None
        self.note_chars = 0

    @property
    def text(self) -> str:
        """What was shown so far."""
        return "".join(self._shown)

    def feed(self, piece: str) -> str:
        """Takes the next piece of the tool's text; what of it is to be shown now."""
        return self._take(self._stream.feed(_valid(piece)))

    def close(self, *notes: str) -> str:
        """Ends it: what is still to be shown, notes on lines of their own included. An output is never empty."""
        tail = self._take(self._stream.close())
        lines = [*self._cut_notes(), *(self._mask(_valid(note)) for note in notes if note)]
        if not lines and not self._length:
            lines = [NO_OUTPUT]
        if lines:
            note = ("" if self._at_line_start() else "\n") + "\n".join(lines)
            self.note_chars = len(note)
            tail += self._show(note)
        return tail

    @property
    def archive(self) -> str | None:
        """The file with the whole text of an output that was cut."""
        return str(self._archive.path) if self._archive and not self._archive.error else None

    def discard(self) -> None:
        """Lets go of the archive of a call that nobody waits for any more."""
        if self._archive:
            self._archive.close()

    def _take(self, text: str) -> str:
        if self._archive is None and self._length + len(text) > self._limit:
            self._archive = Archive(self._scratchpad)
            self._archive.write(self.text)
        if self._archive:
            self._archive.write(text)
        return self._show(text[: max(0, self._limit - self._length)])

    def _show(self, text: str) -> str:
        if text:
            self._shown.append(text)
            self._length += len(text)
        return text

    def _at_line_start(self) -> bool:
        return not self._shown or self._shown[-1].endswith("\n")

    def _cut_notes(self) -> list[str]:
        if self._archive is None:
            return []
        self._archive.close()
        cut = f"[output truncated: exceeded {self._limit} chars]"
        if self._archive.error:
            return [cut, f"[output not archived: {self._archive.error}]"]
        return [cut, f"[output archived: {self._archive.path}]"]


def _valid(text: str) -> str:
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)
