"""The command policy: what no command line may do, by what it would run and not by how it is spelled."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agent_lsp.policy.denied import Protected, is_block_device, why_forbidden, why_forbidden_on_windows
from agent_lsp.policy.paths import user_homes
from agent_lsp.policy.readers import only_reads
from agent_lsp.policy.remembering import remembered_by
from agent_lsp.policy.shell import Command, Script, Surroundings
from agent_lsp.policy.simple_line import simple_words
from agent_lsp.policy.visible import visible_line
from agent_lsp.policy.wrappers import program, unwrapped
from agent_lsp.slotted import frozen

# Nothing in these needs a parser to be read: no expansion, no substitution, no glob, no braces.
_PLAIN: Final = re.compile(r"[\w\-./:=@%+,; \t\n&|<>#!'\"\\~]*\Z", re.ASCII)
_TRIGGERS: Final = (
    *("rm", "dd", "mke2fs", "mkdosfs", "mkntfs", "mkswap", "blkdiscard", "wipefs", "tee", "shred", "find", "cp", "mv"),
    *("install", "ln", "base64", "base32", "xxd", "rd", "rmdir", "del", "erase", "ri", "remove-item", "format"),
    *("format-volume", "clear-disk", "initialize-disk", "remove-partition", "diskpart", "%0"),
)
# Wrappers are no reason by themselves: what they run stands in the same line, in the open.
_READS_TEXT: Final = (
    "eval",
    "trap",
    "source",
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "ash",
    "fish",
    "powershell",
    "pwsh",
)
_NEEDS_LOOK: Final = re.compile(
    rf"(?<!\w)(?:{'|'.join(map(re.escape, (*_TRIGGERS, *_READS_TEXT)))})(?!\w)|mkfs|newfs|/dev/|physicaldrive",
    re.IGNORECASE,
)
_SAFE_DEVICE: Final = re.compile(r"/dev/(?:null|stdout|stderr|stdin|tty)(?![\w/])")
_DEEPEST: Final = 12
_MOST_SCRIPTS: Final = 200


@frozen
class CommandPolicy:
    """Judges command lines.

    `deny` are the user's patterns over a command with its wrappers, folder and quoting undone: the words it begins with
    (`git push`), or a glob over all of it (`git push *--force*`). `read_only`: commands known to only look count so.
    """

    deny: tuple[str, ...] = ()
    read_only: bool = False
    homes: tuple[Path, ...] = ()
    variables: Mapping[str, str] | None = None

    def forbids(self, line: str, cwd: Path) -> str | None:
        """Why the line must never run in that folder (one line for a person), None if it may."""
        if self._is_harmless(line):
            return None
        if why := why_forbidden_on_windows(line):
            return why
        return _Inspection(self, cwd).why(line, str(cwd), 0)

    def is_simple(self, line: str) -> bool:
        """Whether the line is one simple command: nothing is expanded, substituted, redirected or joined to it."""
        return simple_words(line) is not None

    def first_words(self, line: str) -> tuple[str, ...] | None:
        """The words by which the line can be remembered (`npm test`), None if only as a whole."""
        words = simple_words(line)
        return remembered_by(words) if words else None

    def only_reads(self, line: str, cwd: Path) -> tuple[Path, ...] | None:
        """The paths that the line looks at, if it does nothing else and the settings let that count; else None."""
        words = simple_words(line) if self.read_only else None
        return only_reads(words, cwd) if words else None

    def _is_harmless(self, line: str) -> bool:
        """Whether the line can be seen at a glance to break no rule: plain text without a word that any rule knows."""
        if not _PLAIN.match(line):
            return False
        bare = re.sub(r"\\\r?\n|[\\'\"]", "", line)
        if _NEEDS_LOOK.search(_SAFE_DEVICE.sub("", bare)):
            return False
        return not any(_may_match(pattern, bare) for pattern in self.deny)


class _Inspection:
    """One look at one line."""

    def __init__(self, policy: CommandPolicy, cwd: Path) -> None:
        self._policy = policy
        homes = policy.homes or user_homes()
        self._home = str(homes[0]) if homes else "/"
        self._variables = os.environ if policy.variables is None else policy.variables
        self._protected = Protected(map(str, homes))
        self._why: str | None = None
        self._scripts = 0

    def why(self, line: str, cwd: str | None, depth: int) -> str | None:
        from agent_lsp.policy.shell_walk import read

        script = read(line, Surroundings(self._home, cwd, self._variables))
        if why := self._why_script(script):
            return why
        for command in script.commands:
            for inner in unwrapped(command, lambda text, around: self._reread(text, around, depth)):
                if why := self._why or self._why_command(inner):
                    return why
        return self._why

    def _reread(self, text: str, around: Command, depth: int) -> list[Command]:
        """Looks at a script inside the line; its own verdict is kept, so it has no commands to hand on."""
        if not text.strip() or self._why is not None:
            return []
        self._scripts += 1
        if depth >= _DEEPEST or self._scripts > _MOST_SCRIPTS:
            self._why = "it is too convoluted to be checked"
        else:
            self._why = why_forbidden_on_windows(text) or self.why(text, around.cwd, depth + 1)
        return []

    def _why_script(self, script: Script) -> str | None:
        if script.bombs:
            return "it is a fork bomb"
        device = next((target for target in script.written_to if is_block_device(target)), None)
        return f"it writes to the device {visible_line(device)}" if device else None

    def _why_command(self, command: Command) -> str | None:
        if why := why_forbidden(command, self._protected):
            return visible_line(why)
        name = program(command.words)
        spellings = (" ".join((name, *command.words[1:])), " ".join(command.words))
        pattern = next((one for one in self._policy.deny if any(_fits(one, text) for text in spellings)), None)
        return f"the configuration denies {visible_line(pattern)!r}" if pattern is not None else None


def _fits(pattern: str, command: str) -> bool:
    if any(char in pattern for char in "*?["):
        return fnmatch.fnmatchcase(command, " ".join(pattern.split()))
    words = pattern.split()
    return bool(words) and command.split()[: len(words)] == words


def _may_match(pattern: str, line: str) -> bool:
    """Whether the pattern could match something in the plain line: its longest literal piece stands there."""
    pieces = re.split(r"\[[^]]*\]|[*?\[\]\s]+", pattern)
    literal = max(pieces, key=len)
    return not literal or literal.casefold() in line.casefold()
