"""What both kinds of trace of an open session have in common: their history."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.errors import InvalidParams
from agent_lsp.messages.envelope import encode
from agent_lsp.messages.events import SessionUpdate
from agent_lsp.trace.memory import MemoryTrace


def open_trace(sessions, kind):
    return MemoryTrace(sessions.meta()) if kind == "memory" else sessions.new()


def pages(trace, limit, between=lambda: None):
    found, cursor = [], None
    while True:
        page = trace.history(limit, cursor)
        found.append(page.messages)
        if not page.next_cursor:
            return found
        cursor = page.next_cursor
        between()


def pages_from_the_end(trace, limit, between=lambda: None):
    found, cursor, earlier = [], None, None
    while True:
        page = trace.latest(limit, cursor)
        assert earlier is None or len(page.messages) + (page.earlier or 0) == earlier
        found.insert(0, page.messages)
        if not page.previous_cursor:
            assert page.earlier is None
            return found
        earlier = page.earlier
        cursor = page.previous_cursor
        between()


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_history_is_there_before_the_first_run(sessions, kind):
    trace = open_trace(sessions, kind)
    update = sessions.line(SessionUpdate(title="t"))
    trace.append(update)
    meta, last = trace.history(10).messages
    assert meta.type == "session_meta" and encode(last) == update
    assert not sessions.data.root.exists()


@pytest.mark.parametrize("kind", ["memory", "disk"])
@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_of_any_size_make_the_same_history_over_all_files(sessions, kind, limit):
    trace = open_trace(sessions, kind)
    sent = [sessions.run(), sessions.text("a"), sessions.line(sessions.meta()), sessions.text("b"), sessions.text("c")]
    for line in sent[:2]:
        trace.append(line)
    trace.rotate([sent[2]])
    for line in sent[3:]:
        trace.append(line)
    found = pages(trace, limit)
    assert [encode(message) for page in found for message in page][1:] == sent
    assert all(len(page) == limit for page in found[:-1]) and len(found[-1]) > 0


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_a_history_that_grows_while_it_is_paged_repeats_and_misses_nothing(sessions, kind):
    trace = open_trace(sessions, kind)
    sent = [sessions.run(), *(sessions.text(str(number)) for number in range(5))]
    for line in sent:
        trace.append(line)

    def grow():
        if len(sent) < 12:
            sent.append(sessions.text(f"later {len(sent)}"))
            trace.rotate([])
            trace.append(sent[-1])

    assert [encode(m) for page in pages(trace, 2, grow) for m in page][1:] == sent


@pytest.mark.parametrize("kind", ["memory", "disk"])
@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_from_the_end_make_the_same_history_whatever_is_added_meanwhile(sessions, kind, limit):
    trace = open_trace(sessions, kind)
    sent = [sessions.run(), sessions.text("a"), sessions.text("b"), sessions.line(sessions.meta()), sessions.text("c")]
    for line in sent[:3]:
        trace.append(line)
    trace.rotate([sent[3]])
    trace.append(sent[4])

    def grow():
        trace.rotate([])
        trace.append(sessions.text("later"))

    found = pages_from_the_end(trace, limit, grow)
    assert [encode(message) for page in found for message in page][1:] == sent
    assert all(len(page) == limit for page in found[1:]) and len(found[0]) > 0


@pytest.mark.parametrize("kind", ["memory", "disk"])
@pytest.mark.parametrize("is_written", [False, True])
def test_a_page_of_the_end_says_how_much_is_before_it_and_its_cursor_reads_on_from_there(sessions, kind, is_written):
    trace = open_trace(sessions, kind)
    for number in range(3):
        trace.append(sessions.text(str(number)))
    if is_written:
        trace.append(sessions.run())
        trace.rotate([])
    trace.append(sessions.text("last"))
    whole = trace.history(100).messages
    for limit in range(1, len(whole)):
        page = trace.latest(limit)
        assert page.earlier == len(whole) - limit
        assert trace.history(100, page.previous_cursor).messages == page.messages == whole[-limit:]


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_a_history_ends_where_it_ended_when_it_was_asked_for(sessions, kind):
    trace = open_trace(sessions, kind)
    trace.append(sessions.run())
    end = trace.end()
    trace.append(sessions.text("later"))
    trace.rotate([sessions.line(sessions.meta())])
    trace.append(sessions.text("later still"))
    assert len(trace.history(10, until=end).messages) == len(trace.latest(10, until=end).messages) == 2
    assert len(trace.history(10).messages) == len(trace.latest(10).messages) == 5
    assert trace.latest(1, until=end).messages == trace.history(10).messages[1:2]


@pytest.mark.parametrize("kind", ["memory", "disk"])
@pytest.mark.parametrize("cursor", ["", "nonsense", "ä", "MS4x\n", "LTEuMA==", "MS4=", "e30="])
def test_a_cursor_that_was_never_given_out_is_refused(sessions, kind, cursor):
    trace = open_trace(sessions, kind)
    for read in (trace.history, trace.latest):
        with pytest.raises(InvalidParams) as refused:
            read(10, cursor)
        assert refused.value.errors[0][0] == "cursor"


def test_what_the_disk_does_not_take_is_in_the_history_and_cursors_outlive_it(sessions, disk, session_id):
    trace = sessions.new(session_id)
    sent = [sessions.run(), *(sessions.text(str(number)) for number in range(4))]
    trace.append(sent[0])
    disk.room = 9
    for line in sent[1:3]:
        trace.append(line)
    trace.rotate([sessions.line(sessions.meta())])
    for line in sent[3:]:
        trace.append(line)
    first = trace.history(3)
    cursors = [trace.history(count).next_cursor for count in range(1, 6)]
    rest = [trace.history(10, cursor).messages for cursor in cursors]
    before = [trace.latest(10, cursor).messages for cursor in cursors]
    whole = trace.history(10).messages
    assert [(*earlier, *later) for earlier, later in zip(before, rest, strict=True)] == [whole] * 5
    assert tuple(message for page in pages_from_the_end(trace, 2) for message in page) == whole
    disk.room = None
    trace.begin()
    assert trace.history(3) == first
    assert [trace.history(10, cursor).messages for cursor in cursors] == rest
    assert [trace.latest(10, cursor).messages for cursor in cursors] == before
    assert [trace.history(count).next_cursor for count in range(1, 6)] == cursors


@pytest.mark.asyncio
async def test_after_a_torn_line_cursors_of_what_is_held_stay_good(sessions, disk, session_id):
    trace = sessions.new(session_id)
    trace.append(sessions.run())
    await trace.close()
    with sessions.paths(session_id)[0].open("ab") as file:
        file.write(b'{"torn')
    again = sessions.resume(session_id)
    disk.room = 0
    for number in range(2):
        again.append(sessions.text(str(number)))
    cursor = again.history(3).next_cursor
    held = again.history(10, cursor).messages
    disk.room = None
    again.begin()
    assert again.history(10, cursor).messages == held and len(held) == 1
    await again.close()


@settings(deadline=None, max_examples=50)
@given(st.lists(st.booleans(), max_size=15), st.integers(1, 6))
def test_memory_and_disk_tell_the_same_history(fresh_sessions, rotations, limit):
    sessions = fresh_sessions()
    meta = sessions.meta()
    traces = MemoryTrace(meta), sessions.new(meta.session_id)
    for number, rotates in enumerate(rotations):
        line, head = sessions.text(str(number)), [sessions.line(meta)]
        for trace in traces:
            if rotates:
                trace.rotate(head)
            trace.append(line)
            if number == 3:
                trace.begin()
    memory, disk = ([message.payload for page in pages(trace, limit) for message in page] for trace in traces)
    assert memory == disk
    for trace in traces:
        assert [message.payload for page in pages_from_the_end(trace, limit) for message in page] == memory


@pytest.mark.asyncio
async def test_a_closed_memory_trace_can_still_be_read(sessions):
    trace = MemoryTrace(sessions.meta())
    trace.append(sessions.text("a"))
    await trace.sync()
    await trace.close()
    trace.append(sessions.text("late"))
    assert len(trace.history(10).messages) == 2
