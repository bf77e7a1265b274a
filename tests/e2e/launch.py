"""Ways of starting the server: each gives a process and a pair of streams to it."""

import asyncio
import os
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

AGENT_LSP = Path(sys.executable).with_name("agent-lsp")


class Server:
    """One server process. `errors` is what it has written on stderr; `token` what a socket wants to be shown."""

    def __init__(self, process):
        self.process = process
        self.reader, self.writer = process.stdout, process.stdin
        self.errors = bytearray()
        self.token = None
        self._said_more = asyncio.Event()
        self._listener = asyncio.create_task(self._listen())

    async def _listen(self):
        while data := await self.process.stderr.read(65536):
            self.errors += data
            self._said_more.set()
        self._said_more.set()

    async def said(self, pattern):
        """Waits for a line on stderr."""
        while not (found := re.search(pattern, self.errors)):
            self._said_more.clear()
            if self._listener.done():
                raise AssertionError(f"it ended without {pattern!r}: {self.errors.decode()}")
            await asyncio.wait_for(self._said_more.wait(), 10)
        return found

    def joined(self, streams):
        """The server, once there is a connection to it. What it said until then is no complaint."""
        self.reader, self.writer = streams
        self.errors.clear()
        return self

    async def gone(self, within_s=10):
        """Waits for its end, though its output may not have been read."""
        await asyncio.wait_for(self._listener, within_s)

    async def status(self, within_s=10):
        """Its exit status, once it has ended, with everything that it wrote on stderr."""
        status = await asyncio.wait_for(self.process.wait(), within_s)
        await asyncio.wait_for(self._listener, within_s)
        return status

    async def end(self):
        """Ends it and everything it has started, whatever state it is in."""
        if self.writer:
            self.writer.close()
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        await self.gone()


async def over_stdio(cwd, environ, *arguments):
    """The usual way."""
    return Server(await _started(cwd, environ, arguments, asyncio.subprocess.PIPE))


async def over_tcp(cwd, environ, *arguments):
    """A port of its own on loopback, and the token that is made for it."""
    server = Server(await _started(cwd, environ, ("--tcp", "127.0.0.1:0", *arguments)))
    said = await server.said(rb"port (\d+); token: (\S+)\n")
    server.token = said[2].decode()
    return server.joined(await asyncio.open_connection("127.0.0.1", int(said[1])))


async def over_a_pipe(cwd, environ, *arguments):
    """A Unix socket at which the server waits."""
    with TemporaryDirectory() as folder:  # the path of a socket has to be short
        path = f"{folder}/agent"
        server = Server(await _started(cwd, environ, ("--pipe", path, *arguments)))
        await server.said(rb"listening at .*\n")
        return server.joined(await asyncio.open_unix_connection(path))


async def over_an_editors_pipe(cwd, environ, *arguments):
    """A Unix socket at which the editor waits."""
    joined = asyncio.get_running_loop().create_future()
    with TemporaryDirectory() as folder:
        path = f"{folder}/editor"
        listener = await asyncio.start_unix_server(lambda *streams: joined.set_result(streams), path)
        server = Server(await _started(cwd, environ, ("--pipe", path, *arguments)))
        streams = await asyncio.wait_for(joined, 10)
        listener.close()
        return server.joined(streams)


async def _started(cwd, environ, arguments, streams=asyncio.subprocess.DEVNULL):
    return await asyncio.create_subprocess_exec(
        AGENT_LSP,
        *arguments,
        cwd=cwd,
        env=environ,
        stdin=streams,
        stdout=streams,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )


WAYS = {"stdio": over_stdio, "tcp": over_tcp, "pipe": over_a_pipe, "editors-pipe": over_an_editors_pipe}
