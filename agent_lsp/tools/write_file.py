"""write_file: a whole file, new or over an old one."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from pydantic import Field

from agent_lsp.policy.access import Access, EditPreview, Preview, TextPreview
from agent_lsp.tools.arguments import Arguments, PathText
from agent_lsp.tools.changing import Changing
from agent_lsp.tools.diff import unified_diff
from agent_lsp.tools.editor import Change, Editor, Snapshot, TextEdit, Unreadable
from agent_lsp.tools.text_file import is_crlf_throughout
from agent_lsp.tools.tool import End, Spec, failed

if TYPE_CHECKING:
    from agent_lsp.tools.workspace import Workspace

_SHOWN_DIFF = 2_000


class WriteFileArgs(Arguments):
    """Arguments of write_file."""

    file_path: PathText = Field(description="Relative to the workspace, or absolute. Missing folders are made.")
    content: str = Field(description="The whole content of the file.")


class WriteFile:
    """Writes through the editor."""

    spec = Spec(
        "write_file",
        "Creates a file with the given content, folders included, or overwrites the one that is there. A file whose"
        " line ends are"
        " all CRLF keeps them. For a change of a part of a file, edit_file is the better tool.",
        WriteFileArgs,
        "rw",
    )

    def __init__(self, workspace: Workspace, editor: Editor) -> None:
        self._workspace, self._editor = workspace, editor
        self._changing = Changing(workspace, editor)

    def title(self, args: WriteFileArgs) -> str:
        """Names the file."""
        return f"Write {args.file_path}"

    def access(self, args: WriteFileArgs) -> Access:
        """Edits one path."""
        return Access("edit", (self._workspace.locate(args.file_path),))

    async def preview(self, args: WriteFileArgs) -> Preview | None:
        """The diff to what is there."""
        planned = await self._plan(args)
        if isinstance(planned, End):
            return TextPreview(planned.text)
        change, content = planned
        return EditPreview(change.path, self._diff(change, content, whole=True), created=change.snapshot is None)

    async def run(self, args: WriteFileArgs) -> AsyncGenerator[str | End, None]:
        """Writes, or says why not."""
        async with self._workspace.changes:
            end = await self._write(args)
        yield end

    async def _write(self, args: WriteFileArgs) -> End:
        planned = await self._plan(args)
        if isinstance(planned, End):
            return planned
        change, content = planned
        lines = content.count("\n") + (not content.endswith("\n") and content != "")
        size = f"{lines} lines, {len(content.encode(errors='replace'))} bytes"
        name = self._workspace.display(change.path)
        if change.snapshot is None:
            return await self._changing.make([change], self.title(args), f"Created {name} ({size}).")
        diff = self._diff(change, content)
        told = f"Wrote {name} ({size})." if diff else f"{name} already had this content."
        if 0 < len(diff) <= _SHOWN_DIFF:
            told += f"\n{diff}"
        return await self._changing.make([change], self.title(args), told)

    async def _plan(self, args: WriteFileArgs) -> tuple[Change, str] | End:
        path = self._workspace.locate(args.file_path)
        snapshot = await self._editor.read(path)
        if isinstance(snapshot, Unreadable):
            return failed(f"{args.file_path} was not written. {snapshot.reason}")
        content = _with_line_ends_of(snapshot, args.content)
        end = len(snapshot.text) if snapshot else 0
        return Change(path, snapshot, (TextEdit(0, end, content),)), content

    def _diff(self, change: Change, content: str, *, whole: bool = False) -> str:
        before = change.snapshot.text if change.snapshot else None
        return unified_diff(self._workspace.display(change.path), before, content, whole=whole)


def _with_line_ends_of(snapshot: Snapshot | None, content: str) -> str:
    if snapshot is None or not is_crlf_throughout(snapshot.text):
        return content
    return content.replace("\r\n", "\n").replace("\n", "\r\n")
