"""The usage of all sessions, kept in `usage.db` by a thread of its own, so that no run ever waits for it."""

from __future__ import annotations

import logging
import queue
import threading
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.errors import RequestRefused
from agent_lsp.usage.report import GroupBy, UsageReport, period

if TYPE_CHECKING:
    import sqlite3

    from agent_lsp.usage.prices import Cost
    from agent_lsp.usage.row import Entry, Recorder

_log = logging.getLogger(__name__)

FILE_NAME = "usage.db"
QUEUED = 1000
"""So many entries wait for the thread, and as many again for a database that takes none; the oldest are given up."""
FLUSH_S = 6.0


class UsageStore:
    """Records requests and says what they add up to. A database that is locked, broken or gone costs only rows."""

    def __init__(self, data_dir: Path, cost: Cost) -> None:
        self.path = data_dir / FILE_NAME
        self._cost = cost
        self._queue: queue.Queue[Entry | threading.Event | None] = queue.Queue(QUEUED)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._is_closed = False
        self._said: set[str] = set()

    def reprice(self, cost: Cost) -> None:
        """Has later rows cost something else: the settings have changed."""
        self._cost = cost

    def record(self, entry: Entry) -> None:
        """Takes an entry and returns at once; what cannot be kept is logged once."""
        if self._is_closed:
            return
        self._start()
        try:
            self._queue.put_nowait(entry)
        except queue.Full:
            self._say_once("full", "usage is recorded faster than %s takes it; some is lost", self.path)

    def query(
        self,
        session_id: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        group_by: GroupBy = "model",
    ) -> UsageReport:
        """What was used between two dates or times, everything recorded so far included. Blocks.

        InvalidParams for a `from_` or `to` that is none, RequestRefused when the database cannot be read.
        """
        import sqlite3

        from agent_lsp.usage.database import read_report

        when = period(from_, to)
        self.flush()
        try:
            return read_report(self.path, session_id, when, group_by)
        except (sqlite3.Error, OSError) as error:
            raise RequestRefused(
                f"the usage database cannot be read ({error})", hint=f"move {self.path} away; a new one is made then"
            ) from error

    def flush(self, timeout_s: float = FLUSH_S) -> bool:
        """Waits until everything recorded so far is written or given up; false when that takes too long."""
        if self._thread is None or not self._thread.is_alive():
            return True
        reached = threading.Event()
        try:
            self._queue.put(reached, timeout=timeout_s)
        except queue.Full:
            return False
        return reached.wait(timeout_s)

    def close(self) -> None:
        """Writes what was recorded and ends the thread; blocks a few seconds at most. Later entries are ignored."""
        self._is_closed = True
        if self.flush() and self._thread:
            self._queue.put(None)
            self._thread.join(FLUSH_S)

    def _start(self) -> None:
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._write_all, name="usage", daemon=True)
                    self._thread.start()

    def _write_all(self) -> None:
        waiting: deque[Entry] = deque(maxlen=QUEUED)
        writer, is_last = _Writer(self), False
        while not is_last:
            batch = self._next_batch()
            is_last = None in batch
            waiting.extend(one for one in batch if one is not None and not isinstance(one, threading.Event))
            if waiting and writer.write(waiting):
                waiting.clear()
            for reached in batch:
                if isinstance(reached, threading.Event):
                    reached.set()
        writer.close()

    def _next_batch(self) -> list[Entry | threading.Event | None]:
        """Whatever has come meanwhile; waits for something to come."""
        batch = [self._queue.get()]
        while not self._queue.empty():
            batch.append(self._queue.get())
        return batch

    def say_failing(self, error: Exception) -> None:
        """Logs, once, that the database takes nothing."""
        self._say_once("failing", "usage cannot be recorded in %s: %s", self.path, error)

    def cost(self) -> Cost:
        """The prices in force."""
        return self._cost

    def _say_once(self, topic: str, message: str, *details: object) -> None:
        if topic not in self._said:
            self._said.add(topic)
            _log.warning(message, *details)


class _Writer:
    """The thread's side of the store: one connection, opened again after it has failed."""

    def __init__(self, store: UsageStore) -> None:
        self._store = store
        self._database: sqlite3.Connection | None = None

    def write(self, entries: deque[Entry]) -> bool:
        """Whether the entries are in the database now."""
        import sqlite3

        from agent_lsp.usage.database import insert, open_for_writing

        try:
            if self._database is None:
                self._database = open_for_writing(self._store.path)
            insert(self._database, entries, self._store.cost())
        except (sqlite3.Error, OSError) as error:
            self._store.say_failing(error)
            self.close()
            return False
        return True

    def close(self) -> None:
        """Lets go of the database."""
        if self._database is not None:
            self._database.close()
            self._database = None


if TYPE_CHECKING:
    _: type[Recorder] = UsageStore
