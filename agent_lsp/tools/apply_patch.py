"""apply_patch: changes in several files, all of them or none."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from agent_lsp.policy.access import Access, EditPreview, Preview, TextPreview
from agent_lsp.tools.arguments import Arguments
from agent_lsp.tools.changing import Changing
from agent_lsp.tools.diff import unified_diff
from agent_lsp.tools.editor import Change, Editor, Snapshot, TextEdit, Unreadable, new_text
from agent_lsp.tools.patch import FilePatch, parse_patch
from agent_lsp.tools.patching import HunkUnfit, added_text, fit
from agent_lsp.tools.tool import End, Spec, failed

if TYPE_CHECKING:
    from agent_lsp.tools.workspace import Workspace


def _readable(patch: str) -> str:
    parse_patch(patch)
    return patch


class ApplyPatchArgs(Arguments):
    """Arguments of apply_patch."""

    patch: Annotated[str, AfterValidator(_readable)] = Field(
        description="A unified diff, or *** Begin Patch … *** End Patch."
    )


class ApplyPatch:
    """Fits every hunk before anything is changed."""

    spec = Spec(
        "apply_patch",
        "Applies a patch to one or more files: a unified diff, or the V4A form (*** Begin Patch, then *** Update File:"
        " PATH,"
        " *** Add File: PATH or *** Delete File: PATH with their lines, then *** End Patch). Either all of it is"
        " applied or"
        " nothing.",
        ApplyPatchArgs,
        "rw",
    )

    def __init__(self, workspace: Workspace, editor: Editor) -> None:
        self._workspace, self._editor = workspace, editor
        self._changing = Changing(workspace, editor)

    def title(self, args: ApplyPatchArgs) -> str:
        """Names the files."""
        return "Patch " + ", ".join(one.path for one in parse_patch(args.patch))

    def access(self, args: ApplyPatchArgs) -> Access:
        """Edits every path that the patch names."""
        written = [path for one in parse_patch(args.patch) for path in (one.path, one.move_to) if path]
        return Access("edit", tuple(self._workspace.locate(path) for path in written))

    async def preview(self, args: ApplyPatchArgs) -> Preview | None:
        """The diff of everything, or why there would be none."""
        changes = await self._plan(args)
        if isinstance(changes, End):
            return TextPreview(changes.text)
        if len(changes) == 1:
            diff = self._diff(changes, whole=True)
            return EditPreview(changes[0].path, diff, created=changes[0].snapshot is None)
        return TextPreview(self._diff(changes, whole=True))

    async def run(self, args: ApplyPatchArgs) -> AsyncGenerator[str | End, None]:
        """Applies it, or says which file it does not fit."""
        async with self._workspace.changes:
            changes = await self._plan(args)
            if isinstance(changes, End):
                end = changes
            else:
                end = await self._changing.make(changes, self.title(args), self._diff(changes))
        yield end

    async def _plan(self, args: ApplyPatchArgs) -> list[Change] | End:
        changes: list[Change] = []
        for file in parse_patch(args.patch):
            try:
                changes += await self._changes(file)
            except HunkUnfit as error:
                return failed(f"Nothing was changed. {file.path}: {error}")
        return changes

    async def _changes(self, file: FilePatch) -> list[Change]:
        path = self._workspace.locate(file.path)
        snapshot = await self._read(path)
        if file.kind == "add":
            if snapshot:
                raise HunkUnfit("the patch adds it, but it exists already")
            return [Change(path, None, (TextEdit(0, 0, added_text(file.hunks)),))]
        if snapshot is None:
            raise HunkUnfit("there is no such file")
        edits = fit(snapshot.text, file.hunks)
        if file.kind == "delete":
            if file.hunks and new_text(Change(path, snapshot, edits)):
                raise HunkUnfit("the patch deletes it, but there is more in it than the patch says")
            return [Change(path, snapshot, None)]
        if file.move_to is None:
            return [Change(path, snapshot, edits)]
        return await self._moved(Change(path, snapshot, edits), self._workspace.locate(file.move_to))

    async def _moved(self, change: Change, target: Path) -> list[Change]:
        if await self._read(target):
            raise HunkUnfit(f"it is to be moved to {self._workspace.display(target)}, which exists already")
        moved = TextEdit(0, 0, new_text(change) or "")
        return [
            Change(target, None, (moved,), mode_of=change.path, written_like=change.snapshot),
            Change(change.path, change.snapshot, None),
        ]

    async def _read(self, path: Path) -> Snapshot | None:
        found = await self._editor.read(path)
        if isinstance(found, Unreadable):
            raise HunkUnfit(found.reason)
        return found

    def _diff(self, changes: list[Change], *, whole: bool = False) -> str:
        return "".join(
            unified_diff(
                self._workspace.display(one.path),
                one.snapshot.text if one.snapshot else None,
                new_text(one),
                whole=whole,
            )
            for one in changes
        )
