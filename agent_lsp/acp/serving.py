"""The asynchronous life of the agent, from the answer to `initialize` to the exit status."""

from __future__ import annotations

import asyncio
import gc
import logging
from typing import TYPE_CHECKING

from agent_lsp.acp.connection import Build, Connection
from agent_lsp.acp.outbox import HIGH_WATER_BYTES, Outbox
from agent_lsp.wire.ending import EXIT_S, ended_by_signals, leave_by_force_after
from agent_lsp.wire.heartbeat import heard
from agent_lsp.wire.transport import FdTransport, has_hung_up

if TYPE_CHECKING:
    from agent_lsp.acp.handshake import Greeted

_log = logging.getLogger(__name__)


async def serve(read_fd: int, write_fd: int, greeted: Greeted, build: Build) -> int:
    """Serves one client over descriptors that become the server's own. Returns the exit status.

    0 when the client closed its end, else 1. An exception is a bug of the application.
    """
    for warning in greeted.configuration.warnings:
        _log.warning("%s", warning)
    async with asyncio.TaskGroup() as tasks:
        connection = Connection(greeted, tasks)
        transport = FdTransport(read_fd, write_fd, connection)
        outbox = Outbox(transport, greeted.configuration.max_queued_bytes or HIGH_WATER_BYTES)
        connection.attach(transport, outbox, lambda: has_hung_up(read_fd))
        with ended_by_signals(connection.end), heard(asyncio.get_running_loop()):
            connection.serve(build(connection))
            gc.freeze()
            gc.enable()
            _log.info("ending: %s", await connection.ended)
            leave_by_force_after(EXIT_S, connection.exit_status)
            await connection.finish()
    return connection.exit_status
