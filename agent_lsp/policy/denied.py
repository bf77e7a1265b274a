"""The built-in deny rules: what ruins a machine or a home folder, whoever allows it.

A guard against accidents, not a boundary: a shell can be told to do harm in ways that no list foresees.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent_lsp.policy.shell_text import UNKNOWN
from agent_lsp.policy.wrappers import program

if TYPE_CHECKING:
    from agent_lsp.policy.shell import Command

_SYSTEM: Final = (
    *("/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/root", "/run", "/sbin"),
    *("/srv", "/sys", "/usr", "/var", "/Applications", "/Library", "/System", "/Users", "/Volumes"),
)
_FORMATTERS: Final = frozenset(("mke2fs", "mkdosfs", "mkntfs", "mkswap", "blkdiscard", "wipefs", "newfs"))
_DISKS: Final = re.compile(
    r"/dev/(?:r?disk|[shv]d[a-z]|xvd|nvme|mmcblk|md|dm-|mapper/|loop|zram|nbd|sr\d|ram\d|block/|zvol/|root\b)"
)
_STREAMS: Final = re.compile(
    r"/dev/(?:null|zero|full|u?random|tty.*|pts/.*|std(?:in|out|err)|fd(?:/.*)?|shm/.*|tcp/.*|udp/.*)\Z"
)
_BROAD: Final = re.compile(r"(?=.*[*?])[.*?]*(\[[^]/]*\][.*?]*)*\Z")

_END: Final = r"[\"']?(?=[\s&|;]|\Z)"
_DRIVE: Final = (
    r"[^&|;]*\s[\"']?(?:[a-z]:[\\/]*\*?(?:\.\*)?"
    r"|%(?:systemdrive|userprofile|homedrive%%homepath|homepath|windir|systemroot)%[\\/]*\*?)" + _END
)
_POWERSHELL_DRIVE: Final = (
    r"[^&|;]*\s[\"']?(?:[a-z]:[\\/]*\*?|~[\\/]*\*?"
    r"|\$(?:home|env:(?:userprofile|systemdrive|windir|homepath))[\\/]*\*?)" + _END
)
_REMOVES: Final = "removes a whole drive or profile"
_WINDOWS: Final = (
    (re.compile(r"\b(?:rd|rmdir)\b(?=[^&|;]*\s/s\b)" + _DRIVE), _REMOVES),
    (re.compile(r"\b(?:del|erase)\b(?=[^&|;]*\s/[sq]\b)" + _DRIVE), _REMOVES),
    (re.compile(r"\b(?:remove-item|ri|del|erase|rd)\b(?=[^&|;]*\s-r[a-z]*\b)" + _POWERSHELL_DRIVE), _REMOVES),
    (re.compile(r"\b(?:rm|rmdir)\b(?=[^&|;]*\s-rec[a-z]*\b)" + _POWERSHELL_DRIVE), _REMOVES),
    (re.compile(r"(?:^|[&|;(]|\bcmd\s+/c\s+)\s*format(?:\.com)?\s+[a-z]:"), "formats a drive"),
    (re.compile(r"\b(?:format-volume|clear-disk|initialize-disk|remove-partition)\b"), "formats a drive"),
    (re.compile(r"(?:^|[&|;(])\s*diskpart\b"), "changes partitions"),
    (re.compile(r"\\\\\.\\(?:physicaldrive\d|[a-z]:)"), "writes to a drive"),
    (re.compile(r"%0\s*\|\s*%0"), "is a fork bomb"),
)


class Protected:
    """The folders whose loss is never meant: roots, the system's own, and homes with everything above them."""

    def __init__(self, homes: Iterable[str]) -> None:
        folders = {"/", *_SYSTEM}
        for home in homes:
            folders |= {home.rstrip("/") or "/", *map(str, Path(home).parents), posixpath.realpath(home)}
        self._folders = frozenset(folders)
        self._by_length: dict[int, list[str]] = {}
        for folder in folders:
            self._by_length.setdefault(folder.count("/"), []).append(folder)

    def hit_by(self, target: str, cwd: str | None) -> bool:
        """Whether the target, a path or a glob, is one of the folders or everything in one."""
        if UNKNOWN in target or not target or (cwd is None and not target.startswith("/")):
            return False
        path = posixpath.normpath(posixpath.join(cwd or "/", target))
        path = "/" + path.lstrip("/")
        head, tail = posixpath.split(path)
        if tail and _BROAD.match(tail) and self._is_one(head):
            return True
        return self._is_one(path)

    def _is_one(self, path: str) -> bool:
        if path in self._folders:
            return True
        if any(char in path for char in "*?["):
            return any(_matches(path, folder) for folder in self._by_length.get(path.count("/"), ()))
        return False


def why_forbidden(command: Command, protected: Protected) -> str | None:
    """Why this command (wrappers undone) must not run; None if it may."""
    name, operands = program(command.words), [word for word in command.words[1:] if not word.startswith("-")]
    if name.startswith(("mkfs", "newfs_")) or name in _FORMATTERS:
        return "it formats a file system"
    if name == "rm" and _recursive(command.words[1:]):
        hit = next((one for one in _operands(command.words[1:]) if protected.hit_by(one, command.cwd)), None)
        return f"it removes {hit}" if hit else None
    if name == "dd":
        targets = [word[3:] for word in operands if word.startswith("of=")]
    elif name in ("tee", "shred"):
        targets = operands
    elif name in ("cp", "mv", "install"):
        targets = operands[-1:]
    else:
        return None
    device = next((target for target in targets if is_block_device(target)), None)
    return f"it writes to the device {device}" if device else None


def why_forbidden_on_windows(line: str) -> str | None:
    """The counterparts for cmd and PowerShell, looked for in the text itself."""
    plain = line.casefold().replace("^", "").replace("`", "")
    return next((f"it {why}" for pattern, why in _WINDOWS if pattern.search(plain)), None)


def is_block_device(target: str) -> bool:
    """Whether the path is a disk: by its name, by its kind, or because nothing else of that name is in /dev."""
    path = "/" + posixpath.normpath(target).lstrip("/") if target.startswith("/") else ""
    if not path or _STREAMS.match(path):
        return False
    if _DISKS.match(path):
        return True
    try:
        return stat.S_ISBLK(Path(path).stat().st_mode)
    except (OSError, ValueError):
        return path.startswith("/dev/")


def _matches(pattern: str, folder: str) -> bool:
    pairs = zip(pattern.split("/"), folder.split("/"), strict=True)
    return all(fnmatch.fnmatchcase(name, glob) for glob, name in pairs)


def _recursive(words: tuple[str, ...]) -> bool:
    """Whether `rm` is told to go into folders. Without a terminal it asks nothing, forced or not."""
    for word in words:
        if word == "--":
            return False
        if word.startswith("--"):
            if len(word) > 2 and "--recursive".startswith(word):
                return True
        elif word.startswith("-") and set(word) & {"r", "R"}:
            return True
    return False


def _operands(words: tuple[str, ...]) -> list[str]:
    if "--" in words:
        at = words.index("--")
        return [word for word in words[:at] if not word.startswith("-")] + list(words[at + 1 :])
    return [word for word in words if not word.startswith("-")]
