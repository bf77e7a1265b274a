"""What the rehearsal finds wrong in files, and how it mends it: fixed rules over the output of the real tools."""

from __future__ import annotations

import re

TYPOS = {
    "teh": "the",
    "Helo": "Hello",
    "helo": "hello",
    "recieve": "receive",
    "lenght": "length",
    "retrun": "return",
    "fucntion": "function",
    "occured": "occurred",
    "seperate": "separate",
    "wrold": "world",
}
"""What it can mend by itself: spelling that is wrong wherever it stands."""

_TYPO = re.compile(rf"\b({'|'.join(TYPOS)})\b")
TODO = re.compile(r"\b(TODO|FIXME)\b:?\s*(.*)")
SEARCH = rf"\b(TODO|FIXME|{'|'.join(TYPOS)})\b"
_HIT = re.compile(r" *(\d+): (.*)")
_NUMBERED = re.compile(r"^ *(\d+)\t(.*)$", re.MULTILINE)


def most_promising(hits: str) -> str | None:
    """The file of the first misspelling, else of the first thing left to do."""
    found: list[tuple[str, str]] = []
    path = ""
    for line in hits.splitlines():
        if hit := _HIT.fullmatch(line):
            found.append((path, hit[2]))
        elif line.strip():
            path = line.strip().removesuffix(":")
    return next((path for pattern in (_TYPO, TODO) for path, text in found if path and pattern.search(text)), None)


def mend(page: str) -> tuple[str, str] | None:
    """(old, new) for a line of a numbered page: a misspelling is mended, else a thing left to do is marked as seen."""
    lines = [text for _, text in _NUMBERED.findall(page)]
    for line in lines:
        if _TYPO.search(line) and _is_unique(line, lines):
            return line, _TYPO.sub(lambda word: TYPOS[word[1]], line)
    for line in lines:
        found = TODO.search(line)
        if found and "(seen by the rehearsal)" not in line and _is_unique(line, lines):
            return line, line.replace(found[1], f"{found[1]} (seen by the rehearsal)", 1)
    return None


def _is_unique(line: str, lines: list[str]) -> bool:
    return sum(line in other for other in lines) == 1
