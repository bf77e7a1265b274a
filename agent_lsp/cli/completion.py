"""`agent-lsp completion`: the commands and their options for the Tab key, in the language of a shell.

The scripts are made from the parser itself, so that they cannot be out of step with it, and hold everything they need:
no program is started while somebody types.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple, cast

from agent_lsp.server.flags import LOG_LEVELS

SHELLS = ("bash", "zsh", "fish")
Kind = Literal["nothing", "file", "folder", "text"]
_FOLDERS = {"DIR", "PATH"}
_FILES = {"FILE", "OUT"}


class Option(NamedTuple):
    """An option: how it is spelled, what it is for, and what comes after it."""

    flags: tuple[str, ...]
    purpose: str
    takes: Kind
    choices: tuple[str, ...] = ()


_ACP = "serve a client of the Agent Client Protocol"
_SERVED = (
    Option(("--data-dir",), "where traces and scratch files are kept", "folder"),
    Option(("--config",), "a user configuration to read instead of yours", "file"),
    Option(("--log-level",), "what is told on standard error", "text", LOG_LEVELS),
    Option(("--log-file",), "a file that is told the same", "file"),
)
_LISTENING = (
    Option(("--tcp",), "listen at HOST:PORT", "text"),
    Option(("--pipe",), "listen at a Unix socket", "file"),
    Option(("--ws",), "listen at HOST:PORT for WebSocket", "text"),
    Option(("--token",), "file with what a client has to show", "file"),
    Option(("--allow-remote",), "listen on other addresses than loopback", "nothing"),
)
"""What the two servers take, which have no parser: theirs is written by hand, to start sooner."""


class Command(NamedTuple):
    """A command by the words that lead to it, with all that may come behind them."""

    path: tuple[str, ...]
    below: tuple[tuple[str, str], ...]
    options: tuple[Option, ...]
    choices: tuple[str, ...]
    takes: Kind


def add_completion(add: Callable[..., argparse.ArgumentParser], whole: Callable[[], argparse.ArgumentParser]) -> None:
    """Adds the command to those that `add` makes; `whole` makes the parser with all of them."""
    command = add(
        "completion",
        help="complete commands with the Tab key",
        description="Prints a script for a shell. bash: source <(agent-lsp completion bash). zsh: the same, behind"
        " compinit. fish: agent-lsp completion fish | source. Such a line in its start file makes it last.",
    )
    command.add_argument("shell", choices=SHELLS, help="which one")

    def carry_out(given: argparse.Namespace) -> int:
        sys.stdout.write(script(given.shell, whole()))
        return 0

    command.set_defaults(carry_out=carry_out)


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """The script for one of the shells."""
    make = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]
    top, *others = commands(parser)
    acp = Command(("acp",), (), _SERVED, (), "nothing")
    whole = top._replace(below=(*top.below, ("acp", _ACP)), options=(*top.options, *_SERVED, *_LISTENING))
    return "\n".join(make([whole, *others, acp])) + "\n"


def commands(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[Command]:
    """The parser and those below it, outer ones first."""
    options, choices, takes = list[Option](), tuple[str, ...](), "nothing"
    below: list[tuple[str, str, argparse.ArgumentParser]] = []
    for action in _actions(parser):
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            purposes = {one.dest: one.help for one in action._get_subactions()}  # pyright: ignore[reportPrivateUsage]
            parsers = cast("dict[str, argparse.ArgumentParser]", action.choices)
            below = [(name, _line(purposes.get(name)), one) for name, one in parsers.items()]
        elif action.option_strings:
            options.append(Option(tuple(action.option_strings), _line(action.help), _kind(action), _choices(action)))
        else:
            choices, takes = _choices(action), _kind(action)
    yield Command(path, tuple((name, purpose) for name, purpose, _ in below), tuple(options), choices, takes)
    for name, _, one in below:
        yield from commands(one, (*path, name))


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return parser._actions  # pyright: ignore[reportPrivateUsage] - argparse offers no other way to look at it


def _line(text: str | None) -> str:
    return " ".join((text or "").replace("%(prog)s", "agent-lsp").split())


def _choices(action: argparse.Action) -> tuple[str, ...]:
    return tuple(map(str, action.choices)) if action.choices else ()


def _kind(action: argparse.Action) -> Kind:
    if action.nargs == 0:
        return "nothing"
    if action.metavar in _FILES:
        return "file"
    if action.metavar in _FOLDERS:
        return "folder"
    return "file" if action.type is Path else "text"


# --- bash -------------------------------------------------------------------------------------------------------------


def _bash(known: list[Command]) -> Iterator[str]:
    yield "# Completion of agent-lsp in bash; made by `agent-lsp completion bash`."
    yield "_agent_lsp() {"
    yield '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" at="" word words=""'
    yield from _walk(known, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"')
    yield "  COMPREPLY=()"
    yield '  case "$at:$prev" in'
    for command, option in _valued(known):
        for flag in option.flags:
            yield f'    "{" ".join(command.path)}:{flag}") {_bash_value(option)}; return ;;'
    yield "  esac"
    yield '  case "$at" in'
    for command in known:
        files = {"file": "compopt -o default; ", "folder": "compopt -o dirnames; "}.get(command.takes, "")
        yield f'    "{" ".join(command.path)}") {files}words="{" ".join(_words(command))}" ;;'
    yield "  esac"
    yield '  COMPREPLY=($(compgen -W "$words" -- "$cur"))'
    yield "}"
    yield "complete -F _agent_lsp agent-lsp"


def _bash_value(option: Option) -> str:
    if option.choices:
        return f'COMPREPLY=($(compgen -W "{" ".join(option.choices)}" -- "$cur"))'
    flag = {"file": "-f", "folder": "-d"}.get(option.takes)
    return f'compopt -o filenames; COMPREPLY=($(compgen {flag} -- "$cur"))' if flag else "COMPREPLY=()"


# --- zsh --------------------------------------------------------------------------------------------------------------


def _zsh(known: list[Command]) -> Iterator[str]:
    yield "#compdef agent-lsp"
    yield "# Completion of agent-lsp in zsh; made by `agent-lsp completion zsh`."
    yield "_agent_lsp() {"
    yield '  local at="" word prev="${words[CURRENT-1]}"'
    yield "  local -a list"
    yield from _walk(known, '"${(@)words[2,CURRENT-1]}"')
    yield '  case "$at:$prev" in'
    for command, option in _valued(known):
        for flag in option.flags:
            yield f'    "{" ".join(command.path)}:{flag}") {_zsh_value(option)}; return ;;'
    yield "  esac"
    yield '  case "$at" in'
    for command in known:
        files = {"file": "_files; ", "folder": "_files -/; "}.get(command.takes, "")
        yield f'    "{" ".join(command.path)}") {files}list=({" ".join(_zsh_words(command))}) ;;'
    yield "  esac"
    yield "  _describe agent-lsp list"
    yield "}"
    yield "compdef _agent_lsp agent-lsp"


def _zsh_value(option: Option) -> str:
    if option.choices:
        return f"compadd -- {' '.join(option.choices)}"
    return {"file": "_files", "folder": "_files -/"}.get(option.takes, "_message value")


def _zsh_words(command: Command) -> Iterator[str]:
    described = [*command.below, *((one, "") for one in command.choices)]
    described += [(flag, option.purpose) for option in command.options for flag in option.flags]
    for word, purpose in described:
        yield _quoted(":".join(part.replace(":", r"\:") for part in (word, purpose) if part))


# --- fish -------------------------------------------------------------------------------------------------------------


def _fish(known: list[Command]) -> Iterator[str]:
    yield "# Completion of agent-lsp in fish; made by `agent-lsp completion fish`."
    yield "complete -c agent-lsp -f"
    for command in known:
        when = f"-n {_quoted(_fish_when(command))}"
        for name, purpose in (*command.below, *((one, "") for one in command.choices)):
            yield f"complete -c agent-lsp {when} -a {name} -d {_quoted(purpose)}"
        if command.takes in ("file", "folder"):
            arguments = "" if command.takes == "file" else " -a '(__fish_complete_directories)'"
            yield f"complete -c agent-lsp {when} {'-F' if command.takes == 'file' else arguments.strip()}"
        for option in command.options:
            yield f"complete -c agent-lsp {when} {' '.join(_fish_option(option))}"


def _fish_when(command: Command) -> str:
    """Whether a line is inside of a command, and of none below it."""
    inside = [f"__fish_seen_subcommand_from {name}" for name in command.path]
    names = " ".join(name for name, _ in command.below)
    return "; and ".join([*inside, *([f"not __fish_seen_subcommand_from {names}"] if names else [])]) or "true"


def _fish_option(option: Option) -> Iterator[str]:
    for flag in option.flags:
        yield f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
    if option.choices:
        yield f"-x -a {_quoted(' '.join(option.choices))}"
    elif option.takes == "folder":
        yield "-x -a '(__fish_complete_directories)'"
    elif option.takes != "nothing":
        yield "-r -F" if option.takes == "file" else "-x"
    yield f"-d {_quoted(option.purpose)}"


# --- all of them ------------------------------------------------------------------------------------------------------


def _walk(known: list[Command], words: str) -> Iterator[str]:
    """Finds out, word by word, inside of which command the line is."""
    paths = "|".join(f'"{" ".join(command.path)}"' for command in known if command.path)
    yield f"  for word in {words}; do"
    yield '    case "${at:+$at }$word" in'
    yield f'      {paths}) at="${{at:+$at }}$word" ;;'
    yield "    esac"
    yield "  done"


def _valued(known: list[Command]) -> Iterator[tuple[Command, Option]]:
    return ((command, option) for command in known for option in command.options if option.takes != "nothing")


def _words(command: Command) -> Iterator[str]:
    yield from (name for name, _ in command.below)
    yield from command.choices
    yield from (flag for option in command.options for flag in option.flags)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
