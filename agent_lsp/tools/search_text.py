"""search_text: lines of files that a pattern fits."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from agent_lsp.policy.access import Access, Preview
from agent_lsp.tools.arguments import Arguments, PathText
from agent_lsp.tools.globs import Globs, compile_glob
from agent_lsp.tools.searching import Hit, Query, by_python, by_ripgrep, find_ripgrep
from agent_lsp.tools.tool import End, Spec, failed
from agent_lsp.tools.walk import repository_of, walk
from agent_lsp.tools.workspace import Workspace, is_folder, is_there

if TYPE_CHECKING:
    from agent_lsp.tools.editor import Editor
    from agent_lsp.tools.processes import Commands

_MOST_HITS = 500
_MOST_FILES = 100_000


class SearchTextArgs(Arguments):
    """Arguments of search_text."""

    pattern: str = Field(min_length=1, description="Regular expression, matched line by line.")
    path: PathText = Field(default=".", description="File or folder to search; the workspace by default.")
    glob: str | None = Field(default=None, description="Only files that fit this glob, such as `*.py` or `!*.min.js`.")
    context: int = Field(default=0, ge=0, le=50, description="How many lines to show before and after each.")


class SearchText:
    """Searches with ripgrep if it is installed and understands the pattern, else with Python: the answer is one."""

    spec = Spec(
        "search_text",
        "Searches files for a regular expression, line by line, and gives the lines with their numbers. Leaves out"
        " binary files"
        " and what .gitignore files name, does not follow links, and sees unsaved changes of files open in the editor.",
        SearchTextArgs,
        "r",
    )

    def __init__(
        self, workspace: Workspace, editor: Editor, commands: Commands, is_denied: Callable[[Path], bool]
    ) -> None:
        self._workspace, self._editor, self._commands, self._is_denied = workspace, editor, commands, is_denied

    def title(self, args: SearchTextArgs) -> str:
        """Names the pattern and the place."""
        return f"Search {args.path} for {args.pattern}" + (f" ({args.glob})" if args.glob else "")

    def access(self, args: SearchTextArgs) -> Access:
        """Reads below one path."""
        return Access("read", (self._workspace.locate(args.path),))

    async def preview(self, args: SearchTextArgs) -> Preview | None:
        """Nothing changes, so there is nothing to show."""
        return None

    async def run(self, args: SearchTextArgs) -> AsyncGenerator[str | End, None]:
        """Gives the lines, or says why there are none."""
        path = self._workspace.locate(args.path)
        if not is_there(path):
            yield failed(await asyncio.to_thread(self._workspace.advice_on_missing, path))
            return
        if not (is_folder(path) or path.is_file()):  # ripgrep would wait for what a pipe has to say
            yield failed(f"{args.path} is a device, pipe or socket: there is nothing to search.")
            return
        try:
            fits = compile_glob(args.glob) if args.glob else None
        except ValueError as error:
            yield failed(f"The glob cannot be read: {error}")
            return
        found = await self._search(path, args, fits)
        yield found if isinstance(found, End) else self._tell(found, args)

    async def _search(self, path: Path, args: SearchTextArgs, fits: Globs | None) -> list[Hit] | End:
        query = Query(args.pattern, args.context, _MOST_HITS + 1)
        unsaved = self._unsaved_below(path, fits)
        if (ripgrep := find_ripgrep()) is not None:
            in_repository = repository_of(self._workspace.root) is not None
            hits = await by_ripgrep(ripgrep, query, path, args.glob, self._commands, in_repository=in_repository)
            if hits is not None:
                texts = await by_python(query, (), unsaved, self._commands) if unsaved else []
                saved = [hit for hit in hits if hit.path not in unsaved and not self._is_denied(Path(hit.path))]
                return sorted([*saved, *texts], key=lambda hit: (hit.path, hit.line))
        try:
            re.compile(args.pattern)
        except (re.error, RecursionError, OverflowError) as error:
            return failed(f"The pattern cannot be read: {error}")
        files = await asyncio.to_thread(self._files, path, fits)
        return await by_python(query, files, unsaved, self._commands)

    def _files(self, path: Path, fits: Globs | None) -> list[str]:
        if not path.is_dir():
            return [str(path)] if path.is_file() else []
        files: list[str] = []
        for entry in walk(path, self._workspace.root, self._is_denied):
            if entry.kind == "file" and (fits is None or fits(entry.relative)):
                files.append(f"{path}/{entry.relative}")
                if len(files) == _MOST_FILES:
                    break
        return files

    def _unsaved_below(self, path: Path, fits: Globs | None) -> dict[str, str]:
        real = path.resolve()
        below: dict[str, str] = {}
        for file, text in self._editor.unsaved().items():
            if not file.is_relative_to(real) or self._is_denied(file):
                continue
            relative = file.relative_to(real).as_posix()
            if relative == "." or fits is None or fits(relative):
                below[str(path if relative == "." else path / relative)] = text
        return below

    def _tell(self, hits: list[Hit], args: SearchTextArgs) -> End:
        count = sum(hit.is_match for hit in hits)
        if not count:
            return End(f"No line in {args.path} fits {args.pattern}" + (f" ({args.glob})." if args.glob else "."))
        blocks = [self._block(path, list(group)) for path, group in groupby(hits, key=lambda hit: hit.path)]
        note = (
            f"[only the first {_MOST_HITS} lines are shown: narrow the pattern, path or glob]"
            if count > _MOST_HITS
            else ""
        )
        return End("\n".join(blocks), note)

    def _block(self, path: str, hits: Iterable[Hit]) -> str:
        lines = [self._workspace.display(Path(path))]
        before = 0
        for hit in hits:
            if before and hit.line > before + 1 and any(not one.is_match for one in hits):
                lines.append("   ...")
            lines.append(f"{hit.line:6}{':' if hit.is_match else '-'} {hit.text}")
            before = hit.line
        return "\n".join(lines)
