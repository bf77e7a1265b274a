import logging
import sqlite3
import stat
import threading

import pytest

from agent_lsp.errors import InvalidParams, RequestRefused
from agent_lsp.messages.events import TokenCounts
from agent_lsp.slotted import replace
from agent_lsp.usage import store as store_module
from agent_lsp.usage.report import UsageGroup, period
from agent_lsp.usage.row import CompactionFailure, Subject, UsageRow
from agent_lsp.usage.store import UsageStore

COUNTS = TokenCounts(cache_read=600, cache_write=300, output=100, total=1000)
ROW = UsageRow("2026-11-29T12:00:00.000Z", Subject("s1", "/w", "p", "m", ("ci", "ü")), "turn", "completed", 1, COUNTS)


def cost(provider, model, tokens, ts):
    return None if provider == "free" else tokens.total / 1000


@pytest.fixture
def store(tmp_path):
    opened = UsageStore(tmp_path / "data", cost)
    yield opened
    opened.close()


def row(ts="2026-11-29T12:00:00.000Z", session="s1", model="m", provider="p", **fields):
    subject = replace(ROW.subject, session_id=session, model=model, provider=provider)
    return replace(ROW, ts=ts, subject=subject, **fields)


def columns(store):
    store.flush()
    with sqlite3.connect(store.path) as database:
        database.row_factory = sqlite3.Row
        found = [dict(one) for one in database.execute("SELECT * FROM requests")]
    database.close()
    return found


def test_a_row_holds_everything_that_is_known_of_a_request(store):
    store.record(replace(ROW, duration_ms=1500, ttft_ms=200, subject=replace(ROW.subject, parent_id="s0")))

    (found,) = columns(store)
    assert found == {
        "ts": ROW.ts,
        "session_id": "s1",
        "tags": '["ci", "ü"]',
        "parent_id": "s0",
        "workspace": "/w",
        "provider": "p",
        "model": "m",
        "purpose": "turn",
        "status": "completed",
        "attempt": 1,
        "cache_read": 600,
        "cache_write": 300,
        "output": 100,
        "total": 1000,
        "duration_ms": 1500,
        "ttft_ms": 200,
        "cost_usd": 1.0,
        "error": None,
    }


def test_the_database_is_closed_to_others_and_keeps_a_log(store):
    store.record(ROW)
    store.flush()

    assert {stat.S_IMODE(path.stat().st_mode) for path in store.path.parent.iterdir()} == {0o600}
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700
    assert store.path.with_name("usage.db-wal").exists()


def test_what_nobody_knows_the_price_of_costs_null_and_never_nothing(store):
    store.record(row(provider="free"))
    store.record(row(status="failed", tokens=TokenCounts(), error="no"))

    assert [one["cost_usd"] for one in columns(store)] == [None, None]
    report = store.query()
    assert report.totals.cost_usd is None
    assert report.totals.unpriced == 1


def test_nothing_recorded_is_an_empty_report_and_makes_no_file(store):
    report = store.query()

    assert report.as_json() == {
        "rows": [],
        "totals": {"requests": 0, "cacheRead": 0, "cacheWrite": 0, "output": 0, "total": 0, "costUsd": None},
        "errors": [],
    }
    assert not store.path.exists()


@pytest.mark.parametrize(
    ("group_by", "keys"),
    [("model", ["p/m2", "p/m"]), ("day", ["2026-11-28", "2026-11-29"]), ("session", ["s2", "s1"])],
)
def test_rows_are_grouped_days_in_order_and_others_by_what_they_used(store, group_by, keys):
    store.record(row("2026-11-28T23:59:59.999Z"))
    store.record(row("2026-11-29T00:00:00.000Z", session="s2", model="m2"))
    store.record(row("2026-11-29T09:00:00.000Z", session="s2", model="m2", status="failed", tokens=TokenCounts()))
    store.record(row("2026-11-29T10:00:00.000Z", session="s2", model="m2"))

    report = store.query(group_by=group_by)

    assert [one.key for one in report.rows] == keys
    assert sum(one.requests for one in report.rows) == report.totals.requests == 4
    assert report.totals == UsageGroup("total", 4, 1800, 900, 300, 3000, 3.0)


@pytest.mark.parametrize(
    ("from_", "to", "found"),
    [
        (None, None, 3),
        ("2026-11-29", None, 2),
        (None, "2026-11-28", 1),
        ("2026-11-29", "2026-11-29", 2),
        ("2026-11-29T12:00:00Z", None, 1),
        (None, "2026-11-29T12:00:00Z", 2),
        ("2026-11-29T13:00:00+02:00", "2026-11-29T12:00:00.001", 2),
    ],
)
def test_a_period_begins_with_its_first_moment_and_a_date_counts_in_full(store, from_, to, found):
    for ts in ("2026-11-28T23:59:59.999Z", "2026-11-29T11:00:00.000Z", "2026-11-29T12:00:00.000Z"):
        store.record(row(ts))

    assert store.query(from_=from_, to=to).totals.requests == found


