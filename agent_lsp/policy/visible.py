"""Makes characters visible that a terminal or a person's eye would be fooled by.

For titles, previews, labels and everything printed to a terminal; messages keep their text as it is.
"""

from __future__ import annotations

from functools import cache

_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
_REORDERING = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
# Joiners (U+200C, U+200D) stay: scripts and emoji need them, and they cannot change the order of what is read.
_UNSEEN = [0x00AD, 0x180E, 0x200B, 0x2060, 0x2028, 0x2029, 0xFEFF, *range(0xFFF9, 0xFFFC)]
_SURROGATES = range(0xD800, 0xE000)
_TAGS = range(0xE0000, 0xE0080)


def _spelled(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@cache
def _line() -> dict[int, str]:
    codes = (*_CONTROLS, *_REORDERING, *_UNSEEN, *_SURROGATES, *_TAGS)
    return {code: _spelled(code) for code in codes} | {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"}


@cache
def _text() -> dict[int, str]:
    return {code: spelling for code, spelling in _line().items() if chr(code) not in "\n\t"}


def visible(text: str) -> str:
    """The text with controls, escapes, text-direction overrides and unseen characters spelled out (`\\x1b`).

    Line feeds and tabs stay. Never longer than ten times the text; the result is valid UTF-8.
    """
    return text if text.isascii() and text.isprintable() else text.translate(_text())


def visible_line(text: str, limit: int | None = None) -> str:
    """Like `visible`, and on one line of at most `limit` characters: line feeds and tabs are spelled out too."""
    line = text if text.isascii() and text.isprintable() else text.translate(_line())
    return line if limit is None or len(line) <= limit else line[: limit - 1] + "…"
