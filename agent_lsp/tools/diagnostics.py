"""diagnostics: what the editor's other servers say is wrong."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from pydantic import Field

from agent_lsp.policy.access import Access, Preview
from agent_lsp.slotted import frozen
from agent_lsp.tools.arguments import Arguments, PathText
from agent_lsp.tools.tool import End, Spec, failed

if TYPE_CHECKING:
    from agent_lsp.tools.workspace import Workspace

Severity = Literal["error", "warning", "information", "hint"]
_MOST_SHOWN = 200


@frozen
class Finding:
    """Something that is wrong in a file; line and column count from 1."""

    path: Path
    line: int
    column: int
    severity: Severity
    message: str
    source: str = ""

    def told(self) -> str:
        """One line of text."""
        words = " ".join(self.message.split())
        return f"{self.line}:{self.column} {self.severity}: {words}" + (f" ({self.source})" if self.source else "")


class Findings(Protocol):
    """An editor that can tell what is wrong."""

    async def __call__(self, path: Path | None) -> Sequence[Finding] | None:
        """What is wrong in a file, or in all that the editor knows; None when it gives no answer in time."""
        ...


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


def tell(findings: Iterable[Finding], display: Callable[[Path], str], most: int = _MOST_SHOWN) -> str:
    """The findings below the names of their files, the first `most` of them."""
    ordered = sorted(findings, key=lambda one: (str(one.path), one.line, one.column))
    lines: list[str] = []
    path: Path | None = None
    for one in ordered[:most]:
        if one.path != path:
            path = one.path
            lines.append(display(path))
        lines.append(f"  {one.told()}")
    if len(ordered) > most:
        lines.append(f"[{len(ordered) - most} more]")
    return "\n".join(lines)
