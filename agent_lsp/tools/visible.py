"""Text for people to decide on: nothing in it may move the cursor, change colours or reorder what is read."""

from __future__ import annotations

import re

_HIDDEN = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff"
_IN_LINE = re.compile(f"[{_HIDDEN}\t\n]")
_IN_TEXT = re.compile(f"[{_HIDDEN}]")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible_line(text: str, limit: int = 200) -> str:
    """The text on one line of at most `limit` characters, every control character written out (`\\x1b`)."""
    line = _IN_LINE.sub(_written_out, text)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def visible_text(text: str) -> str:
    """The text with its lines and tabs, every other control character written out."""
    return _IN_TEXT.sub(_written_out, text)


def _written_out(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    return _NAMED.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
