"""The asynchronous life of the server, from the answer to `initialize` to the exit status."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
from typing import TYPE_CHECKING

from agent_lsp.server import parent
from agent_lsp.server.connection import Build, Connection
from agent_lsp.server.outbox import HIGH_WATER_BYTES, Outbox
from agent_lsp.wire.ending import EXIT_S, ended_by_signals, leave_by_force_after
from agent_lsp.wire.heartbeat import heard
from agent_lsp.wire.transport import FdTransport, has_hung_up

if TYPE_CHECKING:
    from agent_lsp.server.handshake import Greeted

_log = logging.getLogger(__name__)


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
        connection.attach(transport, outbox, lambda: has_hung_up(read_fd))
        with contextlib.ExitStack() as watching:
            watching.enter_context(ended_by_signals(connection.end))
            watching.enter_context(heard(asyncio.get_running_loop()))
            if client.parent_pid is not None:
                died = parent.watched(
                    asyncio.get_running_loop(), client.parent_pid, lambda: connection.end("the parent process is gone")
                )
                watching.enter_context(died)
            connection.serve(build(connection))
            gc.freeze()
            gc.enable()
            _log.info("ending: %s", await connection.ended)
            leave_by_force_after(EXIT_S, connection.exit_status)
            await connection.finish()
    return connection.exit_status
