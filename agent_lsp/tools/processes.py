"""All commands of the server, each session's apart; none of them outlives its session."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.tools.child import KILL_AFTER_S, Launch
from agent_lsp.tools.command import Command
from agent_lsp.tools.descendants import kill_marked
from agent_lsp.tools.watchdog import Watchdog

if TYPE_CHECKING:
    from agent_lsp.tools.sandbox import Sandbox

_log = logging.getLogger(__name__)
_ADDED = {
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "NO_COLOR": "1",
    "TERM": "dumb",
}
_MARK = "AGENT_LSP_COMMAND"
_POLL_S = 0.01
_PRUNE_S = 5.0
_MOST_ENDED = 64  # ended commands of a session whose last output nobody has fetched


class Processes:
    """The registry: knows every process group from its start until nothing is left of it.

    Commands get `environment` (the server's own by default) without the names in `scrub`, so that no pager, editor or
    prompt waits for a person who is not there.
    """

    def __init__(self, scrub: frozenset[str] = frozenset(), environment: Mapping[str, str] | None = None) -> None:
        own = os.environ if environment is None else environment
        self._environment = {name: value for name, value in own.items() if name not in scrub} | _ADDED
        self._shell = _shell(own.get("SHELL", ""))
        self._mark = f"{_MARK}={secrets.token_hex(8)}."
        self._watchdog = Watchdog(self._mark)
        self._sessions = 0
        self._commands: set[Command] = set()
        self._pruning: asyncio.TimerHandle | None = None

    def withhold(self, names: frozenset[str]) -> None:
        """From now on no program gets these variables either."""
        self._environment = {name: value for name, value in self._environment.items() if name not in names}

    def session(self, sandbox: Sandbox | None = None) -> Commands:
        """The commands of a new session, in a sandbox if there is one."""
        self._sessions += 1
        return Commands(self, f"{self._mark}{self._sessions};", sandbox)

    def shell_command(self, line: str) -> tuple[str, ...]:
        """How the user's shell is given a command line."""
        return (self._shell, "-c", line)

    def start(self, commands: Commands, line: str, argv: Sequence[str], cwd: Path, *, has_input: bool) -> Command:
        """Starts a command for a session. Raises OSError and ValueError."""
        self.prune()
        self._watchdog.prepare()
        process_id = f"proc-{secrets.token_hex(4)}"
        environment = self._environment | {_MARK: commands.mark.partition("=")[2]}
        launch = Launch(argv, cwd, environment, has_input)
        command = Command(process_id, line, launch, commands.command_ended)
        self._watchdog.guard(command.child.group)
        self._commands.add(command)
        return command

    def spawn(self, mark: str, argv: Sequence[str], cwd: Path, added: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Starts a program with pipes for all three streams, which are the caller's, as is its end (`release`).

        It gets the environment of commands and what is `added`. Raises OSError and ValueError.
        """
        self._watchdog.prepare()
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env={**self._environment, **added, _MARK: mark.partition("=")[2]},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self._watchdog.guard(process.pid)
        return process

    def release(self, group: int) -> None:
        """Nothing is left of the group of a program."""
        self._watchdog.release(group)

    async def end(self, commands: set[Command]) -> None:
        """Ends the commands and what is left of their groups: TERM, KILL after a second. Returns when they are gone."""
        for command in commands:
            command.child.end()
        loop = asyncio.get_running_loop()
        deadline, pause_s = loop.time() + 2 * KILL_AFTER_S, _POLL_S
        left = [command for command in commands if command.child.is_alive()]
        while left and loop.time() < deadline:
            await asyncio.sleep(pause_s)  # nothing tells when the last member of a group has ended
            pause_s = min(2 * pause_s, 10 * _POLL_S)
            left = [command for command in left if command.child.is_alive()]
        for command in commands:
            command.child.hang_up()
        self.prune()

    async def close(self) -> None:
        """Ends all commands of all sessions, and the watchdog, within 5 s."""
        await self.end(set(self._commands))
        if self._pruning:
            self._pruning.cancel()
        await asyncio.to_thread(self._watchdog.close)

    def prune(self) -> None:
        """Forgets the groups that are empty, before their numbers are given out again; later, those left now."""
        if self._pruning:
            self._pruning.cancel()
        for command in [one for one in self._commands if one.child.is_gone]:
            self._watchdog.release(command.child.group)
            if command.child.is_at_end:
                self._commands.discard(command)
        has_leftovers = any(command.has_ended for command in self._commands)
        self._pruning = asyncio.get_running_loop().call_later(_PRUNE_S, self.prune) if has_leftovers else None


class Commands:
    """The commands of one session; those in the background have a process id that a model can use."""

    def __init__(self, processes: Processes, mark: str, sandbox: Sandbox | None = None) -> None:
        self._processes, self.mark, self._sandbox = processes, mark, sandbox
        self._all: set[Command] = set()
        self._has_started_any = False
        self._background: dict[str, Command] = {}
        self._absent = frozenset[Path]()
        self._remarks: list[str] = []

    def start(self, line: str, cwd: Path, *, has_input: bool) -> Command:
        """Starts a command in the foreground. Raises OSError and ValueError."""
        argv: Sequence[str] = self._processes.shell_command(line)
        if self._sandbox:
            self._look_around()
            argv = self._sandbox.wrapped(argv, cwd)
            self._absent = self._sandbox.absent()
        return self._start(line, argv, cwd, has_input=has_input)

    def note(self, command: Command) -> str:
        """How a command stands, and below that, once, what the sandbox has to say."""
        return "\n".join((command.note, *self._take_remarks()))

    def _take_remarks(self) -> tuple[str, ...]:
        self._look_around()
        remarks, self._remarks = tuple(self._remarks), []
        return remarks

    def _look_around(self) -> None:
        """Sees what has come to be that no command could be kept from making."""
        if self._sandbox and self._absent:
            self._remarks += self._sandbox.appeared(self._absent)
            self._absent &= self._sandbox.absent()

    async def capture(self, argv: Sequence[str], cwd: Path, given: str, most: float = inf) -> tuple[str, int]:
        """Runs a program to its end with `given` on its standard input; its output and exit code. Raises OSError.

        It is killed when it is cancelled, and when it has said more than `most` characters.
        """
        command = self._start(argv[0], argv, cwd, has_input=True)
        pieces: list[str] = []
        try:
            await command.write(given)
            command.child.close_input()
            async with aclosing(command.stream(inf)) as output:
                async for text in output:
                    pieces.append(text)
                    most -= len(text)
                    if most < 0:
                        break
        finally:
            command.child.kill()
        return "".join(pieces), command.child.returncode or 0

    def spawn(self, argv: Sequence[str], cwd: Path, added: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Starts a program that talks through its pipes; see `Processes.spawn`."""
        self._has_started_any = True
        return self._processes.spawn(self.mark, argv, cwd, added)

    def release(self, group: int) -> None:
        """Nothing is left of the group of a program."""
        self._processes.release(group)

    def _start(self, line: str, argv: Sequence[str], cwd: Path, *, has_input: bool) -> Command:
        self._all = {one for one in self._all if not (one.child.is_gone and one.child.is_at_end)}
        command = self._processes.start(self, line, argv, cwd, has_input=has_input)
        self._all.add(command)
        self._has_started_any = True
        return command

    def keep(self, command: Command) -> None:
        """Sends a command to the background: from now on it is found by its id."""
        command.go_to_background()
        self._background[command.process_id] = command

    def find(self, process_id: str) -> Command | None:
        """A command in the background whose end has not been delivered."""
        return self._background.get(process_id)

    def forget(self, command: Command) -> None:
        """The end of a background command was delivered."""
        self._background.pop(command.process_id, None)

    def command_ended(self, command: Command) -> None:
        """Gives back the group if nothing is left of it; keeps the number of ended commands within bounds."""
        self._processes.prune()
        ended = [one for one in self._background.values() if one.has_ended]
        for oldest in ended[: len(ended) - _MOST_ENDED]:
            self.forget(oldest)

    def take_reports(self) -> tuple[str, ...]:
        """A line for the model on each background command that has ended since and whose end it has not been given.

        And what the sandbox has to say since then.
        """
        ended = [one for one in self._background.values() if one.has_ended and not one.is_reported]
        for command in ended:
            command.is_reported = True
        told = (
            f"[background process {command.process_id} has ended: {command.note.strip('[]')};"
            " input_command gives the output that was not delivered yet]"
            for command in ended
        )
        return (*told, *self._take_remarks())

    async def close(self) -> None:
        """Ends all commands of the session with everything they have started, daemons too (Linux), within 3 s."""
        await self._processes.end(self._all)
        if self._has_started_any:
            await asyncio.to_thread(kill_marked, self.mark)
        for remark in self._take_remarks():
            _log.warning("%s", remark)
        self._all, self._background = set(), {}


def _shell(users: str) -> str:
    return users if users.startswith("/") and os.access(users, os.X_OK) else "/bin/sh"
