import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.errors import InvalidParams, SessionBusy, SessionNotFound
from agent_lsp.messages.content import Text
from agent_lsp.messages.events import (
    CompactionBegin,
    CompactionEnd,
    RequestBegin,
    RequestEnd,
    SessionUpdate,
    TokenCounts,
    TokenUsage,
)
from agent_lsp.slotted import replace
from agent_lsp.trace.session_ids import new_session_id
from agent_lsp.trace.store import SessionStore
from agent_lsp.trace.summary import Totals, last_timestamp, scan

FULL = {"reason": "manual", "mode": "summarize"}


@pytest.fixture
def store(data):
    return SessionStore(data)


@pytest.fixture
def make(sessions):
    """Writes a closed session with the given payloads, a run before them, and tells its id."""

    async def write(*payloads, session_id=None, **meta):
        writer = sessions.new(session_id := session_id or new_session_id(), **meta)
        writer.append(sessions.run())
        for payload in payloads:
            writer.append(sessions.line(payload))
        await writer.close()
        return session_id

    return write


def usage(total, request=None, **more):
    return TokenUsage(session=TokenCounts(total=total), request=TokenCounts(total=request or total), **more)


def ids(page):
    return [session.session_id for session in page.sessions]


def listed(store, limit, **options):
    found, cursor = [], None
    while True:
        page = store.list(limit=limit, cursor=cursor, **options)
        found.append(ids(page))
        if not (cursor := page.next_cursor):
            return found


# -- list ---------------------------------------------------------------------


def test_without_a_data_directory_there_are_no_sessions_and_none_is_made(store, data):
    assert store.list().sessions == () and not data.root.exists()


@pytest.mark.asyncio
async def test_sessions_come_in_the_order_they_were_last_written(store, sessions, make):
    made = [await make() for _ in range(3)]
    writer = sessions.resume(made[0])
    writer.append(sessions.text("again"))
    page = store.list()
    assert ids(page) == [made[0], made[2], made[1]]
    updated = [session.updated_at for session in page.sessions]
    assert updated == sorted(updated, reverse=True)
    await writer.close()


@pytest.mark.asyncio
@pytest.mark.parametrize("limit", [1, 2, 5, 6])
async def test_pages_of_any_size_make_the_same_list(store, make, limit):
    made = [await make() for _ in range(5)]
    found = listed(store, limit)
    assert [id for page in found for id in page] == made[::-1]
    assert all(len(page) == limit for page in found[:-1]) and found[-1]


@pytest.mark.asyncio
async def test_a_session_that_is_written_between_two_pages_hides_no_other(store, sessions, make):
    made = [await make() for _ in range(4)]
    first = store.list(limit=2)
    writer = sessions.resume(made[0])
    writer.append(sessions.text("again"))
    await make()
    assert ids(store.list(limit=2, cursor=first.next_cursor)) == [made[1]]
    await writer.close()


@pytest.mark.asyncio
async def test_the_workspace_filters_before_the_page_is_cut(store, make):
    made = [await make(workspace=f"/w{number % 2}") for number in range(6)]
    assert [id for page in listed(store, 2, workspace="/w1") for id in page] == made[5::-2]
    assert store.list("/w").sessions == ()


@pytest.mark.asyncio
async def test_sessions_of_subagents_are_listed_only_on_demand(store, make):
    parent = await make()
    child = await make(source="subagent", parent_id=parent)
    assert ids(store.list()) == [parent]
    assert ids(store.list(subagents=True)) == [child, parent]


@pytest.mark.asyncio
async def test_what_is_no_readable_trace_is_left_out(store, data, make):
    kept, spoilt = await make(), await make()
    (path,) = (file.path for file in data.trace_files(spoilt))
    path.write_bytes(b"\n".join(path.read_bytes().split(b"\n")[1:]))
    (path.parent / f"{new_session_id()}_001.jsonl").touch()
    (path.parent / "notes.txt").write_text("x")
    assert ids(store.list()) == [kept]
    with pytest.raises(SessionNotFound):
        store.get(spoilt)


@pytest.mark.parametrize("cursor", ["", "nonsense", "MS4x", "ä"])
def test_a_cursor_that_was_never_given_out_is_refused(store, cursor):
    with pytest.raises(InvalidParams):
        store.list(cursor=cursor)


# -- what a session has come to -----------------------------------------------


