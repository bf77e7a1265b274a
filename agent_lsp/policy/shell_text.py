"""What a shell makes of one word: quoting, `~`, variables, braces and fields, on plain text.

While a word is being put together, characters that quoting has made ordinary are hidden in a private-use area, so that
a later step (fields, braces, globs) cannot mistake them for its own; `shown` brings them back at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

UNKNOWN = "\ufffd"
"""Stands for text that only running the line would tell. It matches nothing that is forbidden."""

MOST = 64
"""So many spellings of one word are looked at; a line that makes more is hiding nothing by accident."""

_LONGEST = 200_000
_SPECIAL = " \t\n~*?[]{},!$`'\"\\=:"
_HIDE = {ord(char): 0xE000 + ord(char) for char in _SPECIAL}
_SHOW = {hidden: char for char, hidden in _HIDE.items()}
_ANSI = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_ANSI_NAMED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(-?\d{1,4}|\w)\.\.(-?\d{1,4}|\w)(?:\.\.-?\d+)?\Z")


def hidden(text: str) -> str:
    """The text as quoting leaves it: nothing in it is special any more."""
    return text.translate(_HIDE)


def shown(text: str) -> str:
    """The text with what was hidden in it as it was."""
    return text.translate(_SHOW)


def unescaped(text: str) -> str:
    """Unquoted text with its backslashes undone."""
    joined = re.sub(r"\\\r?\n", "", text)
    return re.sub(r"\\(.)", lambda found: hidden(found[1]), joined, flags=re.DOTALL)


def in_double_quotes(text: str) -> str:
    """Literal text between double quotes."""
    joined = re.sub(r"\\\r?\n", "", text)
    return hidden(re.sub(r'\\([$`"\\])', r"\1", joined))


def ansi(text: str) -> str:
    """The body of `$'…'`, or what `printf` and `echo -e` make of it."""

    def one(found: re.Match[str]) -> str:
        code = found[1]
        if code[0] in "xuU" and len(code) > 1:
            point = int(code[1:], 16)
            return chr(point) if point < 0x110000 else UNKNOWN
        if code[0] in "01234567":
            return chr(int(code, 8) & 0xFF)
        if code[0] == "c" and len(code) > 1:
            return chr(ord(code[1]) & 0x1F)
        return _ANSI_NAMED.get(code, code)

    return _ANSI.sub(one, text)


def filled_in(text: str, variables: Mapping[str, tuple[str, ...]]) -> str:
    """Text with `$NAME` and `${NAME}` replaced, for text that no parser has looked at."""
    return _VARIABLE.sub(lambda found: (variables.get(found[1] or found[2]) or (UNKNOWN,))[-1], text)


def expansion(inside: str, values: tuple[str, ...]) -> list[str]:
    """What `${inside}` may come to when its variable has one of these values (none: it is not set)."""
    found = re.match(r"[A-Za-z_]\w*(?:\[[^]]*\])?|[@*\d]", inside)
    if not found:
        return [UNKNOWN]  # ${#x}, ${!x}
    rest = inside[found.end() :]
    if alternative := re.match(r":?[-=+](.*)\Z", rest, re.DOTALL):
        return [*values, alternative[1]]
    if cut := re.match(r":\s*(\d+)(?:\s*:\s*(\d+))?\Z", rest):
        start, length = int(cut[1]), int(cut[2]) if cut[2] else None
        return [value[start:][:length] for value in values or ("",)]
    if rest.startswith((",", "^")):
        return [value.lower() if rest.startswith(",") else value.upper() for value in values or ("",)]
    if replaced := re.match(r"//?([^/]+)(?:/(.*))?\Z", rest, re.DOTALL):
        return [value.replace(replaced[1], replaced[2] or "") for value in values or ("",)]
    return list(values) or [""]


def fields(text: str, home: str, variables: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """The words that an unquoted text becomes (braces, then blanks, then `~`), shown; globs stay as they are."""
    for alternative in braced(text):
        for field in alternative.split():
            yield shown(tilde(field, home, variables))


def braced(text: str) -> list[str]:
    """The text with its braces spelled out (`a{b,c}` is `ab` and `ac`), at most `MOST` of them."""
    waiting, out = [text], list[str]()
    while waiting and len(out) < MOST:
        one = waiting.pop(0)
        for found in _BRACES.finditer(one):
            if choices := _choices(found[1]):
                waiting = [one[: found.start()] + choice + one[found.end() :] for choice in choices] + waiting
                break
        else:
            out.append(one)
    return out


def _choices(inside: str) -> list[str]:
    if "," in inside:
        return inside.split(",")[:MOST]
    if not (found := _RANGE.match(inside)):
        return []
    first, last = found.groups()
    if first.lstrip("-").isdecimal() and last.lstrip("-").isdecimal():
        low, high = sorted((int(first), int(last)))
        return [str(number) for number in range(low, min(high, low + MOST - 1) + 1)]
    if len(first) == len(last) == 1:
        low, high = sorted((ord(first), ord(last)))
        return [chr(code) for code in range(low, min(high, low + MOST - 1) + 1)]
    return []


def tilde(field: str, home: str, variables: Mapping[str, tuple[str, ...]]) -> str:
    """A field with its leading `~` replaced: `~`, `~+`, `~name` (whose home is taken to be one beside this one)."""
    found = re.match(r"~([+-]|[\w.-]*)(?=/|\Z)", field)
    if not found:
        return field
    name = found[1]
    if name in ("+", "-"):
        place = (variables.get("PWD" if name == "+" else "OLDPWD") or (UNKNOWN,))[-1]
    elif name in ("", home.rsplit("/", 1)[-1]):
        place = home
    else:
        place = "/root" if name == "root" else f"/home/{name}"
    return hidden(place) + field[found.end() :]


def combined(parts: Iterable[list[str]]) -> list[str]:
    """Every way to put one choice of each part together, at most `MOST`."""
    whole = [""]
    for choices in parts:
        whole = [bounded(start + end) for start in whole for end in choices[:MOST]][:MOST]
    return whole


def bounded(text: str) -> str:
    """The text, or `UNKNOWN` for one that has grown too long (a variable doubled over and over)."""
    return text if len(text) <= _LONGEST else UNKNOWN
