"""What a harmless command prints, where that can be told without running it: `echo x | sh` runs `x`."""

from __future__ import annotations

import base64
import binascii
import posixpath
import re
from typing import TYPE_CHECKING

from agent_lsp.policy.shell_text import UNKNOWN, ansi

if TYPE_CHECKING:
    from agent_lsp.policy.shell import Command


def output(command: Command) -> str | None:
    """What the command would print, None if that cannot be told."""
    name, *arguments = command.words
    match posixpath.basename(name):
        case "echo":
            while arguments and re.fullmatch(r"-[neE]+", arguments[0]):
                arguments = arguments[1:]
            return ansi(" ".join(arguments)) + "\n"
        case "printf":
            return _printf(arguments)
        case "cat" | "tee" if all(one.startswith("-") for one in arguments):
            return command.heard
        case "rev" if command.heard is not None:
            return "\n".join(line[::-1] for line in command.heard.split("\n"))
        case "base64" | "base32" if {"-d", "-D", "-di", "--decode"} & set(arguments):
            return _decoded(command.heard, posixpath.basename(name))
        case "xxd" if any(one.startswith("-") and "r" in one for one in arguments):
            return _decoded(command.heard, "hex")
        case _:
            return None


def _printf(arguments: list[str]) -> str | None:
    if arguments[:1] == ["--"]:
        arguments = arguments[1:]
    if not arguments:
        return None
    shape, rest = ansi(arguments[0]), iter(arguments[1:])
    made = re.sub(r"%[-0-9.]*[sbqdi]", lambda _: next(rest, ""), shape)
    return " ".join((made, *rest))


def _decoded(heard: str | None, code: str) -> str | None:
    if heard is None or UNKNOWN in heard:
        return None
    packed = "".join(heard.split()).encode("ascii", "replace")
    try:
        if code == "hex":
            return binascii.unhexlify(packed).decode("utf-8", "replace")
        if code == "base32":
            return base64.b32decode(packed).decode("utf-8", "replace")
        return base64.b64decode(packed + b"==").decode("utf-8", "replace")
    except (ValueError, binascii.Error):
        return None
