"""What the tools that change files have in common: how an outcome is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.tools.editor import Applied, Change, Editor, Refused, Stale, Unknown
from agent_lsp.tools.text_file import is_crlf_throughout
from agent_lsp.tools.tool import End, failed

if TYPE_CHECKING:
    from agent_lsp.tools.workspace import Workspace

_MOST_SHOWN = 8_000


class Changing:
    """Makes changes through the editor and tells what came of them."""

    def __init__(self, workspace: Workspace, editor: Editor) -> None:
        self._workspace, self._editor = workspace, editor

    async def make(self, changes: Sequence[Change], label: str, told: str) -> End:
        """Makes the changes; `told` describes them to the model if they were made."""
        match await self._editor.replace(changes, label):
            case Applied(notes):
                diagnostics = await self._editor.diagnostics([one.path for one in changes if one.edits is not None])
                return End(told, "\n".join(one for one in (*self._mixed(changes), *notes, diagnostics) if one))
            case Stale(path, text):
                return failed(f"{self._name(path)} has changed since it was read; nothing was edited.{_present(text)}")
            case Refused(path, reason, text):
                present = "" if text is None else _present(text)
                return failed(f"{self._name(path)} was not changed: {reason}{present}")
            case Unknown(path, text):
                return failed(
                    f"It is not known whether the edit of {self._name(path)} was made; look before trying again."
                    f"{_present(text)}"
                )

    def _mixed(self, changes: Sequence[Change]) -> Iterator[str]:
        """Tells of files that mixed line ends, which a diff does not show: what stood there cannot be read off it."""
        for change in changes:
            text = change.snapshot.text if change.snapshot else ""
            if "\r\n" in text and not is_crlf_throughout(text):
                yield f"[{change.path.name} mixes kinds of line ends]"

    def _name(self, path: Path) -> str:
        return self._workspace.display(path)


def _present(text: str | None) -> str:
    if text is None:
        return " There is no text in it now."
    if len(text) > _MOST_SHOWN:
        return f" Its present text begins:\n{text[:_MOST_SHOWN]}\n[{len(text) - _MOST_SHOWN} more characters]"
    return f" Its present text:\n{text}"
