"""exec_command: a command line in the user's shell."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from agent_lsp.policy.access import Access, CommandPreview, Preview
from agent_lsp.tools.arguments import Arguments, PathText
from agent_lsp.tools.tool import End, Spec, failed
from agent_lsp.tools.workspace import Workspace, is_folder

if TYPE_CHECKING:
    from agent_lsp.tools.processes import Commands

_YIELD_MS = 60_000


class ExecCommandArgs(Arguments):
    """Arguments of exec_command."""

    cmd: str = Field(description="The command line.")
    workdir: PathText | None = Field(default=None, description="Folder to run in; the workspace by default.")
    yield_time_ms: int | None = Field(
        default=None,
        ge=0,
        description="How long to wait for its end (60000 by default) before it goes on in the background.",
    )
    run_in_background: bool = Field(default=False, description="Do not wait at all.")
    description: str = Field(default="", description="What the command is for, in a few words.")


class ExecCommand:
    """Streams both outputs; what still runs when the patience is over goes to the background."""

    spec = Spec(
        "exec_command",
        "Runs a command line in the user's shell, in the workspace or in workdir, without a terminal. Gives standard"
        " output and"
        " error as they come, then how it ended. What still runs after yield_time_ms, or is started with"
        " run_in_background, gets"
        " a process_id for input_command and kill_command, and ends with the session. Only with one of the two options"
        " does it"
        " have a standard input that can be written to; else that is empty.",
        ExecCommandArgs,
        "rw",
    )

    def __init__(self, workspace: Workspace, commands: Commands) -> None:
        self._workspace, self._commands = workspace, commands

    def title(self, args: ExecCommandArgs) -> str:
        """The command line itself: a description could say anything."""
        return f"Run {args.cmd}"

    def access(self, args: ExecCommandArgs) -> Access:
        """Runs the command where it would be run."""
        return Access("command", command=args.cmd, cwd=self._folder(args))

    async def preview(self, args: ExecCommandArgs) -> Preview | None:
        """The command in full."""
        return CommandPreview(args.cmd, self._folder(args))

    async def run(self, args: ExecCommandArgs) -> AsyncGenerator[str | End, None]:
        """Runs it; cancelled before it is in the background, it ends the command."""
        folder = self._folder(args)
        if not is_folder(folder):
            yield failed(f"[spawn error: there is no directory {self._workspace.display(folder)}]")
            return
        has_input = args.run_in_background or args.yield_time_ms is not None
        try:
            command = self._commands.start(args.cmd, folder, has_input=has_input)
        except (OSError, ValueError) as error:
            yield failed(f"[spawn error: {error}]")
            return
        until = asyncio.get_running_loop().time() + _patience_s(args)
        try:
            async with aclosing(command.stream(until)) as output:
                async for text in output:
                    yield text
        except BaseException:
            command.child.end()
            raise
        if not command.has_ended:
            self._commands.keep(command)
        yield End(note=self._commands.note(command), stop_reason=command.stop_reason)

    def _folder(self, args: ExecCommandArgs) -> Path:
        return self._workspace.locate(args.workdir or ".")


def _patience_s(args: ExecCommandArgs) -> float:
    if args.run_in_background:
        return 0
    return (_YIELD_MS if args.yield_time_ms is None else args.yield_time_ms) / 1000
