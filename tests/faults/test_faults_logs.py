"""Logs that do not grow without end, and reports of bugs that say nothing of what a person wrote."""

import asyncio
import contextlib
import logging
import stat
import threading
from pathlib import Path

import pytest

from agent_lsp.policy.growing_file import add_line, aside
from agent_lsp.wire import heartbeat, logs

WORDS = "the-persons-own-words"


# --- files that grow --------------------------------------------------------------------------------------------------


def test_a_full_file_is_put_aside_and_only_so_many_are_kept(tmp_path):
    path = tmp_path / "x.log"
    for number in range(60):
        add_line(path, b"line %02d" % number, largest_bytes=40, kept=2)
    found = sorted(one.name for one in tmp_path.iterdir())
    assert found == ["x.log", "x.log.1", "x.log.2"]
    assert path.read_bytes().endswith(b"line 59\n")
    assert all(one.stat().st_size <= 48 for one in tmp_path.iterdir())
    assert b"".join(aside(path, number).read_bytes() for number in (2, 1)) + path.read_bytes() == b"".join(
        b"line %02d\n" % number for number in range(45, 60)
    )


def test_the_file_is_the_users_own(tmp_path):
    add_line(tmp_path / "x.log", b"a")
    assert stat.S_IMODE((tmp_path / "x.log").stat().st_mode) == 0o600


def test_whoever_puts_it_aside_no_line_is_lost_or_torn(tmp_path):
    path = tmp_path / "x.log"

    def write(who):
        for number in range(200):
            add_line(path, b"%d %03d" % (who, number), largest_bytes=500, kept=50)

    writers = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    lines = [line for file in tmp_path.iterdir() for line in file.read_bytes().splitlines()]
    assert sorted(lines) == sorted(b"%d %03d" % (who, number) for who in range(4) for number in range(200))


def test_a_log_that_cannot_be_written_is_said_once(tmp_path, capsys):
    handler = logs.LogFile(tmp_path / "no" / "such" / "folder.log")
    for _ in range(3):
        handler.emit(record("lost"))
    assert capsys.readouterr().err.count("nothing can be added to") == 1


# --- crash reports ----------------------------------------------------------------------------------------------------


def record(message, error=None):
    info = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("agent_lsp.x", logging.ERROR, __file__, 7, message, (), info)


def raised(deep=0, inner=None):
    words = WORDS  # a local, as user text is one
    try:
        if deep:
            raised(deep - 1, inner)
        raise ValueError(words) from inner
    except ValueError as error:
        return error


def test_a_report_says_where_and_with_what_and_nothing_of_what_was_said(tmp_path):
    handler = logs.CrashReports(tmp_path / "crashes")
    error = ExceptionGroup(WORDS, [raised(inner=KeyError(WORDS)), raised()])
    handler.emit(record(f"it broke: {WORDS}", error))
    (report,) = (tmp_path / "crashes").iterdir()
    text = report.read_text()
    assert WORDS not in text and str(tmp_path) not in text and str(Path.home()) not in text
    for said in (
        "agent-lsp ",
        "builtins.ValueError",
        "after: builtins.KeyError",
        "inside of it",
        "raised",
        "agent_lsp.x",
    ):
        assert said in text
    assert stat.S_IMODE(report.stat().st_mode) == 0o600


def test_the_same_bug_is_reported_once_and_a_flood_is_not_written_down(tmp_path):
    handler = logs.CrashReports(tmp_path)
    error = raised()
    for _ in range(3):
        handler.emit(record("again", error))
    assert len(list(tmp_path.iterdir())) == 1
    for deep in range(1, 30):
        try:
            exec("\n" * deep + "raise ValueError")  # each on a line of its own
        except ValueError as other:
            handler.emit(record("more", other))
    assert len(list(tmp_path.iterdir())) == 5


def test_only_the_latest_reports_are_kept(tmp_path):
    for number in range(logs.MOST_REPORTS + 5):
        (tmp_path / f"crash-2020010{number % 10}-0000{number:02}-1-1.txt").write_text("old")
    logs.CrashReports(tmp_path).emit(record("new", raised()))
    assert len(list(tmp_path.iterdir())) == logs.MOST_REPORTS
    assert any("ValueError" in one.read_text() for one in tmp_path.iterdir())


def test_errors_without_an_exception_make_no_report_and_a_full_disk_stops_nothing(tmp_path):
    logs.CrashReports(tmp_path / "crashes").emit(record("just words"))
    assert not (tmp_path / "crashes").exists()
    (tmp_path / "file").write_text("")
    logs.CrashReports(tmp_path / "file").emit(record("x", raised()))


# --- the heartbeat ----------------------------------------------------------------------------------------------------


def stand_still(until):
    """What blocks the loop; its name is what the log has to tell."""
    assert until.wait(20)


@pytest.mark.asyncio
async def test_a_loop_that_stands_still_is_said_with_the_place_and_once(caplog):
    caplog.set_level(logging.WARNING, "agent_lsp.wire.heartbeat")
    said, told = threading.Event(), []

    class Notice(logging.Handler):
        def emit(self, record):
            told.append(record.getMessage())
            said.set()

    notice = Notice()
    logging.getLogger("agent_lsp.wire.heartbeat").addHandler(notice)
    try:
        with heartbeat.heard(asyncio.get_running_loop(), held_up_s=0.05, rest_s=0.01):
            await asyncio.sleep(0)
            stand_still(said)
            said.clear()
            assert await asyncio.to_thread(said.wait, 20)
    finally:
        logging.getLogger("agent_lsp.wire.heartbeat").removeHandler(notice)
    stopped, went_on = told
    assert "stand_still" in stopped and "test_faults_logs.py" in stopped
    assert "goes on" in went_on


@pytest.mark.asyncio
async def test_a_loop_that_is_only_busy_or_idle_is_not_said_and_the_listener_leaves(caplog):
    with heartbeat.heard(asyncio.get_running_loop(), held_up_s=5, rest_s=0.01):
        for _ in range(20):
            await asyncio.sleep(0.005)
        (listener,) = [one for one in threading.enumerate() if one.name == "heartbeat"]
    with contextlib.suppress(RuntimeError):
        await asyncio.to_thread(listener.join, 10)
    assert not listener.is_alive() and not caplog.records
