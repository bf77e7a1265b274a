"""Colours of the terminal: nothing but SGR sequences, and only where somebody sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from agent_lsp.slotted import frozen

_STYLES = {"dim": "2", "bold": "1", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}


@frozen
class Palette:
    """Paints text, or leaves it as it is."""

    coloured: bool = False

    def paint(self, text: str, *styles: str) -> str:
        """The text in these styles; each line on its own, so that a pager or a cut keeps them apart."""
        if not self.coloured or not styles:
            return text
        begin = f"\x1b[{';'.join(_STYLES[style] for style in styles)}m"
        return "\n".join(f"{begin}{line}\x1b[0m" if line else line for line in text.split("\n"))

    def diff(self, diff: str) -> str:
        """A unified diff: what goes in red, what comes in green."""
        return "\n".join(self.paint(line, *_diff_styles(line)) for line in diff.splitlines())


def _diff_styles(line: str) -> tuple[str, ...]:
    if line.startswith(("+++", "---")):
        return ("bold",)
    return {"+": ("green",), "-": ("red",), "@": ("cyan",)}.get(line[:1], ())


def palette_for(stream: TextIO, environment: Mapping[str, str]) -> Palette:
    """Colours if the stream is a terminal that can show them and `NO_COLOR` is not set."""
    shown = stream.isatty() and environment.get("TERM") != "dumb" and not environment.get("NO_COLOR")
    return Palette(coloured=shown)
