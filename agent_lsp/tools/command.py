"""One command of the shell: its output as text, kept until somebody reads it, and how it ended."""

from __future__ import annotations

import asyncio
import codecs
import signal
from collections import deque
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING

from agent_lsp.tools.child import Child, Launch

if TYPE_CHECKING:
    from agent_lsp.messages.content import StopReason

_GRACE_S = 0.1  # for what is still in the pipe when the shell has ended but something it started holds the pipe open
_HIGH_WATER = 256 * 1024
_MOST_KEPT = 2**20


class Command:
    """A command of one session.

    In the foreground whoever reads sets the pace. In the background it never has to wait: of output that nobody reads,
    the oldest is dropped. Once the shell has ended, `note` and `stop_reason` tell how; what it left running goes on in
    its group.
    """

    def __init__(self, process_id: str, line: str, launch: Launch, on_exit: Callable[[Command], None]) -> None:
        """Starts it. Raises OSError and ValueError."""
        self.process_id, self.line, self.cwd = process_id, line, launch.cwd
        self.has_ended, self.is_reported = False, False
        self._on_exit = on_exit
        self._is_background = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pieces, self._length, self._dropped = deque[str](), 0, 0
        self._has_news_since_exit = False
        self._news = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self.child = Child(launch, on_data=self._take, on_exit=self._shell_ended)

    async def stream(self, until: float, quiet_s: float | None = None) -> AsyncGenerator[str, None]:
        """Output as it comes, to the end of the command or to `until` (loop time), whichever is first.

        With `quiet_s`, also until nothing more has come for that long after something had.
        """
        while self._pieces or not self.has_ended:
            if not self.has_ended and self._loop.time() >= until:
                return
            if not self._pieces:
                await self._wait_for_news(until)
            if self._pieces:
                yield self._unread()
                if quiet_s is not None:
                    until = min(until, self._loop.time() + quiet_s)

    async def _wait_for_news(self, until: float) -> None:
        self._news.clear()
        try:
            async with asyncio.timeout_at(until):
                await self._news.wait()
        except TimeoutError:
            return

    async def write(self, text: str) -> bool:
        """Writes to the command; False if it does not take it, or never had an input."""
        return await self.child.write(text.encode(errors="replace"))

    def interrupt(self) -> None:
        """What Ctrl-C does at a terminal."""
        self.child.signal(signal.SIGINT)

    def go_to_background(self) -> None:
        """From now on it never waits for a reader."""
        self._is_background = True
        self.child.resume()

    @property
    def note(self) -> str:
        """How the command ended, or that it is running."""
        code = self.child.returncode
        if code is None or not self.has_ended:
            return f"[process running with process_id {self.process_id}]"
        return f"[exit code: {code}]" if code >= 0 else f"[terminated by signal {_signal_name(-code)}]"

    @property
    def stop_reason(self) -> StopReason | None:
        """Failed if the command ended, and not well."""
        return "failed" if self.has_ended and self.child.returncode else None

    def _unread(self) -> str:
        text = "".join(self._pieces)
        if self._dropped:
            text = f"[{self._dropped} characters of older output were dropped]\n{text}"
        self._pieces.clear()
        self._length = self._dropped = 0
        self.child.resume()
        return text

    def _take(self, data: bytes) -> None:
        self._has_news_since_exit = True
        if self.has_ended:
            return
        if text := self._decoder.decode(data, final=not data):
            self._keep(text)
        if not data and self.child.returncode is not None:
            self._finish()

    def _keep(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)
        self._news.set()
        if not self._is_background and self._length > _HIGH_WATER:
            self.child.pause()
        while self._is_background and self._length > _MOST_KEPT and len(self._pieces) > 1:
            oldest = len(self._pieces.popleft())
            self._length -= oldest
            self._dropped += oldest

    def _shell_ended(self, _: int) -> None:
        if self.child.is_at_end:
            self._finish()
        else:
            self._has_news_since_exit = False
            self._loop.call_later(_GRACE_S, self._grace_over)

    def _grace_over(self) -> None:
        if self.has_ended:
            return
        if self._has_news_since_exit or self._length > _HIGH_WATER:
            self._has_news_since_exit = False
            self._loop.call_later(_GRACE_S, self._grace_over)
        else:
            self._finish()

    def _finish(self) -> None:
        if rest := self._decoder.decode(b"", final=True):
            self._keep(rest)
        self.has_ended = True
        self._news.set()
        self.child.resume()
        self._on_exit(self)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
