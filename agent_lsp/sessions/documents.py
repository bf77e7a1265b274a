"""Texts that tell an agent how to work (`AGENTS.md`, skills, commands): read with care, for anybody may write one."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from agent_lsp.slotted import field, frozen

LARGEST_BYTES = 64 * 1024
_MOST_ENTRIES = 200
_FIELD = re.compile(r"([\w-]+)[ \t]*:[ \t]*(.*)")
_QUOTED = re.compile(r"""(["'])(.*)\1""")


@frozen
class Document:
    """A Markdown text with the fields of its front matter, names in lower case."""

    body: str
    fields: dict[str, str] = field(default_factory=dict[str, str])


def read_text(path: Path) -> str | None:
    """The first 64 KiB of an ordinary file; None if there is none. Never waits for the other end of a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            data = file.read(LARGEST_BYTES + 1)
    except (OSError, ValueError):
        return None
    text = data[:LARGEST_BYTES].decode("utf-8-sig", "replace").replace("\r\n", "\n")
    return text if len(data) <= LARGEST_BYTES else f"{text}\n[the rest of {path.name} was left out]"


def read_document(path: Path) -> Document | None:
    """The file taken apart into front matter and body; None if there is no such file."""
    text = read_text(path)
    return None if text is None else parse(text)


def parse(text: str) -> Document:
    """Front matter is what stands between two lines `---` at the very beginning; of YAML only `name: value` counts."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return Document(text.strip("\n"))
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        return Document(text.strip("\n"))
    return Document("\n".join(lines[end + 1 :]).strip("\n"), _fields(lines[1:end]))


def _fields(lines: list[str]) -> dict[str, str]:
    """Values on one line, quoted or not, and those that go on in indented lines (`>`, `|`, or plainly)."""
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        if match := _FIELD.fullmatch(line.rstrip()):
            name = match[1].lower()
            value = match[2].strip()
            quoted = _QUOTED.fullmatch(value)
            found[name] = quoted[2] if quoted else "" if value.rstrip("+-") in (">", "|") else value
        elif name and line[:1] in (" ", "\t") and line.strip():
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found


def entries(folder: Path) -> Iterator[Path]:
    """What is in a folder, by name, within reason; nothing if it is none."""
    try:
        with os.scandir(folder) as found:
            names = sorted(entry.name for entry in found)
    except (OSError, ValueError):
        return
    yield from (folder / name for name in names[:_MOST_ENTRIES])
