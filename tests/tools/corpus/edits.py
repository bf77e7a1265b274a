"""Edits as models make them: the right one to each place of the sources, and the ways in which calls are imprecise.

Everything is made from the same seed, so the corpus is the same on every machine.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .sources import SOURCES

PLACES_A_FILE = 4


@dataclass(frozen=True)
class Edit:
    """A call: `text` is the file, `old` and `new` what the model writes, `wanted` what the file is to become."""

    name: str
    kind: str
    text: str
    old: str
    new: str
    wanted: str


@dataclass(frozen=True)
class Place:
    """Some lines of a file, and what they are to become."""

    name: str
    text: str
    before: str
    after: str

    @property
    def wanted(self) -> str:
        return self.text.replace(self.before, self.after, 1)

    def edit(self, kind: str, old: str, new: str, text: str | None = None, wanted: str | None = None) -> Edit:
        return Edit(self.name, kind, text or self.text, old, new, wanted or self.wanted)


def places() -> Iterator[Place]:
    """Blocks that stand once in their file, each with a line changed, one added or one taken away."""
    for name, text in SOURCES.items():
        random_one = random.Random(name)
        lines = text.split("\n")[:-1]
        found = 0
        while found < PLACES_A_FILE:
            size = random_one.randint(2, 6)
            first = random_one.randrange(len(lines) - size)
            block = lines[first : first + size]
            before = "\n".join(block)
            if not block[0].strip() or not block[-1].strip() or text.count(before) != 1:
                continue
            found += 1
            yield Place(name, text, before, "\n".join(_changed(block, random_one)))


def _changed(block: list[str], random_one: random.Random) -> list[str]:
    at = random_one.randrange(len(block))
    while not block[at].strip():
        at = random_one.randrange(len(block))
    indentation = block[at][: len(block[at]) - len(block[at].lstrip())]
    match random_one.choice(("change", "add", "remove")):
        case "change":
            return [*block[:at], f"{block[at]} /* changed */", *block[at + 1 :]]
        case "add":
            return [*block[: at + 1], f"{indentation}added_line", *block[at + 1 :]]
        case _:
            return [*block[:at], *block[at + 1 :]] if len(block) > 1 else [f"{indentation}replaced"]


def _each(text: str, change: Callable[[str], str]) -> str:
    return "\n".join(change(line) if line.strip() else line for line in text.split("\n"))


def _outdented(text: str, like: str) -> str:
    """Without the indentation that all lines of another text share."""
    shared = min(len(line) - len(line.lstrip()) for line in like.split("\n") if line.strip())
    return _each(text, lambda line: line[shared:])


def _blanks_for_tabs(text: str) -> str:
    return _each(text, lambda line: re.sub(r"^\t+", lambda tabs: "    " * len(tabs[0]), line))


def _halved(text: str) -> str:
    return _each(text, lambda line: " " * ((len(line) - len(line.lstrip(" "))) // 2) + line.lstrip(" "))


def _trailing(text: str) -> str:
    return _each(text, lambda line: f"{line}  ")


def _numbered(text: str) -> str:
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(text.split("\n"), 10))


def variants(place: Place) -> Iterator[Edit]:
    """The place's edit in every way that makes sense there."""
    before, after, text, wanted = place.before, place.after, place.text, place.wanted
    crlf, crlf_wanted = text.replace("\n", "\r\n"), wanted.replace("\n", "\r\n")
    yield place.edit("exact", before, after)
    yield place.edit("with its line end", f"{before}\n", f"{after}\n")
    yield place.edit("a CRLF file", before, after, crlf, crlf_wanted)
    yield place.edit("CRLF in the call", before.replace("\n", "\r\n"), after.replace("\n", "\r\n"))
    padded = text.replace(before, _trailing(before), 1)
    yield place.edit("trailing blanks in the file", before, after, padded)
    yield place.edit("trailing blanks in the call", _trailing(before), after)
    if _outdented(before, before) != before:
        yield place.edit("outdented", _outdented(before, before), _outdented(after, before))
    yield place.edit("indented", _each(before, lambda line: f"    {line}"), _each(after, lambda line: f"    {line}"))
    if "\t" in before:
        yield place.edit("blanks for tabs", _blanks_for_tabs(before), _blanks_for_tabs(after))
    if re.search(r"^ {2}", before, re.MULTILINE):
        yield place.edit("half the indentation", _halved(before), _halved(after))
    yield place.edit("line numbers", _numbered(before), after)
    first_word = re.search(r"[a-z]{4,}", before)
    if first_word:
        yield place.edit("a word misremembered", before.replace(first_word[0], "somewhat", 1), after)
    if len(before.split("\n")) > 2:
        yield place.edit("a line left out", "\n".join([*before.split("\n")[:1], *before.split("\n")[2:]]), after)
    yield place.edit("twice in the file", before, after, f"{text}\n{text}", wanted="nothing")


def corpus() -> list[Edit]:
    """All of it."""
    return [edit for place in places() for edit in variants(place)]
