"""Notices that the process which started us is gone."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # `is_alive` is asked before there is a loop
    from asyncio import AbstractEventLoop

_POLL_S = 1.0


def is_alive(pid: int) -> bool:
    """Whether there is such a process."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


@contextmanager
def watched(loop: AbstractEventLoop, pid: int, died: Callable[[], None]) -> Generator[None]:
    """Calls `died` once, from the loop, when the process ends; where the kernel cannot tell, by looking each second."""
    try:
        fd = os.pidfd_open(pid)
    except (AttributeError, OSError):
        with _polled(loop, pid, died):
            yield
        return

    def ended() -> None:
        loop.remove_reader(fd)
        died()

    loop.add_reader(fd, ended)
    try:
        yield
    finally:
        loop.remove_reader(fd)
        os.close(fd)


@contextmanager
def _polled(loop: AbstractEventLoop, pid: int, died: Callable[[], None]) -> Generator[None]:

    def look() -> None:
        nonlocal timer
        if is_alive(pid):
            timer = loop.call_later(_POLL_S, look)
        else:
            died()

    timer = loop.call_soon(look)
    try:
        yield
    finally:
        timer.cancel()
