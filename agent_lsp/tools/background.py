"""input_command and kill_command: commands that run in the background."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from pydantic import Field

from agent_lsp.policy.access import Access, CommandPreview, Preview
from agent_lsp.tools.arguments import Arguments
from agent_lsp.tools.tool import End, Spec, failed

if TYPE_CHECKING:
    from agent_lsp.tools.command import Command
    from agent_lsp.tools.processes import Commands

INTERRUPT = "\u0003"
_YIELD_MS = 1_000
_QUIET_S = 0.25  # an answer to what was written is over when nothing more comes for this long
_KILL_PATIENCE_S = 3.0


class InputCommandArgs(Arguments):
    """Arguments of input_command."""

    process_id: str = Field(description="As exec_command gave it.")
    chars: str = Field(
        default="", description='What to write, line end included; "\\u0003" alone interrupts; nothing only looks.'
    )
    yield_time_ms: int = Field(default=_YIELD_MS, ge=0, description="How long to wait for output.")


class InputCommand:
    """Writes to a background command, or looks what it has to say."""

    spec = Spec(
        "input_command",
        "Writes chars to the standard input of a background command and gives what it answers, or, without chars,"
        " waits for"
        ' its output until it ends or yield_time_ms is over. chars of "\\u0003" alone interrupt it, as Ctrl-C would.',
        InputCommandArgs,
        "rw",
    )

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    def title(self, args: InputCommandArgs) -> str:
        """What is written, and to whom."""
        if not args.chars:
            return f"Look at {args.process_id}"
        if args.chars == INTERRUPT:
            return f"Interrupt {args.process_id}"
        return f"Write to {args.process_id}: {args.chars}"

    def access(self, args: InputCommandArgs) -> Access:
        """Text for a command can do what a command can; looking and interrupting concern nobody else."""
        if args.chars in ("", INTERRUPT):
            return Access("own")
        command = self._commands.find(args.process_id)
        return Access("command", command=args.chars, cwd=command.cwd if command else None)

    async def preview(self, args: InputCommandArgs) -> Preview | None:
        """What is written."""
        command = self._commands.find(args.process_id)
        return CommandPreview(args.chars, command.cwd) if command and args.chars else None

    async def run(self, args: InputCommandArgs) -> AsyncGenerator[str | End, None]:
        """Writes or interrupts, then gives the output that was not delivered yet."""
        command = self._commands.find(args.process_id)
        if command is None:
            yield _no_such(args.process_id)
            return
        loop = asyncio.get_running_loop()
        until = loop.time() + args.yield_time_ms / 1000
        if args.chars == INTERRUPT:
            command.interrupt()
        elif args.chars and not await command.write(args.chars):
            yield _no_input(command)
            return
        answered = args.chars not in ("", INTERRUPT)
        async with aclosing(command.stream(until, quiet_s=_QUIET_S if answered else None)) as output:
            async for text in output:
                yield text
        if command.has_ended:
            self._commands.forget(command)
        yield End(note=self._commands.note(command), stop_reason=command.stop_reason)


class KillCommandArgs(Arguments):
    """Arguments of kill_command."""

    process_id: str = Field(description="As exec_command gave it.")


class KillCommand:
    """Ends a background command with everything it started."""

    spec = Spec(
        "kill_command",
        "Ends a background command and all it has started, by force after a second. Gives the output that was not"
        " delivered yet.",
        KillCommandArgs,
        "rw",
    )

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    def title(self, args: KillCommandArgs) -> str:
        """Names the command."""
        command = self._commands.find(args.process_id)
        return f"Kill {args.process_id}" + (f": {command.line}" if command else "")

    def access(self, args: KillCommandArgs) -> Access:
        """Only what the session itself has started."""
        return Access("own")

    async def preview(self, args: KillCommandArgs) -> Preview | None:
        """Nothing to show."""
        return None

    async def run(self, args: KillCommandArgs) -> AsyncGenerator[str | End, None]:
        """Kills it, then gives the rest of its output."""
        command = self._commands.find(args.process_id)
        if command is None:
            yield _no_such(args.process_id)
            return
        command.child.end()
        async with aclosing(command.stream(asyncio.get_running_loop().time() + _KILL_PATIENCE_S)) as output:
            async for text in output:
                yield text
        if not command.has_ended:
            yield End(note="[the process does not end; it is held up by the system]", stop_reason="failed")
            return
        self._commands.forget(command)
        yield End(note=self._commands.note(command))


def _no_such(process_id: str) -> End:
    return failed(
        f"No process {process_id} is running in this session: it has ended and its output was delivered, or never was."
    )


def _no_input(command: Command) -> End:
    if command.child.returncode is not None:
        return failed("Nothing was written: the command has ended. Call without chars for its last output.")
    return failed(
        "Nothing was written: the command has no standard input. Start it with run_in_background or yield_time_ms to"
        " have one."
    )
