"""The asynchronous life of the server, from the answer to `initialize` to the exit status."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import threading

from agent_lsp.server import parent
from agent_lsp.server.connection import Build, Connection
from agent_lsp.server.handshake import Greeted
from agent_lsp.server.outbox import HIGH_WATER_BYTES, Outbox
from agent_lsp.wire.transport import FdTransport

_log = logging.getLogger(__name__)
_EXIT_S = 4.9


async def serve(read_fd: int, write_fd: int, greeted: Greeted, build: Build) -> int:
    """Serves one client over descriptors that become the server's own. Returns the exit status.

    0 after `shutdown`, else 1. An exception is a bug of the application.
    """
    client, configuration = greeted.client, greeted.configuration
    async with asyncio.TaskGroup() as tasks:
        connection = Connection(greeted, tasks)
        transport = FdTransport(read_fd, write_fd, connection)
        high_water_bytes = configuration.limit("max_queued_bytes", HIGH_WATER_BYTES)
        outbox = Outbox(transport, partials=client.can("partials", True), high_water_bytes=high_water_bytes)
        connection.attach(transport, outbox)
        with contextlib.ExitStack() as watching:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                _on_signal(number, connection, watching)
            if client.parent_pid is not None:
                died = parent.watched(
                    asyncio.get_running_loop(), client.parent_pid, lambda: connection.end("the parent process is gone")
                )
                watching.enter_context(died)
            connection.serve(build(connection))
            gc.freeze()
            gc.enable()
            _log.info("ending: %s", await connection.ended)
            leave_by_force_after(_EXIT_S, connection.exit_status)
            await connection.finish()
    return connection.exit_status


def leave_by_force_after(seconds: float, exit_status: int) -> None:
    """Ends the process then, if something (a thread that is stuck, a child that will not die) still holds it."""
    timer = threading.Timer(seconds, os._exit, (exit_status,))
    timer.daemon = True
    timer.start()


def _on_signal(number: signal.Signals, connection: Connection, watching: contextlib.ExitStack) -> None:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(number, lambda: connection.end(f"signal {number.name}"))
    watching.callback(loop.remove_signal_handler, number)