@pytest.mark.asyncio
async def test_turns_tokens_and_settings_are_those_of_all_files(store, sessions, make):
    id = await make(
        SessionUpdate(title="first", approval_mode="auto"),
        usage(10, context_window=1000, compaction_at=800),
        RequestEnd(status="completed"),
        RequestEnd(status="failed", attempt=1),
        CompactionBegin(**FULL, context=10, turns=1),
        usage(25, 15),
        RequestEnd(status="completed"),
        CompactionEnd(**FULL, status="completed"),
    )
    (before,) = store.list().sessions
    assert (before.totals.turns, before.totals.usage.total, before.totals.context_tokens) == (1, 25, 0)
    writer = sessions.resume(id)
    writer.rotate([sessions.line(sessions.meta(id)), sessions.line(before.totals.settings)])
    for payload in (
        SessionUpdate(title="second", model="q/n", mode="loop"),
        usage(40, 15),
        RequestEnd(status="completed"),
    ):
        writer.append(sessions.line(payload))
    await writer.close()
    for after in (store.get(id), store.list().sessions[0], SessionStore(sessions.data).get(id)):
        assert (after.totals.turns, after.totals.usage.total, after.totals.context_tokens) == (2, 40, 15)
        assert (after.title, after.model, after.mode) == ("second", "q/n", "loop")
        assert after.totals.settings.approval_mode == "auto"
        assert (after.totals.context_window, after.totals.compaction_at) == (1000, 800)
        assert after.trace_path.name == f"{id}_002.jsonl"
    assert (before.title, before.model, before.mode) == ("first", "p/m", "native")


@pytest.mark.asyncio
async def test_a_compaction_that_a_crash_left_open_ends_with_the_next_run(store, sessions, make):
    id = await make(CompactionBegin(**FULL, context=10, turns=1))
    writer = sessions.resume(id)
    for line in (sessions.run("r2"), *sessions.turn(7)):
        writer.append(line)
    await writer.close()
    assert store.get(id).totals.turns == 1


@pytest.mark.asyncio
async def test_text_that_looks_like_an_event_counts_for_nothing(store, make):
    text = '{"timestamp":"t","type":"event_msg","payload":{"type":"request_end","status":"completed"}}'
    id = await make(Text(role="user", text=text), Text(role="user", text=f"\n{text}\n"))
    assert replace(store.get(id).totals, words=None) == Totals()


def said(text, **more):
    return Text(role="user", text=text, **more)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("payloads", "name"),
    [
        ([said("mend  the\nparser, please"), RequestBegin()], "mend the parser, please"),
        ([said("[user_edits]", sender="harness"), said("[attached file: a.py]\nx = 1"), said("why?")], "why?"),
        ([said("mend it"), RequestBegin(), said("and that"), SessionUpdate(title="A title")], "A title"),
        ([said("x" * 100 + "\x1b"), RequestBegin()], "x" * 79 + "…"),
        ([said("red \x1b[31m"), RequestBegin()], "red \\x1b[31m"),
        ([RequestBegin(), said("[user_steering]\nfaster\n[/user_steering]")], None),
        ([said("[attached image: a.png]"), RequestBegin()], None),
    ],
)
async def test_a_session_is_called_by_its_title_else_by_the_first_words_of_the_person(store, make, payloads, name):
    id = await make(*payloads)
    assert store.get(id).name == name == store.list().sessions[0].name


@pytest.mark.asyncio
async def test_the_last_update_is_that_of_the_last_whole_line_however_long(store, data, sessions, make):
    id = await make(Text(role="user", text="x" * 300_000))
    last = sessions.stamp.seconds
    (path,) = (file.path for file in data.trace_files(id))
    with path.open("ab") as file:
        file.write(b"not JSON\n" + b'{"timest' + b"y" * 100_000)
    assert store.get(id).updated_at.endswith(f":{last:02d}.000Z")


def test_without_any_whole_line_there_is_no_last_timestamp(tmp_path):
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b"x" * 10_000)
    assert last_timestamp(path, 10_000) is None


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from(["turn", "title", "rotate", "begin", "end"]), max_size=12), st.data())
def test_adding_up_in_steps_is_adding_up_at_once(fresh_sessions, steps, draw):
    sessions = fresh_sessions()
    writer = sessions.new(id := new_session_id())
    writer.append(sessions.run())
    last = None
    for number, step in enumerate(steps):
        if step == "rotate":
            writer.rotate([sessions.line(sessions.meta(id))])
        for line in {
            "turn": lambda number=number: sessions.turn(number + 1),
            "title": lambda number=number: [sessions.line(SessionUpdate(title=str(number)))],
            "rotate": list,
            "begin": lambda: [sessions.line(CompactionBegin(**FULL, context=1, turns=1))],
            "end": lambda: [sessions.line(CompactionEnd(**FULL, status="completed"))],
        }[step]():
            writer.append(line)
        if draw.draw(st.booleans()):
            last = scan(sessions.data.trace_files(id), last)
    files = sessions.data.trace_files(id)
    assert scan(files, last) == scan(files)
    expected = Totals()
    for message in writer.history(1000).messages:
        expected = expected.plus(message)
    assert scan(files).shown == expected


@pytest.mark.asyncio
async def test_a_cut_off_event_counts_once_it_is_whole(store, data, make):
    id = await make(usage(10), RequestEnd(status="completed"))
    (file,) = data.trace_files(id)
    whole = file.path.read_bytes()
    os.truncate(file.path, len(whole) - 2)
    assert store.get(id).totals.turns == 0
    for count in (1, 0):
        with file.path.open("ab") as opened:
            opened.write(whole[-2:][:1] if count else b"\n")
        assert store.get(id).totals.turns == 1


