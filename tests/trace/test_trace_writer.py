import asyncio
import errno
import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.errors import SessionBusy, SessionNotFound
from agent_lsp.messages.envelope import MESSAGE
from agent_lsp.messages.events import SessionUpdate


def started(sessions, **options):
    writer = sessions.new(**options)
    writer.append(sessions.run())
    return writer, writer._session_id


def test_the_file_appears_with_the_first_run_and_begins_with_the_session(sessions, session_id, lines):
    writer = sessions.new(session_id)
    update = sessions.line(SessionUpdate(title='"type":"run_begin"'))
    writer.append(update)
    assert not sessions.data.root.exists()
    begin = sessions.run()
    writer.append(begin)
    (path,) = sessions.paths(session_id)
    assert writer.path == path and path.name == f"{session_id}_001.jsonl"
    first, *rest = lines(path)
    assert MESSAGE.validate_json(first).payload.session_id == session_id
    assert rest == [update, begin]


def test_begin_makes_the_file_appear_without_a_run(sessions, session_id, lines):
    sessions.new(session_id).begin()
    assert len(lines(sessions.paths(session_id)[0])) == 1


def test_a_line_is_in_the_file_when_append_returns_in_one_write(sessions, disk, lines):
    writer, id = started(sessions)
    before = len(disk.writes)
    sent = [sessions.text(str(number)) for number in range(3)]
    for number, line in enumerate(sent):
        writer.append(line)
        assert lines(sessions.paths(id)[0])[-1] == line
        assert disk.writes[before:] == [one + b"\n" for one in sent[: number + 1]]


