"""Undoes wrappers: `sudo -u root env A=1 nice sh -c 'rm x'` runs `rm x`, and that is what the rules look at."""

from __future__ import annotations

import base64
import binascii
import posixpath
import re
from collections.abc import Callable, Iterator
from typing import Final

from agent_lsp.policy.shell import Command
from agent_lsp.slotted import frozen, replace

Reread = Callable[[str, Command], list[Command]]
"""Reads a text as a script that the command would run, in its surroundings."""

_DEEPEST: Final = 12


@frozen
class _Wrapper:
    """How a wrapper is called: its options that take a value, and how many operands come before the command."""

    valued: frozenset[str] = frozenset()
    operands: int = 0


def _takes(options: str = "", operands: int = 0) -> _Wrapper:
    return _Wrapper(frozenset(options.split()), operands)


_WRAPPERS: Final = {
    "builtin": _takes(),
    "busybox": _takes(),
    "caffeinate": _takes("-t -w"),
    "chroot": _takes("", 1),
    "chrt": _takes("-T -P -D", 1),
    "command": _takes(),
    "coproc": _takes(),
    "doas": _takes("-u -C"),
    "env": _takes("-u --unset -C --chdir"),
    "exec": _takes("-a"),
    "fakeroot": _takes("-l -s -i"),
    "flock": _takes("-w --timeout -E", 1),
    "gosu": _takes("", 1),
    "ionice": _takes("-c --class -n --classdata -p"),
    "nice": _takes("-n --adjustment"),
    "nohup": _takes(),
    "noglob": _takes(),
    "parallel": _takes("-j --jobs -a --arg-file"),
    "pkexec": _takes("--user"),
    "proxychains": _takes("-f"),
    "setsid": _takes(),
    "stdbuf": _takes("-i -o -e"),
    "strace": _takes("-o -e -p -s"),
    "sudo": _takes("-u --user -g --group -h --host -p --prompt -C -D --chdir -R -r -t -T -U"),
    "systemd-run": _takes("-p --property -u --unit --slice -E"),
    "taskset": _takes("", 1),
    "time": _takes("-f -o"),
    "timeout": _takes("-s --signal -k --kill-after", 1),
    "toybox": _takes(),
    "unbuffer": _takes(),
    "unshare": _takes("-R -S -G"),
    "watch": _takes("-n --interval"),
    "xargs": _takes("-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --replace"),
}
_SHELLS: Final = frozenset(("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"))
_POWERSHELLS: Final = frozenset(("powershell", "pwsh"))
WRAPPING: Final = frozenset(
    (*_WRAPPERS, *_SHELLS, *_POWERSHELLS, "eval", "trap", "su", "runuser", "script", "cmd", "source", ".")
)
"""Names whose further words are commands themselves."""

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")


def program(words: tuple[str, ...]) -> str:
    """The name of the program that the words call: no folder, no `.exe`, lower case."""
    name = posixpath.basename(words[0].replace("\\", "/")) if words else ""
    return name.casefold().removesuffix(".exe").removesuffix(".com")


def unwrapped(command: Command, reread: Reread, depth: int = 0) -> Iterator[Command]:
    """The command itself and every one that it would run, as far as its words tell."""
    yield command
    if depth < _DEEPEST:
        for inner in _inner(command, reread):
            yield from unwrapped(inner, reread, depth + 1)


def _inner(command: Command, reread: Reread) -> list[Command]:
    name = program(command.words)
    rest = command.words[1:]
    if wrapper := _WRAPPERS.get(name):
        return _below_wrapper(command, name, wrapper, reread)
    if name in _SHELLS or name in ("su", "runuser", "script"):
        return reread(_script_of_shell(rest, command.heard), command)
    if name in _POWERSHELLS:
        return reread(_script_of_powershell(rest), command)
    if name == "cmd":
        return reread(" ".join(word for word in rest if not re.match(r"/[a-zA-Z]\b", word)), command)
    if name == "eval":
        return reread(" ".join(rest), command)
    if name == "trap":
        return reread(rest[0] if rest else "", command)
    if name in ("source", "."):
        return reread((command.heard or "") if rest[:1] in (("/dev/stdin",), ("-",)) else "", command)
    if name == "find":
        return _run_by_find(command)
    if name == "git":
        return [one for word in rest if "=!" in word for one in reread(word.split("=!", 1)[1], command)]
    return []


def _below_wrapper(command: Command, name: str, wrapper: _Wrapper, reread: Reread) -> list[Command]:
    words = list(command.words[1:])
    operands = wrapper.operands
    split: list[Command] = []
    while words:
        word = words[0]
        if name == "env" and (found := re.match(r"(?:-S|--split-string=?)(.*)", word, re.DOTALL)):
            split = reread(found[1] or " ".join(words[1:]), command)
            break
        if word == "--":
            words.pop(0)
            break
        if word.startswith("-") and len(word) > 1:
            del words[: 2 if word in wrapper.valued else 1]
        elif _ASSIGNMENT.match(word):
            words.pop(0)
        elif operands:
            operands -= 1
            words.pop(0)
        else:
            break
    if not words or split:
        return split
    if name in ("xargs", "parallel") and command.heard:
        words += command.heard.split()
    script = reread(" ".join(words), command) if name == "watch" and len(words) == 1 else []
    return [replace(command, words=tuple(words)), *script]


def _script_of_shell(rest: tuple[str, ...], heard: str | None) -> str:
    """The text that a shell would run: after `-c`, or what it hears."""
    for at, word in enumerate(rest):
        if word in ("--command", "-c") or (re.fullmatch(r"-[A-Za-z]*c[A-Za-z]*", word) and not word.startswith("--")):
            following = [one for one in rest[at + 1 :] if not one.startswith(("-", "+"))]
            return following[0] if following else ""
        if word.startswith("--command="):
            return word.partition("=")[2]
    substituted = [word for word in rest if any(char.isspace() for char in word)]
    return "\n".join((*substituted, heard or ""))


def _script_of_powershell(rest: tuple[str, ...]) -> str:
    for at, word in enumerate(rest):
        option = word.casefold()
        if re.fullmatch(r"[-/]e(nc?|c|ncodedcommand)?", option) and at + 1 < len(rest):
            try:
                return base64.b64decode(rest[at + 1] + "==").decode("utf-16-le", "replace")
            except (ValueError, binascii.Error):
                return ""
        if re.fullmatch(r"[-/]c(ommand)?", option):
            return " ".join(rest[at + 1 :])
    return " ".join(word for word in rest if not word.startswith("-"))


def _run_by_find(command: Command) -> list[Command]:
    """What `find` runs on what it finds; `{}` is taken to be each folder it starts in, and what is in it."""
    words = command.words[1:]
    starts: list[str] = []
    for word in words:
        if word.startswith(("-", "(", "!")):
            if starts or word not in ("-H", "-L", "-P"):
                break
        else:
            starts.append(word)
    found: list[Command] = []
    for at, word in enumerate(words):
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            run = list(words[at + 1 :])
            ends = [index for index, one in enumerate(run) if one in (";", "+")]
            run = run[: ends[0]] if ends else run
            plain = [one for one in run if "{}" not in one]
            found.append(replace(command, words=(*plain, *starts) if len(plain) < len(run) else tuple(run)))
        elif word == "-delete":
            found.append(replace(command, words=("rm", "-rf", *starts)))
    return [one for one in found if one.words]
