"""Globs over paths as `.gitignore` reads them: `*.py` fits at any depth, `src/*.py` from the start, `!` excludes."""

from __future__ import annotations

import re
from typing import Protocol

_BRACES = re.compile(r"\{([^{}]*)\}")
_MOST_EXPANDED = 100


class Globs(Protocol):
    """Decides about one path."""

    def __call__(self, relative: str) -> bool:
        """Whether the path, relative to where the walk began and with `/`, fits."""
        ...


def compile_glob(pattern: str) -> Globs:
    """What a glob fits, alternatives in braces included. Raises ValueError for one that makes no sense."""
    from pathspec import GitIgnoreSpec

    excludes = pattern.startswith("!")
    spec = GitIgnoreSpec.from_lines(_expanded(pattern.removeprefix("!").removeprefix("./")))
    return lambda relative: spec.match_file(relative) != excludes


def _expanded(pattern: str) -> list[str]:
    done: list[str] = []
    ahead = [pattern]
    while ahead and len(done) < _MOST_EXPANDED:
        one = ahead.pop(0)
        found = _BRACES.search(one)
        if not found:
            done.append(one)
            continue
        ahead += [one[: found.start()] + choice + one[found.end() :] for choice in found[1].split(",")]
    return done
