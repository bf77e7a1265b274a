"""A built-in tool: counts the words of a file."""

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from pydantic import Field

from agent_lsp.policy.access import Access, Preview
from agent_lsp.tools.arguments import Arguments, PathText
from agent_lsp.tools.editor import Editor, Snapshot
from agent_lsp.tools.tool import End, Spec, Tool, failed
from agent_lsp.tools.workspace import Workspace


class WordCountArgs(Arguments):
    """Arguments of word_count."""

    file_path: PathText = Field(description="The file, relative to the workspace or absolute.")


class WordCount:
    """Counts what blanks separate, in the text that the editor shows."""

    spec = Spec("word_count", "Counts the words of a text file.", WordCountArgs, "r")

    def __init__(self, workspace: Workspace, editor: Editor) -> None:
        self._workspace, self._editor = workspace, editor

    def title(self, args: WordCountArgs) -> str:
        """The file."""
        return f"Count the words of {args.file_path}"

    def access(self, args: WordCountArgs) -> Access:
        """Reads the file; outside of the workspace that is asked about."""
        return Access("read", (self._workspace.locate(args.file_path),))

    async def preview(self, args: WordCountArgs) -> Preview | None:
        """Nothing changes, so there is nothing to show."""
        return None

    async def run(self, args: WordCountArgs) -> AsyncGenerator[str | End, None]:
        """Gives the number."""
        path = self._workspace.locate(args.file_path)
        found = await self._editor.read(path)
        if isinstance(found, Snapshot):
            yield End(f"{len(found.text.split())} words")
        else:
            yield failed(self._workspace.advice_on_missing(path) if found is None else found.reason)


if TYPE_CHECKING:
    _: type[Tool[WordCountArgs]] = WordCount
