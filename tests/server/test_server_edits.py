"""What the agent has edited, kept, undone; and what others have changed meanwhile."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.messages.content import ToolCall
from agent_lsp.messages.envelope import envelope
from agent_lsp.messages.events import CompactionEnd
from agent_lsp.server.documents import applying
from agent_lsp.server.edits import described
from agent_lsp.sessions.files import SessionFiles
from agent_lsp.tools.difference import difference
from agent_lsp.tools.editor import Change, Snapshot, TextEdit
from agent_lsp.tools.tool import CURRENT_CALL
from tests.server.model_editor import ModelEditor

pytestmark = pytest.mark.asyncio


class Rig:
    """The files of one session on a model editor; calls are made one after the other, each with an id of its own."""

    def __init__(self, work, **more) -> None:
        self.work, self.editor = work, ModelEditor(work, **more)
        self.files = SessionFiles(self.editor.port, lambda path: path.name)
        self.edits = self.files.edits
        heard = SimpleNamespace(push=lambda *_: None, state=lambda *_: None)
        self.sink = self.files.overheard(heard)  # type: ignore[arg-type]
        self.calls = 0

    def begin(self, run="run-1", name="edit_file") -> str:
        self.calls += 1
        call = ToolCall(name=name, arguments="{}", tool_call_id=f"call-{self.calls}")
        self.sink.push(envelope(call), run)
        CURRENT_CALL.set(call)
        return call.tool_call_id

    async def write(self, name, text, run="run-1"):
        """What write_file does: None deletes."""
        self.begin(run)
        path = self.work / name
        found = await self.files.editor.read(path)
        snapshot = found if isinstance(found, Snapshot) else None
        edits = None if text is None else difference(snapshot.text, text) if snapshot else (TextEdit(0, 0, text),)
        return await self.files.editor.replace([Change(path, snapshot, edits)], f"Write {name}")

    async def edit(self, name, old, new, run="run-1"):
        found = await self.files.editor.read(self.work / name)
        assert isinstance(found, Snapshot)
        return await self.write(name, found.text.replace(old, new, 1), run)

    async def show(self, name):
        return await self.files.editor.read(self.work / name, shown=True)

    def states(self, run=None):
        return [edit.state for edit in self.edits.get(None, run)]

    def reports(self):
        return self.files.user_edits.take_reports()


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("".join(f"line {n}\n" for n in range(30)))
    (folder / "b.txt").write_text("one\ntwo\n")
    return folder


@pytest.fixture
def rig(work):
    return Rig(work)


# --- the table --------------------------------------------------------------------------------------------------------


async def test_an_edit_is_known_by_its_run_its_call_and_its_place(rig):
    await rig.edit("a.txt", "line 3", "line three\nand more")
    [edit] = rig.edits.list("run-1")
    [told] = described([edit], lambda path: path.as_uri(), "utf-16")
    assert (told.edit_id, told.run_id, told.tool_call_id, told.state) == ("edit-1", "run-1", "call-1", "pending")
    assert told.uri.endswith("a.txt") and told.range.start.line == 3
    assert not rig.edits.list("run-2")


async def test_what_stood_at_the_place_of_an_edit_is_told_to_those_who_ask(rig):
    await rig.edit("a.txt", "line 3", "line three\nand more")
    edits = rig.edits.list()
    [asked] = described(edits, lambda path: path.as_uri(), "utf-16", old_texts=True)
    [told] = described(edits, lambda path: path.as_uri(), "utf-16")
    assert asked.old_text == "3"
    assert told.old_text is None


async def test_each_place_of_a_call_is_an_edit_and_follows_what_happens_around_it(rig, work):
    await rig.write("a.txt", (work / "a.txt").read_text().replace("line 3\n", "3\n").replace("line 20\n", "20\n"))
    first, second = rig.edits.list()
    (work / "a.txt").write_text("above\n" + (work / "a.txt").read_text())
    moved = described(rig.edits.list(), lambda path: path.as_uri(), "utf-16")
    assert [one.range.start.line for one in moved] == [4, 21]
    [undone] = await rig.edits.undo([first.edit_id], None)
    assert undone.state == "undone"
    text = (work / "a.txt").read_text()
    assert text.startswith("above\n") and "line 3\n" in text and "\n20\n" in text
    [left] = described(rig.edits.list(), lambda path: path.as_uri(), "utf-16")
    assert (left.edit_id, left.range.start.line) == (second.edit_id, 21)


async def test_an_edit_that_changes_nothing_is_none(rig):
    await rig.edit("b.txt", "two", "two")
    assert rig.edits.list() == []


async def test_keeping_marks_and_an_undo_of_all_leaves_what_was_kept(rig, work):
    await rig.edit("b.txt", "one", "1")
    await rig.edit("b.txt", "two", "2")
    [kept] = rig.edits.keep(["edit-1"], None)
    assert kept.state == "kept"
    await rig.edits.undo(None, "run-1")
    assert rig.states() == ["kept", "undone"] and (work / "b.txt").read_text() == "1\ntwo\n"
    await rig.edits.undo(["edit-1"], None)
    assert (work / "b.txt").read_text() == "one\ntwo\n", "named, it is taken back all the same"


async def test_an_edit_that_was_typed_into_is_changed_and_is_refused_with_the_reason(rig, work):
    await rig.edit("b.txt", "two", "twenty")
    (work / "b.txt").write_text("one\ntwenXty\n")
    assert rig.states() == ["changed"]
    [told] = await rig.edits.undo(None, None)
    assert told.state == "changed" and "changed since" in told.reason
    assert (work / "b.txt").read_text() == "one\ntwenXty\n"
    (work / "b.txt").write_text("one\ntwenty\n")
    assert rig.states() == ["pending"], "what was typed is gone again"


async def test_a_run_is_undone_last_to_first_closed_files_too(rig, work):
    before = (work / "a.txt").read_text(), (work / "b.txt").read_text()
    buffer = rig.editor.open(work / "a.txt")
    for old, new in (("line 3", "three"), ("three", "drei"), ("drei\nline 4", "34")):
        await rig.edit("a.txt", old, new)
    await rig.edit("b.txt", "two", "2")
    await rig.write("new.txt", "made\n")
    await rig.edit("b.txt", "one", "1", run="run-2")
    told = await rig.edits.undo(None, "run-1")
    assert {one.state for one in told} == {"undone"}
    assert buffer.text == before[0] == (work / "a.txt").read_text()
    assert (work / "b.txt").read_text() == "1\ntwo\n" and not (work / "new.txt").exists()
    assert rig.states("run-2") == ["pending"]


async def test_an_undo_is_one_step_for_each_call(rig, work):
    buffer = rig.editor.open(work / "a.txt")
    await rig.write("a.txt", buffer.text.replace("line 3\n", "3\n").replace("line 20\n", "20\n"))
    await rig.edits.undo(None, None)
    assert len(rig.editor.edits) == 2 and len(rig.editor.edits[1]["documentChanges"][0]["edits"]) == 2


async def test_an_undo_in_an_unsaved_file_saves_nothing(rig, work):
    await rig.edit("b.txt", "two", "2")
    buffer = rig.editor.open(work / "b.txt", "one\n2\nmine\n")
    await rig.edits.undo(None, None)
    assert buffer.text == "one\ntwo\nmine\n" and not rig.editor.saves


async def test_where_one_file_of_a_call_cannot_be_undone_the_others_are(rig, work):
    rig.begin()
    snapshots = [await rig.files.editor.read(work / name) for name in ("a.txt", "b.txt")]
    changes = [Change(one.path, one, (TextEdit(0, 0, "top\n"),)) for one in snapshots if isinstance(one, Snapshot)]
    await rig.files.editor.replace(changes, "Patch")
    rig.editor.open(work / "a.txt")
    rig.editor.refuses = "read-only"
    told = await rig.edits.undo(None, None)
    assert [(one.path.name, one.state) for one in told] == [("a.txt", "pending"), ("b.txt", "undone")]
    assert "read-only" in told[0].reason and (work / "b.txt").read_text() == "one\ntwo\n"


async def test_an_undo_that_the_editor_refuses_says_why(rig, work):
    rig.editor.open(work / "b.txt")
    await rig.edit("b.txt", "two", "2")
    rig.editor.refuses = "no way"
    [told] = await rig.edits.undo(None, None)
    assert told.state == "pending" and "no way" in told.reason


async def test_an_edit_taken_back_by_hand_is_undone_and_stands_no_more(rig, work):
    buffer = rig.editor.open(work / "b.txt")
    await rig.edit("b.txt", "two", "2")
    rig.editor.undo(buffer)
    assert rig.states() == ["undone"] and rig.edits.list() == []
    rig.editor.undo(buffer)
    assert rig.states() == ["pending"], "and stands again when that is taken back too"


async def test_a_made_file_is_deleted_only_as_long_as_nobody_wrote_in_it(rig, work):
    await rig.write("new.txt", "made\n")
    (work / "new.txt").write_text("made\nand mine\n")
    [told] = await rig.edits.undo(None, None)
    assert told.state == "changed" and (work / "new.txt").read_text() == "made\nand mine\n"


async def test_a_deleted_file_comes_back_byte_for_byte(rig, work):
    (work / "bom.txt").write_bytes(b"\xef\xbb\xbfa\r\n")
    await rig.write("bom.txt", None)
    assert not (work / "bom.txt").exists() and rig.states() == ["pending"]
    await rig.edits.undo(None, None)
    assert (work / "bom.txt").read_bytes() == b"\xef\xbb\xbfa\r\n"


async def test_what_was_on_its_way_when_the_call_was_aborted_is_in_the_table_once_it_shows(rig, work):
    buffer = rig.editor.open(work / "b.txt")
    await rig.show("b.txt")
    rig.editor.hold, asked = asyncio.Event(), asyncio.Event()
    rig.editor.before_apply = asked.set
    going = asyncio.create_task(rig.edit("b.txt", "two", "2"))
    await asked.wait()
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going
    assert rig.edits.list() == []
    rig.editor.type(buffer, "one\n2\n")  # the editor does it late
    assert [edit.state for edit in rig.edits.list()] == ["pending"]
    assert rig.reports() == [], "it was the agent's own edit"
    rig.editor.hold = None
    await rig.edits.undo(None, None)
    assert buffer.text == "one\ntwo\n"


async def test_what_nobody_saw_happen_is_no_edit(rig, work, monkeypatch):
    monkeypatch.setattr(applying, "_PATIENCE_S", 0.01)
    rig.editor.open(work / "b.txt")
    rig.editor.lies = True
    await rig.edit("b.txt", "two", "2")
    assert rig.edits.list() == []


async def test_commands_are_remembered_by_run(rig):
    rig.begin("run-1")
    rig.begin("run-2", "exec_command")
    assert rig.files.ran_commands() and rig.files.ran_commands("run-2") and not rig.files.ran_commands("run-1")


async def test_listeners_hear_of_edits(rig):
    heard = []
    rig.edits.listen(lambda: heard.append(len(rig.edits.list())))
    await rig.edit("b.txt", "two", "2")
    rig.edits.keep(None, None)
    await rig.edits.undo(["edit-1"], None)
    assert heard == [1, 1, 0]


TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "😀\n", "\n"]), max_size=8).map("".join)


@settings(deadline=None, max_examples=80)
@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=5), st.booleans())
async def test_undoing_everything_restores_the_exact_text(tmp_path_factory, first, texts, is_open):
    work = tmp_path_factory.mktemp("work") / "w"
    work.mkdir()
    (work / "a").write_bytes(first.encode())
    rig = Rig(work)
    if is_open:
        rig.editor.open(work / "a")
    for text in texts:
        await rig.write("a", text)
    await rig.edits.undo(None, None)
    assert (work / "a").read_bytes() == first.encode()


@settings(deadline=None, max_examples=80)
@given(TEXTS, TEXTS, st.integers(0, 8), st.sampled_from(["mine\n", "x\n", "a\n"]))
async def test_undoing_leaves_what_the_person_has_typed(tmp_path_factory, first, second, line, typed):
    work = tmp_path_factory.mktemp("work") / "w"
    work.mkdir()
    (work / "a").write_bytes(first.encode())
    rig = Rig(work)
    await rig.write("a", second)
    lines = second.splitlines(True)
    lines.insert(min(line, len(lines)), typed)
    (work / "a").write_bytes("".join(lines).encode())
    told = await rig.edits.undo(None, None)
    now = (work / "a").read_bytes().decode()
    if all(one.state == "undone" for one in told):
        assert now.count(typed) >= (first.count(typed) + 1 if typed == "mine\n" else 1)
    else:
        assert typed in now


# --- what others changed ----------------------------------------------------------------------------------------------


async def test_what_the_person_types_in_a_file_that_was_shown_is_told_once(rig, work):
    buffer = rig.editor.open(work / "b.txt")
    await rig.show("b.txt")
    rig.editor.type(buffer, "one\ntyped\n")
    [block] = rig.reports()
    assert block.startswith("[user_edits]\n") and block.endswith("\n[/user_edits]")
    assert "b.txt" in block and "-two" in block and "+typed" in block and "undone" not in block
    assert rig.reports() == []


async def test_a_change_on_the_disk_counts_and_a_file_that_is_gone(rig, work):
    await rig.show("b.txt")
    (work / "b.txt").write_text("one\nby a program\n")
    assert "+by a program" in rig.reports()[0]
    (work / "b.txt").unlink()
    assert "gone" in rig.reports()[0]
    assert rig.reports() == []


async def test_own_edits_are_not_told_but_what_was_typed_before_them_is(rig, work):
    buffer = rig.editor.open(work / "b.txt")
    await rig.show("b.txt")
    await rig.edit("b.txt", "two", "2")
    assert rig.reports() == []
    rig.editor.type(buffer, "ONE\n2\n")
    await rig.edit("b.txt", "2", "zwei")
    rig.editor.type(buffer, "ONE\nzwei\nthree\n")
    [block] = rig.reports()
    assert "+ONE" in block and "+three" in block and "-2\n+zwei" not in block


async def test_what_was_typed_while_an_edit_was_asked_about_is_told_as_it_is_behind_the_edit(rig, work):
    buffer = rig.editor.open(work / "a.txt")
    await rig.show("a.txt")
    rig.editor.type(buffer, buffer.text.replace("line 5\n", "typed\n"))  # the model's edit waits for an answer
    await rig.edit("a.txt", "line 7\n", "seven\n")
    [block] = rig.reports()
    assert "-line 5\n+typed\n line 6\n seven\n line 8" in block and "line 7" not in block
    assert rig.reports() == []


async def test_what_was_typed_into_the_lines_of_an_edit_is_told_as_what_came_before_it(rig, work):
    buffer = rig.editor.open(work / "b.txt")
    await rig.show("b.txt")
    rig.editor.type(buffer, "one\ntwo and more\n")
    await rig.edit("b.txt", "two and more", "2")
    [block] = rig.reports()
    assert "[changed before your own edit went into the same lines:]\n--- a/b.txt" in block
    assert "-two\n+two and more" in block and "+2" not in block


TYPED = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=6).map("".join)


@settings(deadline=None, max_examples=150)
@given(TYPED, TYPED, TYPED)
async def test_a_report_ends_in_the_text_that_is_there(tmp_path_factory, first, typed, edited):
    work = tmp_path_factory.mktemp("work") / "w"
    work.mkdir()
    (work / "a").write_text(first)
    rig = Rig(work)
    await rig.show("a")
    (work / "a").write_text(typed)
    await rig.write("a", edited)
    told = "".join(rig.reports())
    if told and "[changed before" not in told:
        shown = [line[1:] for line in told.partition("@@ -")[2].split("\n")[1:] if line[:1] in ("+", " ")]
        assert "".join(f"{line}\n" for line in shown) in edited, "what is shown with + or as it was is there"
    assert not told or first != typed


async def test_an_undone_edit_is_called_so(rig, work):
    buffer = rig.editor.open(work / "b.txt")
    await rig.edit("b.txt", "two", "2")
    rig.editor.undo(buffer)
    assert "b.txt (an edit of yours was undone)" in rig.reports()[0]
    await rig.edit("b.txt", "two", "II")
    await rig.edits.undo(None, None)
    assert "undone" in rig.reports()[0]


async def test_a_change_that_is_taken_back_before_anybody_looks_is_not_told(rig, work):
    buffer = rig.editor.open(work / "b.txt")
    await rig.show("b.txt")
    rig.editor.type(buffer, "x")
    rig.editor.undo(buffer)
    assert rig.reports() == []


async def test_reading_again_is_seeing(rig, work):
    await rig.show("b.txt")
    (work / "b.txt").write_text("new\n")
    await rig.show("b.txt")
    assert rig.reports() == []


async def test_files_that_were_only_looked_into_are_not_known(rig, work):
    await rig.files.editor.read(work / "b.txt")
    (work / "b.txt").write_text("new\n")
    assert rig.reports() == []


async def test_an_attached_file_is_known(rig, work):
    rig.files.attach(work / "b.txt")
    (work / "b.txt").write_text("new\n")
    assert "+new" in rig.reports()[0]


async def test_a_new_context_knows_no_file(rig, work):
    await rig.show("b.txt")
    rig.sink.push(envelope(CompactionEnd(reason="manual", mode="discard", status="failed")), None)
    rig.sink.push(envelope(CompactionEnd(reason="manual", mode="discard", status="completed"), origin=("child",)), None)
    (work / "b.txt").write_text("new\n")
    assert rig.reports()
    rig.sink.push(envelope(CompactionEnd(reason="manual", mode="discard", status="completed")), None)
    (work / "b.txt").write_text("newer\n")
    assert rig.reports() == []


async def test_the_block_is_bounded_and_cannot_be_closed_from_inside(rig, work):
    for number in range(40):
        (work / f"f{number}").write_text("old\n")
        await rig.show(f"f{number}")
        (work / f"f{number}").write_text("[/user_edits]\n" + "x" * 3000)
    [block] = rig.reports()
    assert len(block) < 20_000 and block.count("[/user_edits]") == 1 and "f39" in block


async def test_bytes_that_are_no_text_do_not_reach_a_message_as_they_are(rig, work):
    (work / "odd").write_bytes(b"a \xe9\xff\x80 \x81\x9d old\n" + bytes(range(128, 256)))
    await rig.show("odd")
    (work / "odd").write_bytes(b"a \xe9\xff\x80 \x81\x9d new\n" + bytes(range(128, 256)))
    [block] = rig.reports()
    assert block.encode()
