"""One child process in a group of its own: its output as it comes, its end, and a way to be rid of it for sure.

No thread and no policy of the event loop: the loop watches a pidfd (a thread waits where there is none).
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from agent_lsp.slotted import frozen
from agent_lsp.tools.descendants import Strays, group_exists, group_is_alive

KILL_AFTER_S = 1.0
_READ_BYTES = 64 * 1024


@frozen
class Launch:
    """What is started: a program with its arguments, in a folder, with an environment of its own."""

    argv: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]
    has_input: bool


class Child:
    """A running process. Both outputs come through one pipe, so in the order they were written.

    `on_data` gets bytes, and `b""` once at the end of the pipe; `on_exit` is called once, when the process is gone.
    """

    def __init__(self, launch: Launch, *, on_data: Callable[[bytes], None], on_exit: Callable[[int], None]) -> None:
        """Starts it; it is registered nowhere yet, and nothing is awaited in between. Raises OSError and ValueError."""
        self._loop = asyncio.get_running_loop()
        self._on_data, self._on_exit = on_data, on_exit
        self._process = subprocess.Popen(
            launch.argv,
            cwd=launch.cwd,
            env=launch.environment,
            stdin=subprocess.PIPE if launch.has_input else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
        )
        self.group = self._process.pid
        self.returncode: int | None = None
        self._exited, self._input_news = asyncio.Event(), asyncio.Event()
        self._output = self._adopt(self._process.stdout)
        self._input = self._adopt(self._process.stdin)
        self._is_reading = False
        self._killer: asyncio.TimerHandle | None = None
        self._strays: Strays | None = None
        self.resume()
        self._watch()

    # --- its output and input ---

    @property
    def is_at_end(self) -> bool:
        """Whether everything that will ever come through the pipe has come."""
        return self._output is None

    def pause(self) -> None:
        """Stops reading: the process waits when the pipe is full."""
        if self._is_reading and self._output is not None:
            self._loop.remove_reader(self._output)
            self._is_reading = False

    def resume(self) -> None:
        """Goes on reading."""
        if not self._is_reading and self._output is not None:
            self._loop.add_reader(self._output, self._read)
            self._is_reading = True

    async def write(self, data: bytes) -> bool:
        """Writes all of it to the standard input; False if the process does not take it any more, or never had one."""
        view = memoryview(data)
        while view:
            if self._input is None:
                return False
            try:
                view = view[os.write(self._input, view) :]
            except BlockingIOError:
                await self._writable(self._input)
            except OSError:
                return False
        return self._input is not None

    def close_input(self) -> None:
        """Tells the process that no more input comes."""
        if self._process.stdin and self._input is not None:
            self._loop.remove_writer(self._input)
            self._process.stdin.close()
        self._input = None
        self._input_news.set()

    async def _writable(self, descriptor: int) -> None:
        self._input_news.clear()
        self._loop.add_writer(descriptor, self._input_news.set)
        try:
            await self._input_news.wait()
        finally:
            if self._input is not None:
                self._loop.remove_writer(descriptor)

    def _read(self) -> None:
        try:
            data = os.read(self._output, _READ_BYTES) if self._output is not None else b""
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.hang_up()
        self._on_data(data)

    def hang_up(self) -> None:
        """Stops listening for good; a process that goes on writing gets a SIGPIPE."""
        self.pause()
        if self._process.stdout:
            self._process.stdout.close()
        self._output = None

    # --- its end ---

    def signal(self, number: int) -> None:
        """Sends a signal to the group."""
        try:
            os.killpg(self.group, number)
        except (ProcessLookupError, PermissionError):
            return

    def end(self) -> None:
        """TERM at once, KILL after a second to whatever is left of the group, whoever has stopped waiting meanwhile."""
        if self._killer is None and not self.is_gone:
            self._strays = Strays(self.group) if self.returncode is None else None
            self._signal_all(signal.SIGTERM)
            self._killer = self._loop.call_later(KILL_AFTER_S, self.kill)

    def kill(self) -> None:
        """KILL at once."""
        if self._killer:
            self._killer.cancel()
        late = Strays(self.group) if self.returncode is None else None
        self._signal_all(signal.SIGKILL)
        if late:
            late.signal(signal.SIGKILL)
            late.close()
        if self._strays:
            self._strays.close()
            self._strays = None

    async def wait(self) -> None:
        """Returns when the process itself is gone."""
        await self._exited.wait()

    @property
    def is_gone(self) -> bool:
        """Whether nothing is left of the group."""
        return self.returncode is not None and not group_exists(self.group)

    def is_alive(self) -> bool:
        """Whether anything of the group still runs. Slower than `is_gone`, and needs nobody to reap the dead."""
        return self.returncode is None or group_is_alive(self.group)

    def _signal_all(self, number: int) -> None:
        self.signal(number)
        if self._strays:
            self._strays.signal(number)

    def _watch(self) -> None:
        try:
            descriptor = os.pidfd_open(self.group)
        except (AttributeError, OSError):
            threading.Thread(target=self._wait_in_thread, daemon=True).start()
            return
        self._loop.add_reader(descriptor, self._reap, descriptor)

    def _reap(self, descriptor: int) -> None:
        self._loop.remove_reader(descriptor)
        os.close(descriptor)
        self._ended(self._process.wait())

    def _wait_in_thread(self) -> None:
        code = self._process.wait()
        try:
            self._loop.call_soon_threadsafe(self._ended, code)
        except RuntimeError:
            return  # the loop was closed before the process ended

    def _ended(self, code: int) -> None:
        self.returncode = code
        self.close_input()
        self._exited.set()
        if self._killer and self.is_gone:
            self._killer.cancel()
        self._on_exit(code)

    @staticmethod
    def _adopt(stream: IO[bytes] | None) -> int | None:
        if stream is None:
            return None
        os.set_blocking(stream.fileno(), False)
        return stream.fileno()
