"""Where a path leads, and what the rules say about that place.

A path is judged by where it really leads: links and `..` resolved as the file system resolves them. Whether a place is
inside the workspace is decided strictly (the same spelling, or the same directory on the disk); whether it is forbidden
is decided generously (letter case, Unicode form and invisible characters set aside), by the spelling and by where it
leads: a wrong "inside" or "not forbidden" would open something, the other two mistakes only ask or refuse.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from agent_lsp.policy.ancestry import Ancestry, identity
from agent_lsp.policy.globs import PathGlob
from agent_lsp.policy.sensitive import GUARDED_ENDINGS, GUARDED_FILES, GUARDED_FOLDERS, SECRETS, SYSTEM_SECRETS
from agent_lsp.slotted import frozen

Standing = Literal["inside", "guarded", "outside", "forbidden"]


@frozen
class Place:
    """Where a path leads (`path`, nothing left to resolve) and what that means.

    `inside`: the workspace or the session's scratchpad. `guarded`: inside, but a change there can make code run.
    `outside`: anywhere else. `forbidden`: no tool may look or write there.
    """

    path: Path
    standing: Standing


class PathRules:
    """The rules for the paths of one session."""

    def __init__(
        self,
        workspace: Path,
        *,
        data_dir: Path,
        scratchpad: Path | None = None,
        user_config: Iterable[Path] = (),
        deny: Iterable[str] = (),
        homes: Iterable[Path] | None = None,
    ) -> None:
        """`user_config`: the user's configuration file and folder. `deny`: globs or absolute paths, `~` allowed.

        `homes` are the user's home folders (default: the environment's and the account's).
        """
        self.workspace = _resolved(workspace)
        self._scratchpad = _resolved(scratchpad) if scratchpad else None
        self._homes = tuple(user_homes() if homes is None else homes)
        self._readable: tuple[Path, ...] = ()
        secrets = [home / name for home in self._homes for name in SECRETS]
        roots = (data_dir, *user_config, *secrets, *map(Path, SYSTEM_SECRETS))
        self._roots = tuple(dict.fromkeys(map(_resolved, roots)))
        both = dict.fromkeys((*map(_spelled, roots), *self._roots))
        self._forbidden = frozenset(_folded(path) for path in both)
        self._forbidden_identities = frozenset(filter(None, map(identity, both)))
        self._deny = [PathGlob(pattern, self.workspace, next(iter(self._homes), None)) for pattern in deny]

    def let_read(self, *folders: Path) -> None:
        """What is below these may be looked at as if it lay in the workspace, whatever their surroundings are."""
        self._readable = tuple(map(_resolved, folders))

    def place(self, path: Path, *, writes: bool = False) -> Place:
        """Where the (absolute) path leads now and what that means for a tool that reads or `writes` there.

        A link may change between the check and the use: whoever opens the file asks again just before, and opens
        `Place.path`.
        """
        try:
            real = _resolved(path)
        except (ValueError, OSError, RuntimeError):
            return Place(path, "outside")  # nothing can be opened by such a name; it must not count as inside
        return Place(real, self._standing(path, real, writes))

    def leads(self, path: Path) -> Path:
        """Where the (absolute) path leads now, whatever that means: for whoever opens nothing there."""
        try:
            return _resolved(path)
        except (ValueError, OSError, RuntimeError):
            return path

    def hidden(self) -> list[Path]:
        """The roots of all that is forbidden, links resolved; of denied globs only those that name one path."""
        return [*self._roots, *(path for glob in self._deny for path in glob.named)]

    def forbids(self, path: Path) -> bool:
        """Whether no tool may look or write there; for whoever walks a tree, reads a mention or an image."""
        return self.place(path).standing == "forbidden"

    def _standing(self, path: Path, real: Path, writes: bool) -> Standing:
        spelled = _spelled(path)
        if not writes and self._is_readable(spelled, real):
            return "inside"
        led = Ancestry(real)
        said = led if spelled == real else Ancestry(spelled)
        if self._is_forbidden(said) or (led is not said and self._is_forbidden(led)):
            return "forbidden"
        if self._scratchpad and led.below(self._scratchpad) is not None:
            return "inside"
        below = led.below(self.workspace)
        if below is None:
            return "outside"
        return "guarded" if writes and (_runs_code(below) or _runs_code(said.below(self.workspace))) else "inside"

    def _is_readable(self, spelled: Path, real: Path) -> bool:
        is_below = any(real.parts[: len(root.parts)] == root.parts for root in self._readable)
        return is_below and not self._is_denied(spelled) and not self._is_denied(real)

    def _is_denied(self, path: Path) -> bool:
        return any(glob.matches(path) for glob in self._deny)

    def _is_forbidden(self, asked: Ancestry) -> bool:
        if self._is_denied(asked.path) or _is_own_process(asked.path):
            return True
        if self._scratchpad and asked.below(self._scratchpad) is not None:
            return False
        folded = _folded(asked.path)
        return any(folded[:length] in self._forbidden for length in range(1, len(folded) + 1)) or any(
            part in self._forbidden_identities for part in asked.identities
        )


def user_homes() -> tuple[Path, ...]:
    """The home folder of the environment and the one of the account, which differ when `HOME` was set by hand."""
    found: list[Path] = []
    with suppress(RuntimeError):  # no home at all
        found.append(Path.home())
    if sys.platform != "win32":
        import pwd  # not on every platform

        with suppress(KeyError):  # an account without an entry
            found.append(Path(pwd.getpwuid(os.getuid()).pw_dir))
    return tuple(dict.fromkeys(home for home in found if home.is_absolute() and home != Path(home.anchor)))


def _resolved(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _spelled(path: Path) -> Path:
    """The path with `.` and `..` undone as text, its links kept: pathlib has no such function."""
    return Path(os.path.abspath(path))  # noqa: PTH100


def _fold(part: str) -> str:
    """A path component as the most forgiving file system would compare it.

    Letter case and Unicode form (APFS, NTFS), characters that HFS+ ignores, the trailing dots, blanks and stream names
    of Windows.
    """
    if not part.isascii():
        part = unicodedata.normalize("NFKC", part)
        part = "".join(char for char in part if unicodedata.category(char) != "Cf")
    return part.casefold().split(":", 1)[0].rstrip(". ") or part


def _folded(path: Path) -> tuple[str, ...]:
    return tuple(map(_fold, path.parts))


def _runs_code(below: tuple[str, ...] | None) -> bool:
    """Whether a change there can make code run, by the components below the workspace."""
    parts = [_fold(part) for part in below or ()]
    return any(part in GUARDED_FOLDERS for part in parts) or any(
        part in GUARDED_FILES or part.endswith(GUARDED_ENDINGS) for part in parts[-1:]
    )


def _is_own_process(path: Path) -> bool:
    """Whether the path is one of this process's entries in /proc, by any of its thread ids too."""
    parts = path.parts
    if len(parts) < 3 or parts[1] != "proc":
        return False
    if parts[2] in ("self", "thread-self"):
        return True
    return parts[2] == str(os.getpid()) or (parts[2].isdecimal() and Path(f"/proc/self/task/{parts[2]}").exists())
