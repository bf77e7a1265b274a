"""The two ways to search: ripgrep, and Python in a process of its own."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_lsp.slotted import frozen
from agent_lsp.tools.workspace import is_folder

if TYPE_CHECKING:
    from agent_lsp.tools.processes import Commands

_WORKER = Path(__file__).with_name("search_worker.py")
_LONGEST_LINE = 500
_NOT_UNDERSTOOD = 2
_MOST_EVENTS = 16 * 2**20
"""Characters. Ripgrep tells every match of a line and the whole of it, so one minified file can make a gigabyte."""


@frozen
class Query:
    """What to look for: a pattern, lines of context, and after how many hits to stop."""

    pattern: str
    context: int
    most: int


@frozen
class Hit:
    """One line to show; `is_match` is false for context."""

    path: str
    line: int
    text: str
    is_match: bool


class SearchFailed(Exception):
    """The searching process ended badly."""


@cache
def find_ripgrep() -> str | None:
    """Where ripgrep is, if it is installed."""
    return shutil.which("rg")


async def by_python(query: Query, files: Sequence[str], texts: Mapping[str, str], commands: Commands) -> list[Hit]:
    """Hits in the files and texts, by path and line."""
    request = {
        "pattern": query.pattern,
        "context": query.context,
        "most": query.most,
        "longest": _LONGEST_LINE,
        "files": files,
        "texts": texts,
    }
    lines, code = await commands.capture((sys.executable, "-I", "-S", str(_WORKER)), Path("/"), json.dumps(request))
    if code:
        raise SearchFailed(lines.strip().rpartition("\n")[2])
    return [Hit(*json.loads(line)) for line in lines.splitlines()]


async def by_ripgrep(
    rg: str, query: Query, path: Path, glob: str | None, commands: Commands, *, in_repository: bool
) -> list[Hit] | None:
    """Hits below the path, by path and line; None if ripgrep cannot read the pattern, or has too much to say of it."""
    argv = [rg, "--json", "--no-config", "--hidden", "--crlf", "--sort=path", "--no-messages"]
    argv += [] if in_repository else ["--no-require-git", "--no-ignore-parent"]
    argv += ["--no-ignore-global", "--no-ignore-exclude", "--no-ignore-dot", f"--context={query.context}"]
    argv += ["--glob=!.git", *([f"--glob={glob}"] if glob else []), f"--regexp={query.pattern}", "--", str(path)]
    lines, code = await commands.capture(argv, path if is_folder(path) else path.parent, "", _MOST_EVENTS)
    if len(lines) > _MOST_EVENTS:
        hits = _read_events(lines.rpartition("\n")[0], query.most)
        return hits if sum(hit.is_match for hit in hits) >= query.most else None
    if code == _NOT_UNDERSTOOD and '"type":"match"' not in lines:
        return None
    return _read_events(lines, query.most)


def _read_events(lines: str, most: int) -> list[Hit]:
    hits: list[Hit] = []
    of_file: list[Hit] = []
    for line in lines.split("\n"):
        event: dict[str, Any] = json.loads(line) if line.startswith("{") else {}
        data = event.get("data", {})
        match event.get("type"):
            case "match" | "context" as kind:
                text = _text(data["lines"]).rstrip("\r\n")[:_LONGEST_LINE]
                of_file.append(Hit(_text(data["path"]), data["line_number"], text, kind == "match"))
            case "end":
                hits += of_file if data.get("binary_offset") is None else []
                of_file = []
            case _:
                continue
        if sum(hit.is_match for hit in of_file) >= most:
            break
    return _first([*hits, *of_file], most)


def _first(hits: list[Hit], most: int) -> list[Hit]:
    count = 0
    for index, hit in enumerate(hits):
        count += hit.is_match
        if count == most:
            return hits[: index + 1]
    return hits


def _text(field: dict[str, str]) -> str:
    if "text" in field:
        return field["text"]
    import base64

    return base64.b64decode(field["bytes"]).decode("utf-8", "replace")
