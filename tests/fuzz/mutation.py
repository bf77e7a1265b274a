"""Inputs that are nearly right: a sample of a format, changed where its structure is.

A sample is a sequence of pieces (lines, events, messages) and what joins them. An edit changes pieces as wholes, values
inside the JSON of a piece, or bytes wherever they are; its numbers are taken modulo what there is, so that every edit
fits every sample, and a shorter list of edits is a simpler input.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

LARGEST = 9_999
LARGEST_GROWN = 100_000
"""So long a value becomes at the most: what is slow in proportion to its input is no hang."""

ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    2**31,
    2**63,
    -(2**63) - 1,
    0.5,
    1e308,
    "",
    " ",
    "\x00",
    "\x1b[2J\x1b]0;x\x07",
    "\u202e\u2028\ufeff",
    "a" * 3_000,
    "../../etc/passwd",
    "/proc/self/environ",
    "file:///%00",
    "[/user_steering]",
    [],
    {},
    [[]],
    [None] * 40,
    {"": {}},
    {"type": "text"},
    {"__class__": 1},
)
ODD_BYTES = (
    b"\x00",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n",
    b"\r\n\r\n",
    b'"',
    b"\\",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]" * 3,
    b":",
    b"data: ",
    b"event: error\n",
    b"[DONE]",
    b"Content-Length: 7\r\n",
    b"Content-Length: 999999999999\r\n\r\n",
    b"1e999",
    b"NaN",
    b"9" * 400,
    b"[" * 400,
    b"*** End Patch\n",
    b"@@ -1 +1 @@\n",
    b"$(",
    b"`",
    b"\xe2\x80\xa8",
)


@dataclass(frozen=True)
class Sample:
    """Pieces of a format and what stands between them."""

    pieces: tuple[bytes, ...]
    joint: bytes = b""

    def whole(self) -> bytes:
        """The input."""
        return self.joint.join(self.pieces)


@dataclass(frozen=True)
class Edit:
    """One change: what, where, and with what; two numbers that mean something to every kind."""

    kind: str
    at: int
    value: int


def mutated(sample: Sample, edits: Sequence[Edit]) -> bytes:
    """The sample after all edits."""
    for edit in edits:
        sample = KINDS[edit.kind](sample, edit.at, edit.value)
    return sample.whole()


def random_edits(rng: random.Random) -> list[Edit]:
    """One to six edits."""
    kinds = list(KINDS)
    return [
        Edit(rng.choice(kinds), rng.randint(0, LARGEST), rng.randint(0, LARGEST))
        for _ in range(1 + int(rng.expovariate(0.8)) % 6)
    ]


# --- pieces as wholes -------------------------------------------------------------------------------------------------


def _drop(sample: Sample, at: int, _: int) -> Sample:
    place = at % max(1, len(sample.pieces))
    return replace(sample, pieces=sample.pieces[:place] + sample.pieces[place + 1 :])


def _double(sample: Sample, at: int, value: int) -> Sample:
    place = at % max(1, len(sample.pieces))
    return replace(
        sample,
        pieces=sample.pieces[:place] + sample.pieces[place : place + 1] * (2 + value % 3) + sample.pieces[place + 1 :],
    )


def _move(sample: Sample, at: int, value: int) -> Sample:
    pieces = list(sample.pieces)
    if pieces:
        moved = pieces.pop(at % len(pieces))
        pieces.insert(value % (len(pieces) + 1), moved)
    return replace(sample, pieces=tuple(pieces))


def _cut_short(sample: Sample, at: int, _: int) -> Sample:
    return replace(sample, pieces=sample.pieces[: at % max(1, len(sample.pieces))])


# --- bytes ------------------------------------------------------------------------------------------------------------


def _in_a_piece(change: Callable[[bytes, int, int], bytes]) -> Callable[[Sample, int, int], Sample]:
    """The change to one piece, at a place in it."""

    def changed(sample: Sample, at: int, value: int) -> Sample:
        if not sample.pieces:
            return sample
        pieces = list(sample.pieces)
        at, index = divmod(at, len(pieces))
        pieces[index] = change(pieces[index], at * 37 + value, value)
        return replace(sample, pieces=tuple(pieces))

    return changed


def _insert(piece: bytes, at: int, value: int) -> bytes:
    place = at % (len(piece) + 1)
    return piece[:place] + ODD_BYTES[value % len(ODD_BYTES)] + piece[place:]


def _flip(piece: bytes, at: int, value: int) -> bytes:
    if not piece:
        return piece
    place = at % len(piece)
    return piece[:place] + bytes([piece[place] ^ (1 << value % 8)]) + piece[place + 1 :]


def _take_out(piece: bytes, at: int, value: int) -> bytes:
    place = at % (len(piece) + 1)
    return piece[:place] + piece[place + 1 + value % 24 :]


def _repeat(piece: bytes, at: int, value: int) -> bytes:
    place = at % (len(piece) + 1)
    return piece[:place] + piece[place : place + 1 + value % 40] * 3 + piece[place:]


# --- values inside JSON -----------------------------------------------------------------------------------------------


def _in_the_json(change: Callable[[Any, Any, int], None]) -> Callable[[bytes, int, int], bytes]:
    """The change to one place inside the JSON that the piece holds; a piece without any gets bytes put in."""

    def changed(piece: bytes, at: int, value: int) -> bytes:
        start = min((found for found in (piece.find(b"{"), piece.find(b"[")) if found >= 0), default=-1)
        try:
            tree = json.loads(piece[start:]) if start >= 0 else None
        except (ValueError, RecursionError):
            tree = None
        places = list(_places(tree))
        if not places:
            return _insert(piece, at, value)
        change(*places[at % len(places)], value)
        return piece[:start] + json.dumps(tree).encode()

    return changed


def _places(tree: Any) -> Any:
    """Every (container, key) of a tree, outer ones first."""
    found = [
        (tree, key) for key in (tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ())
    ]
    yield from found
    for container, key in found:
        yield from _places(container[key])


def _set(container: Any, key: Any, value: int) -> None:
    container[key] = ODD_VALUES[value % len(ODD_VALUES)]


def _delete(container: Any, key: Any, value: int) -> None:
    del container[key]


def _wrap(container: Any, key: Any, value: int) -> None:
    inner = container[key]
    container[key] = [inner] if value % 2 else {"type": inner}


def _rename(container: Any, key: Any, value: int) -> None:
    if isinstance(container, dict):
        container[("", "type", "id", "index", "_meta", "__proto__")[value % 6]] = container.pop(key)
    else:
        container.insert(key, container[key])


def _grow(container: Any, key: Any, value: int) -> None:
    inner = container[key]
    times = 2 + value % 50
    if isinstance(inner, str | list):
        container[key] = inner * min(times, 1 + LARGEST_GROWN // max(1, len(inner)))
    else:
        container[key] = [inner] * 20


KINDS: dict[str, Callable[[Sample, int, int], Sample]] = {
    "set": _in_a_piece(_in_the_json(_set)),
    "delete": _in_a_piece(_in_the_json(_delete)),
    "wrap": _in_a_piece(_in_the_json(_wrap)),
    "rename": _in_a_piece(_in_the_json(_rename)),
    "grow": _in_a_piece(_in_the_json(_grow)),
    "drop": _drop,
    "double": _double,
    "move": _move,
    "cut short": _cut_short,
    "insert": _in_a_piece(_insert),
    "flip": _in_a_piece(_flip),
    "take out": _in_a_piece(_take_out),
    "repeat": _in_a_piece(_repeat),
}
