"""The owner of a session's tasks.

Not an `asyncio.TaskGroup`: that waits for every child without a limit, and one stubborn tool would hold up the close of
its session for good.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class TaskScope:
    """Tasks live in here or not at all. After `close` nothing can be started any more."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    @property
    def is_closed(self) -> bool:
        """Whether nothing can be started any more."""
        return self._closed

    def spawn(
        self, work: Coroutine[Any, Any, _T], done: Callable[[asyncio.Task[_T]], None] | None = None
    ) -> asyncio.Task[_T]:
        """Starts a task. `done` gets it when it has ended and must look at its exception; without it, one is logged."""
        if self._closed:
            work.close()
            raise RuntimeError(f"{self._name} is closed")
        task = asyncio.get_running_loop().create_task(work, name=self._name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(done or self._log_failure)
        return task

    async def close(self, timeout_s: float = 5.0) -> None:
        """Cancels every task and waits for them, at most `timeout_s`; what is left then is left behind and logged."""
        self._closed = True
        current = asyncio.current_task()
        tasks = {task for task in self._tasks if task is not current}
        for task in tasks:
            task.cancel()
        if tasks:
            _, stubborn = await asyncio.wait(tasks, timeout=timeout_s)
            for task in stubborn:
                _log.warning("%s: a task did not end: %r", self._name, task.get_coro())

    def _log_failure(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and (error := task.exception()):
            _log.error("%s: a task failed", self._name, exc_info=error)
