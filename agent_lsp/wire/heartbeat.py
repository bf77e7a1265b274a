"""Notices when the event loop stands still, and logs where: a call that blocks holds up every session at once."""

from __future__ import annotations

import logging
import sys
import threading
from asyncio import AbstractEventLoop
from collections.abc import Generator
from contextlib import contextmanager, suppress
from time import monotonic
from types import FrameType

from agent_lsp.wire.logs import place

HELD_UP_S = 2.0
"""So long nothing of the loop may run before it is said."""

_REST_S = 2.0  # between two looks: one wake-up of the process
_MOST_FRAMES = 12

_log = logging.getLogger(__name__)


@contextmanager
def heard(loop: AbstractEventLoop, held_up_s: float = HELD_UP_S, rest_s: float = _REST_S) -> Generator[None]:
    """Listens to the loop, whose thread this is, from a thread of its own. One line when it stops, one when it goes on.

    The lines name functions and line numbers, nothing of what they work on.
    """
    stop = threading.Event()
    listener = threading.Thread(
        target=_listen, args=(loop, threading.get_ident(), stop, held_up_s, rest_s), name="heartbeat", daemon=True
    )
    listener.start()
    try:
        yield
    finally:
        stop.set()


def _listen(loop: AbstractEventLoop, thread_id: int, stop: threading.Event, held_up_s: float, rest_s: float) -> None:
    while not stop.wait(rest_s):
        beat = threading.Event()
        asked_at = monotonic()
        try:
            loop.call_soon_threadsafe(beat.set)
        except RuntimeError:  # closed meanwhile
            return
        if beat.wait(held_up_s) or stop.is_set():
            continue
        _log.warning("nothing has moved for %.1f s; now in %s", held_up_s, _where(thread_id))
        while not beat.wait(rest_s):
            if stop.is_set() or loop.is_closed():
                return
        _log.warning("it goes on, after %.1f s", monotonic() - asked_at)


def _where(thread_id: int) -> str:
    """What the thread is doing: the innermost function first."""
    frame: FrameType | None = sys._current_frames().get(thread_id)  # pyright: ignore[reportPrivateUsage]
    found: list[str] = []
    with suppress(AttributeError):
        while frame is not None and len(found) < _MOST_FRAMES:
            found.append(f"{place(frame.f_code.co_filename)}:{frame.f_lineno} {frame.f_code.co_name}")
            frame = frame.f_back
    return " < ".join(found) or "a thread that is gone"
