"""Whether git, when it only looks, would run programs that the repository brings along.

A repository from anywhere has a configuration of its own, which may name a monitor of files (git-config(1),
`core.fsmonitor`), a filter, a converter for diffs, a signature checker; and submodules have theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_HARMLESS: Final = {
    "core": "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol"
    " safecrlf quotepath abbrev longpaths protectntfs protecthfs untrackedcache preloadindex checkstat trustctime",
    "diff": "algorithm colormoved context indentheuristic mnemonicprefix noprefix renamelimit renames",
    "extensions": "objectformat",
    "log": "abbrevcommit date decorate follow",
    "merge": "conflictstyle ff",
    "remote": "url pushurl fetch mirror prune tagopt gh-resolved",
    "status": "branch short showuntrackedfiles",
}
_WHOLLY_HARMLESS: Final = frozenset(
    ("advice", "author", "branch", "color", "committer", "fetch", "init", "pull", "push", "rebase", "rerere", "user")
)
"""Sections in which no setting makes looking run anything; above, those with some that do. Of others nobody knows."""
_SECTION: Final = re.compile(r'\[\s*([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]')
_KEY: Final = re.compile(r"[\w-]+")
_LARGEST_TEXT_BYTES: Final = 256 * 1024
_LARGEST_INDEX_BYTES: Final = 32 * 2**20
_SUBMODULE: Final = b"\x00\x00\xe0\x00"
"""The mode of a submodule (0o160000) as an entry of the index has it: gitformat-index(5)."""


def brings_programs(cwd: Path) -> bool:
    """Whether git might run something there that is not the user's own; True too where that cannot be told.

    False outside of a repository: git has nothing to look at.
    """
    try:
        return any(_may_run(folder) for folder in _repositories(cwd))
    except (OSError, ValueError):
        return True


def _repositories(cwd: Path) -> Iterator[Path]:
    """All folders that git could take for its own: which of them it finds sound is not ours to guess."""
    for root in (cwd, *cwd.parents):
        git = root / ".git"
        if git.is_dir():
            yield git
        elif git.exists():  # a worktree, or a submodule
            yield root / _read(git).removeprefix("gitdir:").strip()
        if (root / "HEAD").is_file() and (root / "objects").is_dir():  # a bare one
            yield root


def _may_run(git: Path) -> bool:
    shared = git / "commondir"
    common = git / _read(shared).strip() if shared.exists() else git
    if (common / "hooks" / "post-index-change").exists():  # looking refreshes the index: githooks(5)
        return True
    return _has_submodules(git) or not all(_is_harmless(*one) for one in _settings(_read(common / "config")))


def _has_submodules(git: Path) -> bool:
    index = git / "index"
    if not index.exists():
        return False
    is_split = any(git.glob("sharedindex.*"))
    return is_split or _SUBMODULE in _bytes(index, _LARGEST_INDEX_BYTES)


def _is_harmless(section: str, key: str) -> bool:
    name = section.partition(".")[0].lower()
    return name in _WHOLLY_HARMLESS or key.lower() in _HARMLESS.get(name, "").split()


def _settings(text: str) -> Iterator[tuple[str, str]]:
    """Section and key of each setting; what is not understood is a setting that nobody knows."""
    section = ""
    for line in text.split("\n"):  # no other character ends a line for git
        rest = line.strip()
        if rest.endswith("\\"):
            yield "", ""  # it goes on in the next line, which then is none of its own
        if found := _SECTION.match(rest):
            section, rest = found[1], rest[found.end() :].strip()
        if rest and rest[0] not in "#;":
            key = _KEY.match(rest)
            yield section, key[0] if key else ""


def _read(file: Path) -> str:
    return _bytes(file, _LARGEST_TEXT_BYTES).decode()


def _bytes(file: Path, most: int) -> bytes:
    """All of an ordinary file. Raises OSError or ValueError for what is none, or too large."""
    if not file.is_file():
        raise ValueError("not a file")
    with file.open("rb") as opened:
        found = opened.read(most + 1)
    if len(found) > most:
        raise ValueError("too large")
    return found
