"""Commands that are known to only look, and what they look at."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from agent_lsp.policy.repository import brings_programs

_NOTHING: Final = frozenset[str]()
# Options with which these do more than look, or look further than where they are sent.
_REFUSED: Final = {
    "basename": _NOTHING,
    "cat": _NOTHING,
    "cmp": _NOTHING,
    "cut": _NOTHING,
    "df": _NOTHING,
    "diff": frozenset(("--to-file", "--from-file")),
    "dirname": _NOTHING,
    "du": frozenset(("-L", "--dereference", "-D", "-H", "--dereference-args")),
    "echo": _NOTHING,
    "egrep": frozenset(("-R", "--dereference-recursive")),
    "fgrep": frozenset(("-R", "--dereference-recursive")),
    "file": frozenset(("-C", "--compile")),
    "grep": frozenset(("-R", "--dereference-recursive")),
    "head": _NOTHING,
    "ls": frozenset(("-L", "--dereference", "-H")),
    "md5sum": _NOTHING,
    "nl": _NOTHING,
    "pwd": _NOTHING,
    "realpath": _NOTHING,
    "rg": frozenset(("-L", "--follow", "--pre", "--hostname-bin", "-z", "--search-zip")),
    "sha256sum": _NOTHING,
    "stat": _NOTHING,
    "tail": frozenset(("-f", "-F", "--follow", "--retry")),
    "tree": frozenset(("-o", "-l", "-R")),
    "uname": _NOTHING,
    "wc": frozenset(("--files0-from",)),
    "which": _NOTHING,
    "whoami": _NOTHING,
}
_GIT_LOOKS: Final = frozenset(
    ("status", "diff", "log", "show", "blame", "ls-files", "rev-parse", "shortlog", "describe")
)
_GIT_REFUSED: Final = frozenset(
    ("--output", "-o", "--ext-diff", "--textconv", "--no-index", "--git-dir", "--work-tree", "-O")
)


def only_reads(words: tuple[str, ...], cwd: Path) -> tuple[Path, ...] | None:
    """The paths that the simple command looks at, None if it is not known to do nothing else.

    Every word that is not an option counts as a path, and options with a path in them are not judged here.
    """
    name, rest = words[0], words[1:]
    if name == "git":
        if not rest or rest[0] not in _GIT_LOOKS or brings_programs(cwd):
            return None
        refused, rest = _GIT_REFUSED, rest[1:]
    elif name in _REFUSED:
        refused = _REFUSED[name]
    else:
        return None
    options = [word for word in rest if word.startswith("-") and len(word) > 1]
    if any("/" in word or ".." in word or _is_refused(word, refused) for word in options):
        return None
    return tuple(cwd / word for word in rest if word not in options)


def _is_refused(option: str, refused: frozenset[str]) -> bool:
    """Whether the option is one of these, by an abbreviation or inside a cluster too."""
    if option.startswith("--"):
        name = option.split("=", 1)[0]
        return len(name) > 2 and any(one.startswith(name) for one in refused if one.startswith("--"))
    return any(one[1] in option[1:] for one in refused if len(one) == 2)
