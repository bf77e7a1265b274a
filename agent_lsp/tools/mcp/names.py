"""What the tools of servers are called: names that every provider takes, and that say whose tool it is."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

_LONGEST = 64
_ODD = re.compile(r"[^A-Za-z0-9_-]")
_MARK_LENGTH = 6


def server_slugs(servers: Sequence[str]) -> dict[str, str]:
    """The part of tools' names that stands for each server.

    No slug holds two underscores in a row or ends with one, so a long name has one reading only.
    """
    plain = {name: re.sub(r"_+", "_", _ODD.sub("_", name)).strip("_") or "server" for name in servers}
    shared = Counter(plain.values())
    return {
        name: slug if shared[slug] == 1 or slug == name else f"{slug}-{_mark(name)}" for name, slug in plain.items()
    }


def long_names(slug: str, tools: Sequence[str]) -> dict[str, str]:
    """`mcp__SERVER__TOOL` for each of a server's tools, whatever order they come in.

    A name that had to be changed and would then be another's, or that is too long, ends with a mark of its own.
    """
    plain = {name: f"mcp__{slug}__{_ODD.sub('_', name)}" for name in tools}
    shared = Counter(plain.values())
    return {
        name: _short(long, name, alone=shared[long] == 1 or long.endswith(f"__{name}")) for name, long in plain.items()
    }


def _short(long: str, name: str, *, alone: bool) -> str:
    if alone and len(long) <= _LONGEST:
        return long
    return f"{long[: _LONGEST - _MARK_LENGTH - 1]}_{_mark(name)}"


def _mark(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK_LENGTH]
