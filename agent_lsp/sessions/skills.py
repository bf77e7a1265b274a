"""Skills: a folder each, with a `SKILL.md` that the model reads when it needs it.

The prompt holds their names and descriptions only. Those of the project count whoever opened it: they are text, like
`AGENTS.md`. The user's own of the same name takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from agent_lsp.policy.visible import visible_line
from agent_lsp.sessions.documents import entries, read_document
from agent_lsp.slotted import frozen

FOLDER = "skills"
FILE = "SKILL.md"
_NAME_CHARS, _DESCRIPTION_CHARS = 64, 1024

Stamp = tuple[tuple[str, int, int], ...]
"""What the files of skills looked like: path, time of change, size. Another stamp: they are to be read again."""


@frozen
class Skill:
    """One skill; `path` is its file."""

    name: str
    description: str
    path: Path


def find_skills(folders: Iterable[Path], may_read: Callable[[Path], bool]) -> tuple[Skill, ...]:
    """The skills of the folders, by name; of two with the same name that of the later folder."""
    found = {skill.name: skill for path in _files(folders) if may_read(path) and (skill := _read(path))}
    return tuple(found[name] for name in sorted(found))


def stamp(folders: Iterable[Path]) -> Stamp:
    """What to compare to see whether skills have changed."""
    return tuple(_stamps(folders))


def _stamps(folders: Iterable[Path]) -> Iterator[tuple[str, int, int]]:
    for path in _files(folders):
        try:
            seen = path.stat()
        except (OSError, ValueError):
            continue
        yield str(path), seen.st_mtime_ns, seen.st_size


def _files(folders: Iterable[Path]) -> Iterator[Path]:
    return (entry / FILE for folder in folders for entry in entries(folder))


def _read(path: Path) -> Skill | None:
    document = read_document(path)
    if document is None:
        return None
    name = document.fields.get("name") or path.parent.name
    description = document.fields.get("description") or _first_line(document.body)
    return Skill(visible_line(name, _NAME_CHARS), visible_line(description, _DESCRIPTION_CHARS), path)


def _first_line(body: str) -> str:
    return next((line.strip("# ") for line in body.splitlines() if line.strip("# ")), "")
