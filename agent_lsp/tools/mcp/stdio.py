"""A server as a child process: one JSON message a line on its standard streams. The SDK's side of it is two streams.

The SDK has a transport of its own; this one starts the process where the watchdog knows of it, gives it our environment
instead of the server's, and bounds what a line may hold.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import IO, TYPE_CHECKING

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_LONGEST_LINE = 16 * 2**20
_MOST_NOISE = 1000
_KEPT_ERRORS = 2000
_LEAVE_S, _TERM_S, _KILL_S, _POLL_S = 1.0, 0.5, 0.5, 0.01

_Inbound = MemoryObjectSendStream[SessionMessage | Exception]


class StdioTransport:
    """Starts the process, and has ended it when it is left.

    `start` raises OSError and ValueError, `release` says that its group is empty, `on_end` that it says nothing more.
    """

    def __init__(
        self,
        start: Callable[[], subprocess.Popen[bytes]],
        release: Callable[[int], None],
        on_end: Callable[[], None],
    ) -> None:
        self._start, self._release, self._on_end = start, release, on_end
        self._errors = deque[str]()
        self._transports: list[asyncio.BaseTransport] = []
        self._pumps: list[asyncio.Task[None]] = []
        self.noise = ""
        """The last line that it wrote and that is no message."""

    @property
    def errors(self) -> str:
        """The end of what it wrote on its standard error."""
        return "".join(self._errors)[-_KEPT_ERRORS:].strip()

    async def __aenter__(self) -> TransportStreams:
        self._process = process = self._start()
        heard, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, said = anyio.create_memory_object_stream[SessionMessage](0)
        try:
            output, errors, pace = await self._listen(process)
        except BaseException:
            self._kill()
            await self._is_gone_within(_KILL_S)
            raise
        self._pumps = [
            asyncio.create_task(self._read(output, heard)),
            asyncio.create_task(self._write(said, pace)),
            asyncio.create_task(self._read_errors(errors)),
        ]
        return read, write

    async def __aexit__(self, *_: object) -> None:
        try:
            self._stdin.close()
            await self._is_gone_within(_LEAVE_S)
            self._signal(signal.SIGTERM)
            await self._is_gone_within(_TERM_S)
        finally:
            self._kill()
            for pump in self._pumps:
                pump.cancel()
            await asyncio.gather(*self._pumps, return_exceptions=True)
            await self._is_gone_within(_KILL_S)

    # --- its streams ---

    async def _listen(
        self, process: subprocess.Popen[bytes]
    ) -> tuple[asyncio.StreamReader, asyncio.StreamReader, _Pace]:
        loop = asyncio.get_running_loop()

        async def reader(pipe: IO[bytes] | None, limit: int) -> asyncio.StreamReader:
            stream = asyncio.StreamReader(limit)
            transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), pipe)
            self._transports.append(transport)
            return stream

        self._stdin, pace = await loop.connect_write_pipe(_Pace, process.stdin)
        self._transports.append(self._stdin)
        return await reader(process.stdout, _LONGEST_LINE), await reader(process.stderr, _KEPT_ERRORS), pace

    async def _read(self, output: asyncio.StreamReader, heard: _Inbound) -> None:
        noise = 0
        try:
            async with heard:
                while (line := await self._line(output)) and noise < _MOST_NOISE:
                    if not line.strip():
                        continue
                    try:
                        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValidationError:
                        self.noise, noise = line[:200].decode(errors="replace").strip(), noise + 1
                        continue
                    noise = 0
                    await heard.send(SessionMessage(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # nobody listens any more: the connection is being closed
        finally:
            self._on_end()

    async def _line(self, output: asyncio.StreamReader) -> bytes:
        """The next line, b"" at the end or when a line has no end."""
        try:
            return await output.readuntil(b"\n")
        except asyncio.IncompleteReadError as end:
            return end.partial
        except asyncio.LimitOverrunError:
            self.noise = f"a line of more than {_LONGEST_LINE} bytes"
            return b""

    async def _write(self, said: MemoryObjectReceiveStream[SessionMessage], pace: _Pace) -> None:
        async with said:
            async for message in said:
                data = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                self._stdin.write(data.encode() + b"\n")
                await pace.room.wait()

    async def _read_errors(self, errors: asyncio.StreamReader) -> None:
        """Keeps the end of them. They are not logged: they may hold what was in the environment."""
        while data := await errors.read(_KEPT_ERRORS):
            self._errors.append(data.decode(errors="replace"))
            while sum(map(len, self._errors)) > 2 * _KEPT_ERRORS:
                self._errors.popleft()

    # --- its end ---

    async def _is_gone_within(self, seconds: float) -> bool:
        deadline = asyncio.get_running_loop().time() + seconds
        while self._process.poll() is None:
            if asyncio.get_running_loop().time() >= deadline:
                return False
            await asyncio.sleep(_POLL_S)
        return True

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _kill(self) -> None:
        """Ends the whole group: what a server has started is as little use without it."""
        self._signal(signal.SIGKILL)
        self._release(self._process.pid)
        for transport in self._transports:
            transport.close()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe and not self._transports:
                pipe.close()


class _Pace(asyncio.BaseProtocol):
    """Whether the process takes more."""

    def __init__(self) -> None:
        self.room = asyncio.Event()
        self.room.set()

    def pause_writing(self) -> None:
        """The pipe is full."""
        self.room.clear()

    def resume_writing(self) -> None:
        """There is room again."""
        self.room.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody reads it any more."""
        self.room.set()
