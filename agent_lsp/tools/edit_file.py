"""edit_file: one text for another, in one place or in all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from pydantic import Field

from agent_lsp.policy.access import Access, EditPreview, Preview, TextPreview
from agent_lsp.tools.arguments import Arguments, PathText
from agent_lsp.tools.changing import Changing
from agent_lsp.tools.diff import unified_diff
from agent_lsp.tools.editor import Change, Editor, Unreadable, new_text
from agent_lsp.tools.matching import Match, Mismatch, find
from agent_lsp.tools.tool import End, Spec, failed

if TYPE_CHECKING:
    from agent_lsp.tools.workspace import Workspace


class EditFileArgs(Arguments):
    """Arguments of edit_file."""

    file_path: PathText = Field(description="Relative to the workspace, or absolute.")
    old_string: str = Field(description="The text to replace, as it stands in the file, without line numbers.")
    new_string: str = Field(description="The text to put in its place.")
    replace_all: bool = Field(default=False, description="Replace every occurrence instead of the only one.")


class EditFile:
    """Edits through the editor; unsure, it changes nothing."""

    spec = Spec(
        "edit_file",
        "Replaces old_string by new_string in a file. old_string must be the exact text and occur once, unless"
        " replace_all is set;"
        " line ends do not matter, the file keeps its own. Answers with a diff of what was changed.",
        EditFileArgs,
        "rw",
    )

    def __init__(self, workspace: Workspace, editor: Editor) -> None:
        self._workspace, self._editor = workspace, editor
        self._changing = Changing(workspace, editor)

    def title(self, args: EditFileArgs) -> str:
        """Names the file."""
        return f"Edit {args.file_path}"

    def access(self, args: EditFileArgs) -> Access:
        """Edits one path."""
        return Access("edit", (self._workspace.locate(args.file_path),))

    async def preview(self, args: EditFileArgs) -> Preview | None:
        """The diff, or why there would be none."""
        planned = await self._plan(args)
        if isinstance(planned, End):
            return TextPreview(planned.text)
        change, _ = planned
        return EditPreview(change.path, self._diff(change, whole=True), created=False)

    async def run(self, args: EditFileArgs) -> AsyncGenerator[str | End, None]:
        """Edits, or says why not."""
        async with self._workspace.changes:
            end = await self._edit(args)
        yield end

    async def _edit(self, args: EditFileArgs) -> End:
        planned = await self._plan(args)
        if isinstance(planned, End):
            return planned
        change, match = planned
        told = "\n".join(part for part in (match.note, self._diff(change)) if part)
        return await self._changing.make([change], self.title(args), told)

    async def _plan(self, args: EditFileArgs) -> tuple[Change, Match] | End:
        path = self._workspace.locate(args.file_path)
        snapshot = await self._editor.read(path)
        if snapshot is None:
            return failed(await asyncio.to_thread(self._workspace.advice_on_missing, path))
        if isinstance(snapshot, Unreadable):
            return failed(f"{args.file_path}: {snapshot.reason}")
        found = find(snapshot.text, args.old_string, args.new_string, everywhere=args.replace_all)
        if isinstance(found, Mismatch):
            return failed(f"{args.file_path} was not changed: {found.why}")
        return Change(path, snapshot, found.edits), found

    def _diff(self, change: Change, *, whole: bool = False) -> str:
        before = change.snapshot.text if change.snapshot else None
        return unified_diff(self._workspace.display(change.path), before, new_text(change), whole=whole)