def test_directories_and_files_are_private_whatever_the_umask(sessions, data):
    before = os.umask(0)
    try:
        started(sessions)
    finally:
        os.umask(before)
    for path in (data.root, *data.root.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_nothing_is_left_beside_the_trace(sessions):
    _, id = started(sessions)
    assert [path.name for path in sessions.paths(id)[0].parent.iterdir()] == [f"{id}_001.jsonl"]


@pytest.mark.parametrize("at_most", [1, 7])
def test_a_write_that_takes_a_part_is_gone_on_with(sessions, disk, lines, at_most):
    disk.at_most = at_most
    writer, id = started(sessions)
    sent = [sessions.text("a" * 30), sessions.text("b" * 30)]
    for line in sent:
        writer.append(line)
    assert lines(sessions.paths(id)[0])[2:] == sent
    assert not sessions.warnings


def test_a_full_disk_is_said_once_and_what_was_held_comes_in_order(sessions, disk, lines, warnings):
    writer, id = started(sessions)
    disk.room = 5
    sent = [sessions.text(str(number)) for number in range(10)]
    for line in sent[:8]:
        writer.append(line)
    assert lines(sessions.paths(id)[0])[2:] == []
    (warning,) = warnings
    assert os.strerror(errno.ENOSPC) in warning and "\n" not in warning
    disk.room = None
    for line in sent[8:]:
        writer.append(line)
    assert lines(sessions.paths(id)[0])[2:] == sent
    assert writer.dropped == 0 and len(warnings) == 1


@pytest.mark.parametrize("code", [errno.EROFS, errno.EIO, errno.EDQUOT, errno.ESTALE])
def test_any_error_of_the_disk_is_survived(sessions, disk, lines, warnings, code):
    writer, id = started(sessions)
    disk.room, disk.error = 0, code
    sent = [sessions.text("a"), sessions.text("b")]
    writer.append(sent[0])
    disk.room = None
    writer.append(sent[1])
    assert lines(sessions.paths(id)[0])[2:] == sent
    assert os.strerror(code) in warnings[0]


def test_a_directory_that_cannot_be_made_is_tried_again(sessions, data, session_id, lines, warnings):
    data.root.write_text("in the way")
    writer = sessions.new(session_id)
    sent = [sessions.run(), sessions.text("a")]
    writer.append(sent[0])
    assert len(warnings) == 1
    data.root.unlink()
    writer.append(sent[1])
    assert lines(sessions.paths(session_id)[0])[1:] == sent


def test_a_disk_without_room_for_the_first_line_leaves_no_file(sessions, disk, session_id):
    disk.room = 10
    writer = sessions.new(session_id)
    sent = [sessions.run(), sessions.text("a")]
    writer.append(sent[0])
    assert not [path for path in sessions.data.root.rglob("*") if path.is_file()]
    disk.room = None
    writer.append(sent[1])
    assert len(writer.history(10).messages) == 3 and sessions.paths(session_id)


def test_beyond_its_memory_the_oldest_are_given_up_and_counted(sessions, disk, lines, warnings):
    writer, id = started(sessions, held_bytes=1000)
    disk.room = 5
    sent = [sessions.text(f"{number:03d}") for number in range(50)]
    for line in sent:
        writer.append(line)
    assert len(warnings) == 2
    disk.room = None
    last = sessions.text("last")
    writer.append(last)
    written = lines(sessions.paths(id)[0])[2:]
    kept = 50 - writer.dropped
    # The line that was in the file in part is ended there; then come the newest, as many as fitted.
    assert written == [sent[0], *sent[len(sent) - kept + 1 :], last]
    assert 0 < sum(map(len, written[:-1])) <= 1000
    assert len(warnings) == 2


def test_memory_short_over_a_rotation_still_opens_the_new_file(sessions, disk, lines):
    writer, id = started(sessions, held_bytes=300)
    disk.room = 0
    head = [sessions.line(sessions.meta(id))]
    for number in range(3):
        writer.append(sessions.text(f"old {number}"))
    for _ in range(2):
        writer.rotate(head)
        for number in range(9):
            writer.append(sessions.text(f"new {number}"))
    disk.room = None
    last = sessions.text("last")
    writer.append(last)
    first, second = map(lines, sessions.paths(id))
    assert len(first) == 2
    assert second[0] == head[0] and second[-1] == last and 2 < len(second) < 9


def test_a_rotation_waits_for_the_next_write(sessions, lines):
    writer, id = started(sessions)
    head = [sessions.line(sessions.meta(id)), sessions.line(SessionUpdate(title="t"))]
    writer.rotate([b"overtaken by the next"])
    writer.rotate(head)
    assert len(sessions.paths(id)) == 1
    line = sessions.text("a")
    writer.append(line)
    first, second = map(lines, sessions.paths(id))
    assert writer.path == sessions.paths(id)[1]
    assert line not in first and second == [*head, line]
    writer.append(line)
    assert len(sessions.paths(id)) == 2


def test_a_rotation_while_the_disk_is_full_keeps_the_files_apart(sessions, disk, lines):
    writer, id = started(sessions)
    old, new, head = sessions.text("old"), sessions.text("new"), [sessions.line(sessions.meta(id))]
    disk.room = 3
    writer.append(old)
    writer.rotate(head)
    writer.append(new)
    disk.room = None
    last = sessions.text("last")
    writer.append(last)
    first, second = map(lines, sessions.paths(id))
    assert first[-1] == old and second == [*head, new, last]


@pytest.mark.asyncio
async def test_after_a_torn_line_the_next_begins_a_line_of_its_own(sessions, lines):
    writer, id = started(sessions)
    await writer.close()
    (path,) = sessions.paths(id)
    whole = lines(path)
    with path.open("ab") as file:
        file.write(b'{"timestamp": "2026-')
    torn = path.read_bytes()
    again = sessions.resume(id)
    assert path.read_bytes() == torn
    sent = [sessions.text("a"), sessions.text("b")]
    for line in sent:
        again.append(line)
    assert lines(path) == [*whole, b'{"timestamp": "2026-', *sent]
    await again.close()


@pytest.mark.asyncio
async def test_resuming_goes_on_in_the_newest_file_and_writes_nothing_by_itself(sessions, lines):
    writer, id = started(sessions)
    writer.rotate([sessions.line(sessions.meta(id))])
    writer.append(sessions.text("a"))
    await writer.close()
    before = [path.read_bytes() for path in sessions.paths(id)]
    again = sessions.resume(id)
    await again.sync()
    assert [path.read_bytes() for path in sessions.paths(id)] == before
    update = sessions.line(SessionUpdate(title="t"))
    again.append(update)
    assert lines(sessions.paths(id)[-1])[-1] == update
    await again.close()


def test_resuming_what_is_not_there_is_not_found_and_makes_nothing(sessions, session_id):
    for id in (session_id, "../x"):
        with pytest.raises(SessionNotFound):
            sessions.resume(id)
    assert not sessions.data.root.exists()


@pytest.mark.asyncio
async def test_a_session_has_one_writer_until_it_is_closed(sessions):
    writer, id = started(sessions)
    with pytest.raises(SessionBusy):
        sessions.resume(id)
    writer.rotate([sessions.line(sessions.meta(id))])
    writer.append(sessions.text("a"))
    with pytest.raises(SessionBusy):
        sessions.resume(id)
    await writer.close()
    await sessions.resume(id).close()


@pytest.mark.asyncio
async def test_a_closed_trace_takes_nothing_and_complains_of_nothing(sessions, lines):
    writer, id = started(sessions)
    await writer.close()
    before = lines(sessions.paths(id)[0])
    writer.append(sessions.text("late"))
    await writer.sync()
    await writer.close()
    assert lines(sessions.paths(id)[0]) == before and not sessions.warnings


@pytest.mark.asyncio
async def test_closing_without_a_run_leaves_nothing(sessions, session_id):
    writer = sessions.new(session_id)
    writer.append(sessions.line(SessionUpdate(title="t")))
    await writer.close()
    assert not sessions.data.root.exists() and not sessions.warnings


@pytest.mark.asyncio
async def test_closing_on_a_full_disk_says_that_something_is_lost(sessions, disk, warnings):
    writer, _ = started(sessions)
    disk.room = 0
    writer.append(sessions.text("a"))
    await writer.close()
    assert len(warnings) == 2


@pytest.mark.asyncio
async def test_sync_reaches_every_file_that_was_written(sessions, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(str(Path(f"/proc/self/fd/{number}").readlink())))
    writer, id = started(sessions)
    writer.rotate([sessions.line(sessions.meta(id))])
    writer.append(sessions.text("a"))
    await writer.sync()
    paths = sessions.paths(id)
    assert {str(path) for path in (*paths, paths[0].parent)} <= set(synced)
    synced.clear()
    await writer.sync()
    assert synced == [str(paths[1])]
    await writer.close()


@pytest.mark.asyncio
async def test_a_sync_that_fails_is_said_and_stops_nothing(sessions, monkeypatch, warnings, lines):
    def fail(descriptor):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    writer, id = started(sessions)
    monkeypatch.setattr(os, "fsync", fail)
    await writer.sync()
    await writer.sync()
    assert len(warnings) == 1 and os.strerror(errno.EIO) in warnings[0]
    line = sessions.text("a")
    writer.append(line)
    assert lines(sessions.paths(id)[0])[-1] == line


@pytest.mark.asyncio
async def test_a_sync_writes_what_is_held_if_there_is_room_again(sessions, disk, lines):
    writer, id = started(sessions)
    disk.room = 0
    line = sessions.text("a")
    writer.append(line)
    disk.room = None
    await writer.sync()
    assert lines(sessions.paths(id)[0])[-1] == line
    await writer.close()


@pytest.mark.asyncio
async def test_no_descriptor_is_left_open(sessions):
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    writer, id = started(sessions)
    for _ in range(3):
        writer.rotate([sessions.line(sessions.meta(id))])
        writer.append(sessions.text("a"))
        await writer.sync()
    with pytest.raises(SessionBusy):
        sessions.resume(id)
    await writer.close()
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


@pytest.mark.asyncio
async def test_a_cancelled_sync_leaves_no_descriptor_and_no_lock(sessions):
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    blocked, executor = threading.Event(), ThreadPoolExecutor(1)
    asyncio.get_running_loop().set_default_executor(executor)
    executor.submit(blocked.wait)
    writer, id = started(sessions)
    for stop in (writer.sync, writer.close):
        task = asyncio.ensure_future(stop())
        asyncio.get_running_loop().call_soon(task.cancel)
        with pytest.raises(asyncio.CancelledError):
            await task
    again = sessions.resume(id)
    blocked.set()
    await again.close()
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 400), st.booleans()), max_size=12))
def test_whatever_the_disk_does_no_line_is_lost_doubled_or_moved(fresh_sessions, rooms):
    sessions = fresh_sessions()
    writer, id = started(sessions)
    sent = []
    for number, (room, rotates) in enumerate(rooms):
        sessions.disk.room = room
        if rotates:
            writer.rotate([sessions.line(sessions.meta(id))])
        sent.append(sessions.text(f"line {number}"))
        writer.append(sent[-1])
    expected = len(rooms) + 2 + sum(rotates for _, rotates in rooms)
    assert len(writer.history(100).messages) == expected
    sessions.disk.room = None
    writer.begin()
    written = [line for path in sessions.paths(id) for line in path.read_bytes().split(b"\n")[:-1]]
    assert [line for line in written if b'"line ' in line] == sent
    assert len(written) == len(writer.history(100).messages) == expected
