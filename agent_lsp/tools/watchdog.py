"""A process of its own that ends our commands when we no longer can: a killed server closes the pipe it listens to."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_SCRIPT = Path(__file__).with_name("watchdog.sh")
_END_S = 2.0


class Watchdog:
    """Holds the write end of the pipe. Starts with the first group, and again if something has killed it.

    `mark` is what the environment of every command holds.
    """

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._process: subprocess.Popen[bytes] | None = None
        self._groups: set[int] = set()

    def prepare(self) -> None:
        """Starts the process, so that no command ever runs without it. Raises OSError if there is no shell."""
        if self._process is not None and self._process.poll() is None:
            return
        self._forget()
        self._process = subprocess.Popen(
            ["/bin/sh", str(_SCRIPT), self._mark],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            bufsize=0,
            start_new_session=True,
        )
        for group in self._groups:
            self._tell("+", group)

    def guard(self, group: int) -> None:
        """Kills the group if we end without having released it."""
        self._groups.add(group)
        self._tell("+", group)

    def release(self, group: int) -> None:
        """The group is empty: its number may soon be another's."""
        if group in self._groups:
            self._groups.discard(group)
            self._tell("-", group)

    def close(self) -> None:
        """Lets it kill what is still guarded, and waits for it."""
        process = self._process
        self._forget()
        if process:
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _tell(self, sign: str, group: int) -> None:
        if self._process and self._process.stdin:
            try:
                os.write(self._process.stdin.fileno(), f"{sign} {group}\n".encode())
            except OSError:
                return  # it was killed: `prepare` starts another one, which is told of all groups

    def _forget(self) -> None:
        if self._process and self._process.stdin:
            self._process.stdin.close()
        self._process = None
