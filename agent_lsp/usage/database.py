"""`usage.db`: the table of requests, how rows get into it and what is asked of it. Everything here blocks."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from agent_lsp.usage.report import GroupBy, Period, UsageError, UsageGroup, UsageReport
from agent_lsp.usage.row import CompactionFailure, Entry, UsageRow

if TYPE_CHECKING:
    from agent_lsp.usage.prices import Cost

WAIT_S = 5.0
"""So long another process may keep the database locked."""
ERRORS_SHOWN = 200
LARGEST = 2**40
"""No count is taken for more than this, so that their sums stay in the range of the database."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS requests (
    ts TEXT NOT NULL, session_id TEXT NOT NULL, tags TEXT NOT NULL, parent_id TEXT, workspace TEXT NOT NULL,
    provider TEXT NOT NULL, model TEXT NOT NULL, purpose TEXT NOT NULL, status TEXT NOT NULL, attempt INTEGER NOT NULL,
    cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL, output INTEGER NOT NULL, total INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL, ttft_ms INTEGER, cost_usd REAL, error TEXT
);
CREATE INDEX IF NOT EXISTS requests_by_time ON requests (ts);
CREATE INDEX IF NOT EXISTS requests_by_session ON requests (session_id, ts);
CREATE TABLE IF NOT EXISTS compaction_failures (
    ts TEXT NOT NULL, session_id TEXT NOT NULL, attempt INTEGER NOT NULL, message TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS compaction_failures_by_time ON compaction_failures (ts);
"""
_INSERT = f"INSERT INTO requests VALUES ({', '.join('?' * 18)})"
_SUMS = """
count(*), sum(cache_read), sum(cache_write), sum(output), sum(total), sum(cost_usd),
sum(cost_usd IS NULL AND total > 0)
"""
_KEYS: dict[GroupBy, str] = {
    "model": "provider || '/' || model",
    "day": "substr(ts, 1, 10)",
    "session": "session_id",
}


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Opens the database, made and closed to other users if it was missing. OSError or sqlite3.Error when it cannot."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))  # SQLite gives its side files the same mode
    database = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.executescript(_SCHEMA)
    except sqlite3.Error:
        database.close()
        raise
    return database


def insert(database: sqlite3.Connection, entries: Iterable[Entry], cost: Cost) -> None:
    """Adds the entries, all of them or none. sqlite3.Error when that fails."""
    rows = [_values(one, cost) for one in entries if isinstance(one, UsageRow)]
    failures = [
        (one.ts, one.session_id, one.attempt, _storable(one.message))
        for one in entries
        if isinstance(one, CompactionFailure)
    ]
    database.execute("BEGIN IMMEDIATE")
    try:
        database.executemany(_INSERT, rows)
        database.executemany("INSERT INTO compaction_failures VALUES (?, ?, ?, ?)", failures)
        database.execute("COMMIT")
    except BaseException:
        database.execute("ROLLBACK")
        raise


def read_report(path: Path, session_id: str | None, when: Period, group_by: GroupBy) -> UsageReport:
    """What the database holds of the period; nothing when there is none. sqlite3.Error when it cannot be read."""
    if not path.exists():
        return UsageReport()
    where, values = _where(session_id, when)
    order = "1" if group_by == "day" else "6 DESC, 1"
    with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=WAIT_S)) as database:
        database.execute("BEGIN")
        grouped = database.execute(
            f"SELECT {_KEYS[group_by]}, {_SUMS} FROM requests WHERE {where} GROUP BY 1 ORDER BY {order}", values
        )
        rows = tuple(UsageGroup(*row) for row in grouped)
        summed = database.execute(f"SELECT {_SUMS} FROM requests WHERE {where}", values).fetchone()
        totals = UsageGroup("total", *summed) if summed[0] else UsageGroup("total")
        return UsageReport(rows, totals, _errors(database, where, values))


def _errors(database: sqlite3.Connection, where: str, values: Sequence[str]) -> tuple[UsageError, ...]:
    latest = database.execute(
        "SELECT ts, session_id, status, attempt, coalesce(error, '') FROM requests"
        f" WHERE status NOT IN ('completed', 'aborted') AND {where} UNION ALL"
        f" SELECT ts, session_id, 'compaction_failed', attempt, message FROM compaction_failures WHERE {where}"
        " ORDER BY 1 DESC LIMIT ?",
        (*values, *values, ERRORS_SHOWN),
    ).fetchall()
    return tuple(UsageError(*row) for row in reversed(latest))


def _where(session_id: str | None, when: Period) -> tuple[str, tuple[str, ...]]:
    conditions = {"session_id = ?": session_id, "ts >= ?": when.begin, "ts < ?": when.end}
    given = {condition: value for condition, value in conditions.items() if value is not None}
    return " AND ".join(given) or "1", tuple(given.values())


def _values(row: UsageRow, cost: Cost) -> tuple[object, ...]:
    subject, tokens = row.subject, row.tokens
    spent = cost(subject.provider, subject.model, tokens, row.ts) if tokens.total else None
    return (
        row.ts,
        subject.session_id,
        json.dumps(subject.tags, ensure_ascii=False),
        subject.parent_id,
        _storable(subject.workspace),
        subject.provider,
        subject.model,
        row.purpose,
        row.status,
        row.attempt,
        *(min(count, LARGEST) for count in (tokens.cache_read, tokens.cache_write, tokens.output, tokens.total)),
        row.duration_ms,
        row.ttft_ms,
        spent,
        row.error and _storable(row.error),
    )


def _storable(text: str) -> str:
    """The text as UTF-8 can hold it: the name of a folder may be any bytes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
