"""diagnostics: what the editor's other servers say is wrong."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from agent_lsp.policy.access import Access, Preview
from agent_lsp.tools.arguments import Arguments, PathText
from agent_lsp.tools.findings import Findings, tell
from agent_lsp.tools.tool import End, Spec, failed

if TYPE_CHECKING:
    from agent_lsp.tools.workspace import Workspace


class DiagnosticsArgs(Arguments):
    """Arguments of diagnostics."""

    file_path: PathText | None = Field(default=None, description="Only this file; else all that the editor knows of.")


class Diagnostics:
    """Asks the editor; files that tools may not read, and those outside the workspace, are left out."""

    spec = Spec(
        "diagnostics",
        "What the language servers and linters of the editor report: errors and warnings with their places, of one file"
        " or of all that the editor has looked at.",
        DiagnosticsArgs,
        "r",
    )

    def __init__(self, workspace: Workspace, findings: Findings, is_denied: Callable[[Path], bool]) -> None:
        self._workspace, self._findings, self._is_denied = workspace, findings, is_denied

    def title(self, args: DiagnosticsArgs) -> str:
        """Names the file."""
        return f"Diagnostics of {args.file_path or 'all files'}"

    def access(self, args: DiagnosticsArgs) -> Access:
        """Reads about one file, or about the workspace."""
        return Access("read", (self._workspace.locate(args.file_path or "."),))

    async def preview(self, args: DiagnosticsArgs) -> Preview | None:
        """Nothing changes, so there is nothing to show."""
        return None

    async def run(self, args: DiagnosticsArgs) -> AsyncGenerator[str | End, None]:
        """Gives the findings by file."""
        path = self._workspace.locate(args.file_path) if args.file_path else None
        found = await self._findings(path)
        if found is None:
            yield failed("The editor gave no answer.")
            return
        root = self._workspace.root.resolve()
        told = [
            one for one in found if path or (one.path.resolve().is_relative_to(root) and not self._is_denied(one.path))
        ]
        what = self._workspace.display(path) if path else "any file"
        yield End(tell(told, self._workspace.display) or f"The editor reports nothing for {what}.")
