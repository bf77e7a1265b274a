"""The end of a server process: on a signal, and in any case."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable, Generator

EXIT_S = 4.9
"""Within this long a server is gone, whatever it has to wait for."""

_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@contextlib.contextmanager
def ended_by_signals(end: Callable[[str], None]) -> Generator[None]:
    """Has `end` called, with what to put into the log, when somebody wants the process to end."""
    loop = asyncio.get_running_loop()
    for number in _ENDING:
        loop.add_signal_handler(number, end, f"signal {number.name}")
    try:
        yield
    finally:
        for number in _ENDING:
            loop.remove_signal_handler(number)


def leave_by_force_after(seconds: float, exit_status: int) -> None:
    """Ends the process then, if something (a thread that is stuck, a child that will not die) still holds it."""
    timer = threading.Timer(seconds, os._exit, (exit_status,))
    timer.daemon = True
    timer.start()
