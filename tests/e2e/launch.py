"""Ways of starting the server: each gives a process and a pair of streams to it."""

import asyncio
import os
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path

AGENT_LSP = Path(sys.executable).with_name("agent-lsp")
LIMIT_BYTES = 64 * 2**20


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

    async def status(self, within_s=10):
        """Its exit status, once it has ended, with everything that it wrote on stderr."""
        status = await asyncio.wait_for(self.process.wait(), within_s)
        await asyncio.wait_for(self._listener, within_s)
        return status

    async def end(self):
        """Ends it and everything it has started, whatever state it is in."""
        self.writer.close()
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        await self.status()


async def over_stdio(cwd, environ, *arguments):
    """The usual way."""
    process = await asyncio.create_subprocess_exec(
        AGENT_LSP,
        *arguments,
        cwd=cwd,
        env=environ,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        limit=LIMIT_BYTES,
    )
    return Server(process)


WAYS = {"stdio": over_stdio}
