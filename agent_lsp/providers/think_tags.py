"""Reasoning that a model writes into its text, between `<think>` and `</think>` at the very start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from agent_lsp.providers.reply import Reply

_OPEN, _CLOSE = "<think>", "</think>"


class ThinkTags:
    """Stands before a reply and sorts text into thinking and text. Tags further on are text: code may have them."""

    __slots__ = ("_has_thought", "_held", "_place", "_reply")

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self._place: Literal["start", "inside", "gap", "after"] = "start"
        self._held = ""  # may become a tag
        self._has_thought = False

    def text(self, piece: str) -> None:
        """A piece of text."""
        if self._place == "after":
            self._reply.text(piece)
            return
        piece, self._held = self._held + piece, ""
        if self._place == "start":
            piece = self._at_start(piece)
        if self._place == "inside":
            piece = self._inside(piece)
        if self._place == "gap" and (piece := piece.lstrip()):
            self._place = "after"
        if self._place == "after":
            self._reply.text(piece)

    def flush(self) -> None:
        """No more text comes, or something else does: what was held back is what it looks like."""
        held, self._held = self._held, ""
        if held and self._place == "inside":
            self._reply.thinking(held)
        elif held:
            self._place = "after"
            self._reply.text(held)

    def _at_start(self, piece: str) -> str:
        """White space may stand before the tag, and the tag may be in pieces."""
        bare = piece.lstrip()
        if bare.startswith(_OPEN):
            self._place = "inside"
            return bare.removeprefix(_OPEN)
        if _OPEN.startswith(bare):
            self._held = piece
            return ""
        self._place = "after"
        return piece

    def _inside(self, piece: str) -> str:
        if not self._has_thought:
            piece = piece.lstrip("\n")
        words, tag, rest = piece.partition(_CLOSE)
        if tag:
            self._place = "gap"
        else:
            cut = next((n for n in range(len(_CLOSE) - 1, 0, -1) if words.endswith(_CLOSE[:n])), 0)
            words, self._held = words[: len(words) - cut], words[len(words) - cut :]
        if words:
            self._has_thought = True
            self._reply.thinking(words)
        return rest
