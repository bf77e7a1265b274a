"""list_files: what is in a folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

from pydantic import Field

from agent_lsp.policy.access import Access, Preview
from agent_lsp.tools.arguments import Arguments, PathText
from agent_lsp.tools.globs import Globs, compile_glob
from agent_lsp.tools.tool import End, Spec, failed
from agent_lsp.tools.walk import Entry, walk
from agent_lsp.tools.workspace import Workspace, is_folder, is_there

_MOST_ENTRIES = 1_000
_MOST_CHARACTERS = 15_000  # below the limit of outputs, so that the advice to narrow it down is seen
_MOST_WALKED = 200_000


class ListFilesArgs(Arguments):
    """Arguments of list_files."""

    path: PathText = Field(default=".", description="Folder to list; the workspace by default.")
    pattern: str | None = Field(
        default=None, description="Only files that fit this glob, such as `*.py` or `src/**/*.ts`."
    )
    depth: int | None = Field(default=None, ge=1, description="How deep to go; 1 lists what is directly in the folder.")


class ListFiles:
    """Lists files with their sizes, without what `.gitignore` leaves out."""

    spec = Spec(
        "list_files",
        "Lists files and folders below a folder, with sizes in bytes, the nearest first. Leaves out what .gitignore"
        " files"
        " name and does not follow links.",
        ListFilesArgs,
        "r",
    )

    def __init__(self, workspace: Workspace, is_denied: Callable[[Path], bool]) -> None:
        self._workspace, self._is_denied = workspace, is_denied

    def title(self, args: ListFilesArgs) -> str:
        """Names the folder and the glob."""
        return f"List {args.path}" + (f" ({args.pattern})" if args.pattern else "")

    def access(self, args: ListFilesArgs) -> Access:
        """Reads below one path."""
        return Access("read", (self._workspace.locate(args.path),))

    async def preview(self, args: ListFilesArgs) -> Preview | None:
        """Nothing changes, so there is nothing to show."""
        return None

    async def run(self, args: ListFilesArgs) -> AsyncGenerator[str | End, None]:
        """Gives the list, or says why there is none."""
        folder = self._workspace.locate(args.path)
        if not is_there(folder):
            yield failed(await asyncio.to_thread(self._workspace.advice_on_missing, folder))
        elif not is_folder(folder):
            yield failed(f"{args.path} is not a directory: read_file reads it.")
        else:
            yield await asyncio.to_thread(self._list, folder, args)

    def _list(self, folder: Path, args: ListFilesArgs) -> End:
        try:
            fits = compile_glob(args.pattern) if args.pattern else None
        except ValueError as error:
            return failed(f"The pattern cannot be read: {error}")
        lines: list[str] = []
        room = _MOST_CHARACTERS
        for walked, entry in enumerate(walk(folder, self._workspace.root, self._is_denied, args.depth)):
            if not _is_wanted(entry, fits):
                continue
            line = _line(entry)
            room -= len(line) + 1
            if room < 0 or len(lines) == _MOST_ENTRIES or walked == _MOST_WALKED:
                note = f"[only the first {len(lines)} are listed: give a path, a pattern or a depth to see others]"
                return End("\n".join(lines), note)
            lines.append(line)
        return End("\n".join(lines) or ("Nothing fits the pattern." if fits else "The folder is empty."))


def _is_wanted(entry: Entry, fits: Globs | None) -> bool:
    return fits is None or (entry.kind != "directory" and fits(entry.relative))


def _line(entry: Entry) -> str:
    match entry.kind:
        case "directory":
            return f"{entry.relative}/"
        case "link":
            return f"{entry.relative}  (link)"
        case _:
            return f"{entry.relative}  {entry.size_bytes}"
