"""read_file: a file's lines with their numbers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from pydantic import Field

from agent_lsp.policy.access import Access, Preview
from agent_lsp.tools.arguments import Arguments, PathText
from agent_lsp.tools.editor import Editor, Snapshot, Unreadable
from agent_lsp.tools.tool import End, Spec, failed

if TYPE_CHECKING:
    from agent_lsp.tools.workspace import Workspace

_LINES = 2_000
_LONGEST_LINE = 2_000
_MOST_CHARACTERS = 60_000  # of one answer, so that its note where to go on is never cut off


class ReadFileArgs(Arguments):
    """Arguments of read_file."""

    file_path: PathText = Field(description="Relative to the workspace, or absolute.")
    offset: int = Field(default=1, ge=1, description="First line to read, counted from 1.")
    limit: int = Field(default=_LINES, ge=1, description="How many lines to read.")


class ReadFile:
    """Reads through the editor, so unsaved changes are seen."""

    spec = Spec(
        "read_file",
        f"Reads a text file: its lines, numbered from 1, {_LINES} of them unless `limit` says otherwise. A note at the"
        f" end tells "
        "how to go on if there are more. Sees unsaved changes of a file that is open in the editor.",
        ReadFileArgs,
        "r",
        max_output_length=64_000,
    )

    def __init__(self, workspace: Workspace, editor: Editor) -> None:
        self._workspace, self._editor = workspace, editor

    def title(self, args: ReadFileArgs) -> str:
        """Names the file."""
        return f"Read {args.file_path}"

    def access(self, args: ReadFileArgs) -> Access:
        """Reads one path."""
        return Access("read", (self._workspace.locate(args.file_path),))

    async def preview(self, args: ReadFileArgs) -> Preview | None:
        """Nothing changes, so there is nothing to show."""
        return None

    async def run(self, args: ReadFileArgs) -> AsyncGenerator[str | End, None]:
        """Gives the lines, or says why there are none."""
        path = self._workspace.locate(args.file_path)
        match await self._editor.read(path, shown=True):
            case None:
                yield failed(await asyncio.to_thread(self._workspace.advice_on_missing, path))
            case Unreadable() as unreadable:
                yield failed(f"{args.file_path}: {unreadable.reason}")
            case Snapshot() as snapshot:
                yield _page(snapshot.text, args)


def _page(text: str, args: ReadFileArgs) -> End:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        return End("[the file is empty]")
    if args.offset > len(lines):
        return failed(f"The file has only {len(lines)} lines; offset {args.offset} is beyond its end.")
    shown: list[str] = []
    room = _MOST_CHARACTERS
    for number, line in enumerate(lines[args.offset - 1 : args.offset - 1 + args.limit], args.offset):
        one = f"{number:6}\t{_cut(line.removesuffix(chr(13)))}\n"
        room -= len(one)
        if room < 0 and shown:
            break
        shown.append(one)
    following = args.offset + len(shown)
    if following > len(lines):
        return End("".join(shown))
    return End("".join(shown), f"[lines {args.offset}-{following - 1} of {len(lines)}; go on with offset {following}]")


def _cut(line: str) -> str:
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[:_LONGEST_LINE]} [{len(line) - _LONGEST_LINE} more characters in this line]"