@pytest.mark.asyncio
async def test_a_second_look_reads_only_what_was_added(store, data, sessions, make, monkeypatch):
    id = await make(*[Text(role="user", text="x" * 1000) for _ in range(50)])
    store.list()
    writer = sessions.resume(id)
    for line in sessions.turn(3):
        writer.append(line)
    looked = []
    real = scan

    def watched(files, last=None):
        looked.append(last.offset if last else 0)
        return real(files, last)

    monkeypatch.setattr("agent_lsp.trace.store.scan", watched)
    assert store.list().sessions[0].totals.turns == 1
    assert looked[0] > 50_000
    await writer.close()


@pytest.mark.asyncio
async def test_a_session_whose_older_file_is_taken_away_is_still_listed(store, data, sessions, make):
    id = await make(usage(10), RequestEnd(status="completed"))
    writer = sessions.resume(id)
    writer.rotate([sessions.line(sessions.meta(id))])
    for line in sessions.turn(15):
        writer.append(line)
    await writer.close()
    assert store.list().sessions[0].totals.turns == 2
    data.trace_files(id)[0].path.unlink()
    assert store.list().sessions[0].totals.turns == store.get(id).totals.turns


# -- history, exists, delete --------------------------------------------------


@pytest.mark.asyncio
async def test_history_of_a_session_on_disk_comes_in_pages(store, sessions, make):
    id = await make(*[Text(role="user", text=str(number)) for number in range(5)])
    writer = sessions.resume(id)
    writer.rotate([sessions.line(sessions.meta(id))])
    writer.append(sessions.text("new"))
    await writer.close()
    whole = store.history(id).messages
    assert [message.payload.type for message in whole] == [
        "session_meta", "run_begin", *["text"] * 5, "session_meta", "text",
    ]  # fmt: skip
    found, cursor = [], None
    while True:
        page = store.history(id, 3, cursor)
        found += page.messages
        if not (cursor := page.next_cursor):
            break
        assert len(page.messages) == 3
    assert tuple(found) == whole


@pytest.mark.parametrize("id", ["session-20260101-000000-0123abcd", "nonsense", "../../../etc/passwd", ""])
def test_a_missing_session_is_not_found_and_nothing_is_made(store, data, id):
    assert not store.exists(id)
    for ask in (store.history, store.delete, store.get):
        with pytest.raises(SessionNotFound):
            ask(id)
    assert not data.root.exists()


@pytest.mark.asyncio
async def test_deleting_removes_traces_and_scratchpad_and_leaves_the_others(store, data, sessions, make):
    id, kept = await make(), await make()
    writer = sessions.resume(id)
    writer.rotate([sessions.line(sessions.meta(id))])
    writer.append(sessions.text("a"))
    await writer.close()
    for owner in (id, kept):
        (data.make_scratchpad(owner) / "image.png").write_bytes(b"x")
    store.list()
    store.delete(id)
    assert not store.exists(id) and ids(store.list()) == [kept]
    assert [path.name for path in (data.root / "scratchpad").iterdir()] == [kept]
    with pytest.raises(SessionNotFound):
        store.delete(id)


@pytest.mark.asyncio
async def test_deleting_removes_the_page_and_what_was_being_written_of_it(store, data, make):
    id, kept = await make(), await make()
    data.pages.mkdir()
    for name in (data.page(id).name, f".{data.page(id).name}.0123abcd", data.page(kept).name, data.usage_page.name):
        (data.pages / name).write_text("x")
    store.delete(id)
    assert {path.name for path in data.pages.iterdir()} == {data.page(kept).name, data.usage_page.name}


@pytest.mark.asyncio
async def test_deleting_removes_what_was_said_of_edits(store, data, make):
    id, kept = await make(), await make()
    folder = data.judged(id).parent
    folder.mkdir()
    for name in (data.judged(id).name, f".{data.judged(id).name}.0123abcd", data.judged(kept).name):
        (folder / name).write_text("{}")
    store.delete(id)
    assert [path.name for path in folder.iterdir()] == [data.judged(kept).name]


@pytest.mark.asyncio
async def test_a_page_that_was_left_alone_can_be_deleted(store, data):
    data.pages.mkdir(parents=True)
    data.page(id := new_session_id()).write_text("x")
    store.delete(id)
    assert list(data.pages.iterdir()) == []
    with pytest.raises(SessionNotFound):
        store.delete(id)


@pytest.mark.asyncio
async def test_deleting_the_last_session_of_a_day_removes_its_folder(store, data, make):
    store.delete(await make())
    assert list(data.sessions.iterdir()) == []


@pytest.mark.asyncio
async def test_a_session_that_left_only_a_scratchpad_can_be_deleted(store, data):
    scratchpad = data.make_scratchpad(id := new_session_id())
    store.delete(id)
    assert not scratchpad.exists()


@pytest.mark.asyncio
async def test_an_open_session_is_not_deleted(store, sessions, make):
    writer = sessions.resume(id := await make())
    with pytest.raises(SessionBusy):
        store.delete(id)
    assert store.exists(id)
    await writer.close()
    store.delete(id)