@pytest.mark.parametrize("wrong", ["yesterday", "2026-13-01", "", "0001-01-01T00:00:00+23:00"])
def test_a_period_that_is_none_is_refused_by_name(wrong):
    with pytest.raises(InvalidParams) as refused:
        period(to=wrong)
    assert refused.value.errors[0][0] == "to"


def test_one_session_is_told_apart(store):
    store.record(row())
    store.record(row(session="s2"))

    assert store.query("s2").totals.requests == 1


def test_errors_are_what_failed_in_order_and_not_what_was_aborted(store):
    store.record(row("2026-11-29T12:00:02.000Z", status="auth", attempt=3, error="refused", tokens=TokenCounts()))
    store.record(CompactionFailure("2026-11-29T12:00:01.000Z", "s1", 6, "no summary"))
    store.record(row("2026-11-29T12:00:03.000Z", status="aborted", tokens=TokenCounts()))

    assert store.query("s1").as_json()["errors"] == [
        {
            "ts": "2026-11-29T12:00:01.000Z",
            "sessionId": "s1",
            "kind": "compaction_failed",
            "attempt": 6,
            "message": "no summary",
        },
        {"ts": "2026-11-29T12:00:02.000Z", "sessionId": "s1", "kind": "auth", "attempt": 3, "message": "refused"},
    ]


def test_recording_waits_for_nobody_and_what_does_not_fit_is_said_once(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(store_module, "QUEUED", 3)
    release, asked = threading.Event(), threading.Event()

    def slow(*_):
        asked.set()
        release.wait(30)
        return

    store = UsageStore(tmp_path, slow)
    store.record(ROW)
    assert asked.wait(30)
    for _ in range(10):
        store.record(ROW)
    release.set()

    assert store.query().totals.requests == 4
    assert [one.message for one in caplog.records if "lost" in one.message] == [
        f"usage is recorded faster than {store.path} takes it; some is lost"
    ]
    store.close()


def test_a_locked_database_costs_no_rows_once_it_is_free_again(store, monkeypatch, caplog):
    monkeypatch.setattr("agent_lsp.usage.database.WAIT_S", 0.01)
    store.record(ROW)
    store.flush()
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    store.close()  # lets go of the connection, which would wait longer
    locked = UsageStore(store.path.parent, cost)
    locked.record(ROW)
    locked.flush()
    locked.record(ROW)
    locked.flush()
    other.execute("ROLLBACK")
    other.close()
    locked.record(ROW)

    assert locked.query().totals.requests == 4
    locked.close()
    assert len([one for one in caplog.records if one.levelno == logging.WARNING]) == 1


def test_a_broken_database_is_said_once_and_only_a_question_fails(store, caplog):
    store.path.parent.mkdir()
    store.path.write_bytes(b"this is no database" * 100)
    for _ in range(3):
        store.record(ROW)
        store.flush()

    with pytest.raises(RequestRefused, match="not a database"):
        store.query()
    assert len(caplog.records) == 1
    assert store.path.read_bytes().startswith(b"this is no database")


def test_a_data_directory_that_cannot_be_made_stops_nothing(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    store = UsageStore(tmp_path / "file" / "data", cost)
    store.record(ROW)
    store.close()

    assert "usage cannot be recorded" in caplog.text


def test_odd_texts_and_numbers_are_kept_as_far_as_the_database_can(store):
    huge = TokenCounts(total=10**30)
    store.record(replace(row(tokens=huge), subject=replace(ROW.subject, workspace="/w\udcff")))

    (found,) = columns(store)
    assert (found["workspace"], found["total"]) == ("/w\\udcff", 2**40)


def test_prices_that_have_changed_hold_for_later_rows(store):
    store.record(ROW)
    store.flush()
    store.reprice(lambda *_: 7.0)
    store.record(ROW)

    assert [one["cost_usd"] for one in columns(store)] == [1.0, 7.0]


def test_what_comes_after_the_end_is_ignored(store):
    store.record(ROW)
    store.close()
    store.record(ROW)
    store.close()

    assert store.query().totals.requests == 1


def test_two_servers_write_into_one_database(store):
    other = UsageStore(store.path.parent, cost)
    for _ in range(20):
        store.record(ROW)
        other.record(row(session="s2"))

    other.close()
    assert store.query().totals.requests == 40
