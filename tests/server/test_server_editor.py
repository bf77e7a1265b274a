"""Edits of what the editor holds: buffers, the disk, and what may never happen to either."""

from __future__ import annotations

import asyncio
import stat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.messages.content import ToolCall
from agent_lsp.server.documents import applying, saving
from agent_lsp.tools.difference import applied
from agent_lsp.tools.editor import Applied, Change, Refused, Snapshot, Stale, TextEdit, Unknown
from agent_lsp.tools.tool import CURRENT_CALL
from tests.server.model_editor import ModelEditor

pytestmark = pytest.mark.asyncio
ENCODINGS = ("utf-8", "utf-16", "utf-32")


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("hello\nworld\n")
    (folder / "b.txt").write_text("one\ntwo\n")
    return folder


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(applying, "_PATIENCE_S", 0.02)


async def change(editor, path, old, new):
    """What edit_file would ask for."""
    snapshot = await editor.port.read(path)
    assert isinstance(snapshot, Snapshot)
    start = snapshot.text.index(old)
    return Change(path, snapshot, (TextEdit(start, start + len(old), new),))


async def edit(editor, path, old, new):
    return await editor.port.replace([await change(editor, path, old, new)], f"Edit {path.name}")


# --- where an edit is made --------------------------------------------------------------------------------------------


async def test_a_closed_file_is_written_to_the_disk(work):
    editor = ModelEditor(work)
    assert await edit(editor, work / "a.txt", "world", "there") == Applied()
    assert (work / "a.txt").read_text() == "hello\nthere\n" and not editor.asked


async def test_a_clean_document_is_edited_in_the_editor_and_saved(work):
    editor = ModelEditor(work)
    buffer = editor.open(work / "a.txt")
    assert await edit(editor, work / "a.txt", "world", "there") == Applied()
    assert buffer.text == (work / "a.txt").read_text() == "hello\nthere\n"
    assert editor.saves == [buffer.uri]


async def test_a_dirty_document_is_edited_and_not_saved_and_the_model_hears_of_it(work):
    editor = ModelEditor(work)
    buffer = editor.open(work / "a.txt", "mine\nworld\n")
    outcome = await edit(editor, work / "a.txt", "world", "there")
    assert isinstance(outcome, Applied) and "not saved" in outcome.notes[0]
    assert buffer.text == "mine\nthere\n" and not editor.saves
    assert (work / "a.txt").read_text() == "hello\nworld\n"


async def test_a_client_that_takes_no_edits_has_its_clean_files_written_and_its_dirty_ones_left_alone(work):
    editor = ModelEditor(work, apply=False)
    editor.open(work / "a.txt")
    dirty = editor.open(work / "b.txt", "mine\ntwo\n")
    assert await edit(editor, work / "a.txt", "world", "there") == Applied()
    assert isinstance(await edit(editor, work / "b.txt", "two", "2"), Refused)
    assert (work / "a.txt").read_text() == "hello\nthere\n"
    assert (dirty.text, (work / "b.txt").read_text()) == ("mine\ntwo\n", "one\ntwo\n") and not editor.asked


async def test_a_clean_document_behind_the_disk_gives_way_to_it(work):
    editor = ModelEditor(work)
    editor.open(work / "a.txt")
    (work / "a.txt").write_text("by a command\n")
    assert await edit(editor, work / "a.txt", "command", "program") == Applied()
    assert (work / "a.txt").read_text() == "by a program\n" and not editor.asked


async def test_a_client_that_cannot_save_is_told_once_and_the_model_each_time(work):
    editor = ModelEditor(work, saveDocument=False)
    editor.open(work / "a.txt")
    for old, new in (("world", "there"), ("there", "here")):
        outcome = await edit(editor, work / "a.txt", old, new)
        assert isinstance(outcome, Applied) and "not saved" in outcome.notes[0]
    assert [method for method, _ in editor.told] == ["window/showMessage"]
    assert (work / "a.txt").read_text() == "hello\nworld\n"


async def test_what_somebody_types_before_the_save_is_not_saved(work, monkeypatch):
    editor = ModelEditor(work)
    buffer = editor.open(work / "a.txt")
    real = editor._apply

    async def apply_and_type(params):
        answer = await real(params)
        editor.type(buffer, buffer.text + "half a wo")
        return answer

    monkeypatch.setattr(editor, "_apply", apply_and_type)
    outcome = await edit(editor, work / "a.txt", "world", "there")
    assert isinstance(outcome, Applied) and "unsaved" in outcome.notes[0]
    assert not editor.saves and buffer.text == "hello\nthere\nhalf a wo"


async def test_what_a_command_writes_before_the_save_is_not_written_over(work):
    editor = ModelEditor(work)
    buffer = editor.open(work / "a.txt")
    editor.before_apply = lambda: (work / "a.txt").write_text("by a command\n")
    outcome = await edit(editor, work / "a.txt", "world", "there")
    assert isinstance(outcome, Applied) and "disk" in outcome.notes[0]
    assert not editor.saves and buffer.text == "hello\nthere\n"
    assert (work / "a.txt").read_text() == "by a command\n"


async def test_what_the_editor_saves_by_itself_is_not_saved_again(work, monkeypatch):
    editor = ModelEditor(work)
    buffer = editor.open(work / "a.txt")
    real = editor._apply

    async def apply_and_save(params):
        answer = await real(params)
        editor.save(buffer)
        return answer

    monkeypatch.setattr(editor, "_apply", apply_and_save)
    assert await edit(editor, work / "a.txt", "world", "there") == Applied()
    assert not editor.saves and (work / "a.txt").read_text() == "hello\nthere\n"


async def test_an_editor_that_does_not_save_is_not_waited_for(work, monkeypatch):
    editor = ModelEditor(work)
    editor.open(work / "a.txt")
    monkeypatch.setattr(saving, "_PATIENCE_S", 0.01)
    real = editor.request

    async def never_saves(method, params):
        return await (asyncio.Event().wait() if method == "agent/saveDocument" else real(method, params))

    monkeypatch.setattr(editor, "request", never_saves)
    outcome = await edit(editor, work / "a.txt", "world", "there")
    assert isinstance(outcome, Applied) and "could not save" in outcome.notes[0]


# --- what is sent -----------------------------------------------------------------------------------------------------


async def test_the_edit_names_the_version_and_the_tool_call(work):
    editor = ModelEditor(work)
    buffer = editor.open(work / "a.txt")
    editor.type(buffer, "Hello\nworld\n")
    CURRENT_CALL.set(ToolCall(name="edit_file", arguments="{}", tool_call_id="call-7"))
    await edit(editor, work / "a.txt", "world", "there")
    ((sent,),) = [one["documentChanges"] for one in editor.edits]
    assert sent["textDocument"] == {"uri": buffer.uri, "version": 2}
    ((id, annotation),) = editor.edits[0]["changeAnnotations"].items()
    assert sent["edits"][0]["annotationId"] == id and "edit_file (call-7)" in annotation["description"]


async def test_a_client_without_versions_gets_plain_changes_after_our_own_check(work):
    editor = ModelEditor(work, versions=False)
    buffer = editor.open(work / "a.txt")
    assert await edit(editor, work / "a.txt", "world", "there") == Applied()
    assert list(editor.edits[0]) == ["changes"]
    stale = await change(editor, work / "a.txt", "there", "here")
    editor.type(buffer, "hello\nthere, typed\n")
    assert await editor.port.replace([stale], "x") == Stale(work / "a.txt", "hello\nthere, typed\n")
    assert len(editor.edits) == 1


async def test_no_edit_is_sent_for_nothing(work):
    editor = ModelEditor(work)
    editor.open(work / "a.txt")
    assert await edit(editor, work / "a.txt", "world", "world") == Applied()
    assert not editor.asked


@settings(deadline=None, max_examples=60)
@given(
    st.text(alphabet="a😀é\r\n\x0c\u2028", max_size=12),
    st.text(alphabet="a😀é\r\n\x0c\u2028", max_size=12),
    st.sampled_from(ENCODINGS),
    st.booleans(),
)
async def test_any_text_becomes_any_other_in_every_encoding(tmp_path_factory, old, new, encoding, is_open):
    work = tmp_path_factory.mktemp("work") / "w"
    work.mkdir()
    (work / "a").write_bytes(old.encode())
    editor = ModelEditor(work, encoding)
    if is_open:
        editor.open(work / "a")
    snapshot = await editor.port.read(work / "a")
    assert isinstance(snapshot, Snapshot) and snapshot.text == old
    whole = Change(work / "a", snapshot, (TextEdit(0, len(old), new),))
    assert await editor.port.replace([whole], "x") == Applied()
    assert (work / "a").read_bytes() == new.encode()


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize(
    "raw",
    [b"\xef\xbb\xbfone\r\nold\r\n", b"one\nold", b"one\r\nold\nthree\r", b"\r\n\r\nold\x0c\r\n"],
    ids=["bom", "no-final-newline", "mixed", "form-feed"],
)
async def test_bytes_outside_the_edit_never_change(work, raw, is_open):
    path = work / "bytes"
    path.write_bytes(raw)
    editor = ModelEditor(work)
    if is_open:
        editor.open(path)
    assert await edit(editor, path, "old", "new") == Applied()
    assert path.read_bytes() == raw.replace(b"old", b"new")


async def test_a_text_in_another_encoding_than_the_editor_thinks_is_never_saved_by_us(work):
    path = work / "latin"
    path.write_bytes(b"caf\xe9 old\n")
    editor = ModelEditor(work)
    buffer = editor.open(work / "b.txt")
    editor.close(buffer)
    buffer.path, buffer.uri, buffer.text = path, path.as_uri(), "caf\ufffd old\n"
    editor.buffers[buffer.uri] = buffer
    from agent_lsp.server.documents.params import OpenParams

    item = {"uri": buffer.uri, "version": 1, "text": buffer.text}
    editor.documents.opened(OpenParams.model_validate({"textDocument": item}))
    outcome = await edit(editor, path, "old", "new")
    assert isinstance(outcome, Applied) and outcome.notes and not editor.saves
    assert path.read_bytes() == b"caf\xe9 old\n"


async def test_links_and_modes_stay(work):
    (work / "a.txt").chmod(0o640)
    (work / "link").symlink_to("a.txt")
    editor = ModelEditor(work)
    assert await edit(editor, work / "link", "world", "there") == Applied()
    buffer = editor.open(work / "a.txt")
    assert await edit(editor, work / "link", "there", "here") == Applied()
    assert buffer.text == "hello\nhere\n" == (work / "a.txt").read_text()
    assert (work / "link").is_symlink() and stat.S_IMODE((work / "a.txt").stat().st_mode) == 0o640


# --- when it is not made ----------------------------------------------------------------------------------------------


async def test_a_text_that_has_moved_on_is_stale_and_stays(work):
    editor = ModelEditor(work)
    buffer = editor.open(work / "a.txt")
    editor.before_apply = lambda: editor.type(buffer, "hello\nworld typed\n")
    assert await edit(editor, work / "a.txt", "world", "there") == Stale(work / "a.txt", "hello\nworld typed\n")
    assert buffer.text == "hello\nworld typed\n" and not editor.saves


@pytest.mark.parametrize("way", ["refuses", "fails"])
async def test_a_refusal_says_why_and_holds_the_present_text(work, way):
    editor = ModelEditor(work)
    editor.open(work / "a.txt")
    setattr(editor, way, "read-only" if way == "refuses" else True)
    outcome = await edit(editor, work / "a.txt", "world", "there")
    assert isinstance(outcome, Refused) and outcome.text == "hello\nworld\n"
    assert ("read-only" if way == "refuses" else "fell over") in outcome.reason
    assert (work / "a.txt").read_text() == "hello\nworld\n"


async def test_what_nobody_has_seen_happen_is_unknown(work):
    editor = ModelEditor(work)
    editor.open(work / "a.txt")
    editor.lies = True
    assert await edit(editor, work / "a.txt", "world", "there") == Unknown(work / "a.txt", "hello\nworld\n")
    assert len(editor.edits) == 1 and not editor.saves


@pytest.mark.parametrize("answer", [{"applied": True}, None, "odd"])
async def test_an_edit_counts_that_is_told_after_the_answer_whatever_that_was(work, monkeypatch, answer):
    editor = ModelEditor(work)
    buffer = editor.open(work / "a.txt")

    async def answer_first(params):
        later = editor._edited(buffer.text, params["documentChanges"][0]["edits"])
        asyncio.get_running_loop().call_later(0.001, editor.type, buffer, later)
        return answer

    monkeypatch.setattr(editor, "_apply", answer_first)
    assert await edit(editor, work / "a.txt", "world", "there") == Applied()
    assert (work / "a.txt").read_text() == "hello\nthere\n"


async def test_an_edit_of_the_wrong_text_is_unknown_and_never_saved(work, monkeypatch):
    editor = ModelEditor(work)
    buffer = editor.open(work / "a.txt")

    async def applies_what_is_stale(params):
        editor.type(buffer, "typed\nhello\nworld\n")
        editor.type(buffer, "typed\nthere\nworld\n")
        return {"applied": True}

    monkeypatch.setattr(editor, "_apply", applies_what_is_stale)
    outcome = await edit(editor, work / "a.txt", "world", "there")
    assert outcome == Unknown(work / "a.txt", "typed\nthere\nworld\n") and not editor.saves


async def test_a_document_that_is_closed_meanwhile_is_unknown(work):
    editor = ModelEditor(work)
    buffer = editor.open(work / "a.txt")
    editor.lies = True
    editor.before_apply = lambda: editor.close(buffer)
    assert isinstance(await edit(editor, work / "a.txt", "world", "there"), Unknown)


async def test_a_document_closed_since_it_was_read_is_edited_on_the_disk_if_the_text_is_the_same(work):
    editor = ModelEditor(work)
    buffer = editor.open(work / "a.txt")
    same = await change(editor, work / "a.txt", "world", "there")
    editor.close(buffer)
    assert await editor.port.replace([same], "x") == Applied()
    buffer = editor.open(work / "b.txt", "mine\ntwo\n")
    other = await change(editor, work / "b.txt", "two", "2")
    editor.close(buffer)
    assert await editor.port.replace([other], "x") == Stale(work / "b.txt", "one\ntwo\n")
    assert (work / "b.txt").read_text() == "one\ntwo\n"


async def test_a_file_opened_since_it_was_read_is_edited_in_the_editor(work):
    editor = ModelEditor(work)
    read = await change(editor, work / "a.txt", "world", "there")
    buffer = editor.open(work / "a.txt")
    assert await editor.port.replace([read], "x") == Applied()
    assert buffer.text == "hello\nthere\n" and len(editor.edits) == 1


# --- several files ----------------------------------------------------------------------------------------------------


async def test_open_and_closed_files_change_together(work):
    editor = ModelEditor(work)
    a, c = editor.open(work / "a.txt"), editor.open(work / "new.txt", "")
    changes = [
        await change(editor, work / "a.txt", "world", "there"),
        await change(editor, work / "b.txt", "two", "2"),
        Change(work / "made" / "d.txt", None, (TextEdit(0, 0, "d\n"),)),
    ]
    assert await editor.port.replace(changes, "x") == Applied()
    assert a.text == "hello\nthere\n" and c.text == ""
    assert (work / "b.txt").read_text() == "one\n2\n" and (work / "made" / "d.txt").read_text() == "d\n"


async def test_a_refused_edit_leaves_the_disk_alone(work):
    editor = ModelEditor(work)
    editor.open(work / "a.txt")
    editor.refuses = "no"
    changes = [await change(editor, work / "b.txt", "two", "2"), await change(editor, work / "a.txt", "world", "there")]
    assert isinstance(await editor.port.replace(changes, "x"), Refused)
    assert (work / "b.txt").read_text() == "one\ntwo\n"


async def test_a_stale_file_on_the_disk_leaves_the_editor_alone(work):
    editor = ModelEditor(work)
    editor.open(work / "a.txt")
    changes = [await change(editor, work / "a.txt", "world", "there"), await change(editor, work / "b.txt", "two", "2")]
    (work / "b.txt").write_text("other\n")
    assert await editor.port.replace(changes, "x") == Stale(work / "b.txt", "other\n")
    assert not editor.asked


async def test_when_the_disk_refuses_the_editor_gets_its_text_back(work):
    editor = ModelEditor(work)
    buffer = editor.open(work / "a.txt")
    (work / "file").write_text("no folder")
    changes = [
        await change(editor, work / "a.txt", "world", "there"),
        Change(work / "b.txt" / "below", None, (TextEdit(0, 0, "x"),)),
    ]
    assert isinstance(await editor.port.replace(changes, "x"), Refused | Stale)
    assert buffer.text == "hello\nworld\n" == (work / "a.txt").read_text()


async def test_a_file_with_unsaved_changes_is_not_deleted(work):
    editor = ModelEditor(work)
    editor.open(work / "a.txt", "mine\n")
    snapshot = await editor.port.read(work / "a.txt")
    assert isinstance(snapshot, Snapshot)
    assert isinstance(await editor.port.replace([Change(work / "a.txt", snapshot, None)], "x"), Refused)
    assert (work / "a.txt").exists()


async def test_a_file_that_is_open_moves_with_its_encoding(work):
    (work / "bom").write_bytes(b"\xef\xbb\xbfx\r\n")
    editor = ModelEditor(work)
    editor.open(work / "bom")
    snapshot = await editor.port.read(work / "bom")
    assert isinstance(snapshot, Snapshot)
    moved = Change(work / "to", None, (TextEdit(0, 0, "y\r\n"),), mode_of=work / "bom", written_like=snapshot)
    assert await editor.port.replace([moved, Change(work / "bom", snapshot, None)], "x") == Applied()
    assert (work / "to").read_bytes() == b"\xef\xbb\xbfy\r\n" and not (work / "bom").exists()


# --- reading ----------------------------------------------------------------------------------------------------------


async def test_only_unsaved_texts_are_given_to_a_search_by_the_file_they_are(work):
    (work / "link.txt").symlink_to("b.txt")
    editor = ModelEditor(work)
    editor.open(work / "a.txt")
    buffer = editor.open(work / "link.txt", "mine\n")
    assert editor.port.unsaved() == {work / "b.txt": "mine\n"}
    editor.save(buffer)
    assert editor.port.unsaved() == {}


async def test_an_attached_file_is_what_the_editor_shows_by_uri_or_path(work):
    editor = ModelEditor(work)
    editor.open(work / "a.txt", "mine\n")
    assert editor.client.shown((work / "a.txt").as_uri()) == editor.client.shown(str(work / "a.txt")) == "mine\n"
    editor.open(work / "b.txt")
    (work / "b.txt").write_text("by a command\n")
    assert editor.client.shown(str(work / "b.txt")) is editor.client.shown("untitled:1") is None


async def test_a_stamp_changes_with_the_text_and_with_nothing_else(work):
    editor = ModelEditor(work)
    closed = editor.port.stamp(work / "a.txt")
    buffer = editor.open(work / "a.txt")
    opened = editor.port.stamp(work / "a.txt")
    assert opened == editor.port.stamp(work / "a.txt") != closed
    editor.type(buffer, "x")
    assert editor.port.stamp(work / "a.txt") != opened
    assert editor.port.stamp(work / "none") is None


# --- diagnostics ------------------------------------------------------------------------------------------------------


def finding(message, line=1, **more):
    place = {"line": line, "character": 0}
    return {"range": {"start": place, "end": place}, "message": message, **more}


async def test_new_diagnostics_of_the_edited_files_are_told_once(work):
    editor = ModelEditor(work, diagnostics=True)
    buffer = editor.open(work / "a.txt")
    said = [finding("bad", severity=1, source="ruff"), finding("a hint", severity=4)]
    editor.diagnose = lambda params: {"items": [{"uri": buffer.uri, "diagnostics": said}]}
    told = await editor.port.diagnostics([work / "a.txt"])
    assert "2:1 error: bad (ruff)" in told and "hint" not in told
    said = [finding("bad", line=5, severity=1), finding("worse", severity=2)]
    told = await editor.port.diagnostics([work / "a.txt"])
    assert "warning: worse" in told and ": bad" not in told
    assert editor.asked == [("agent/diagnostics", {"uri": buffer.uri})] * 2


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "nonsense",
        {"items": "x"},
        {"items": [None, {"uri": 3}, {"uri": "file:///x", "diagnostics": [3, {"message": 1}, {"range": 1}]}]},
    ],
)
async def test_an_odd_answer_is_no_diagnostics(work, answer):
    editor = ModelEditor(work, diagnostics=True)
    editor.diagnose = lambda params: answer
    assert await editor.port.diagnostics([work / "a.txt"]) == ""


async def test_diagnostics_of_an_older_version_are_left_out(work):
    editor = ModelEditor(work, diagnostics=True)
    buffer = editor.open(work / "a.txt")
    editor.type(buffer, "typed\n")
    item = {"uri": buffer.uri, "version": 1, "diagnostics": [finding("old")]}
    editor.diagnose = lambda params: {"items": [item]}
    assert await editor.port.diagnostics([work / "a.txt"]) == ""


async def test_a_client_that_cannot_tell_is_not_asked(work):
    editor = ModelEditor(work)
    assert editor.client.findings is None and await editor.port.diagnostics([work / "a.txt"]) == ""
    assert not editor.asked


# --- nothing that is typed is ever lost -------------------------------------------------------------------------------

WORDS = st.sampled_from(["x", "😀", "\n", "\r\n", "ab\n", "é"])
PERSON = st.tuples(st.sampled_from(["type", "undo", "save", "close", "open", "command"]), st.integers(0, 40), WORDS)
OMEGAS = st.sampled_from(["Ω", "Ω\n", "Ω\r\n😀"])  # which nobody else writes
AGENT = st.tuples(st.just("agent"), st.integers(0, 40), OMEGAS)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(PERSON | AGENT, max_size=12),
    st.lists(PERSON, max_size=3),
    st.lists(PERSON, max_size=3),
    st.sampled_from(["honest", "lies", "refuses", "fails"]),
    st.booleans(),
)
async def test_whatever_the_agent_does_what_the_person_typed_stays(
    tmp_path_factory, story, between, during, manner, versions
):
    """The agent only ever inserts, so all text that was ever there but for what the person took back must survive.

    What a command writes while an edit is on its way survives on the disk, whatever becomes of the edit.
    """
    work = tmp_path_factory.mktemp("work") / "w"
    work.mkdir()
    path = work / "a"
    path.write_text("hello\nworld\n")
    editor = ModelEditor(work, versions=versions)
    if manner != "honest":
        setattr(editor, manner, "no" if manner == "refuses" else True)
    person = _Person(editor, path)
    for action in story:
        if action[0] != "agent":
            person.act(*action)
            continue
        snapshot = await editor.port.read(path)
        if not isinstance(snapshot, Snapshot):
            continue
        at = min(action[1], len(snapshot.text))
        for one in between:
            person.act(*one)
        queued = list(during) if versions else []  # a client without versions cannot see that its text has moved on
        editor.before_apply = lambda queued=queued: [person.act(*queued.pop(0)) for _ in tuple(queued)]
        edits = (TextEdit(at, at, action[2]),)
        held, person.has_run_a_command = person.buffer, False
        outcome = await editor.port.replace([Change(path, snapshot, edits)], "x")
        editor.before_apply = lambda: None
        if isinstance(outcome, Applied):
            wanted = applied(snapshot.text, edits)
            is_saved = person.truth() == person.disk() == wanted and not person.has_run_a_command
            assert is_saved or (person.in_buffer() == wanted and person.disk() == person.left_on_disk)
        else:
            assert person.disk() == person.left_on_disk
            # One that was closed and opened again has its old version: the edit may land there, and nobody knows.
            is_anew = held is not None and person.buffer is not None and person.buffer is not held
            may_land = is_anew and isinstance(outcome, Unknown)
            landed = [applied(person.left_in_buffer, edits)] if may_land else []
            assert person.in_buffer() in (person.left_in_buffer, *landed)
        person.leave()


class _Person:
    """Does things to one file, and keeps how it was left in both places: on the disk also by commands."""

    def __init__(self, editor: ModelEditor, path) -> None:
        self.editor, self.path = editor, path
        self.buffer = None
        self.has_run_a_command = False
        self.leave()

    def disk(self) -> str:
        return self.path.read_bytes().decode()

    def in_buffer(self) -> str | None:
        return self.buffer.text if self.buffer else None

    def truth(self) -> str:
        """The text that counts: the buffer's if it is newer than the disk, else the disk's."""
        disk = self.disk()
        if self.buffer and (self.buffer.text != self.buffer.saved or self.buffer.saved == disk):
            return self.buffer.text
        return disk

    def leave(self) -> None:
        self.left_on_disk, self.left_in_buffer = self.disk(), self.in_buffer()

    def act(self, what: str, at: int, word: str) -> None:
        buffer = self.buffer
        match what:
            case "open" if buffer is None:
                self.buffer = self.editor.open(self.path)
            case "type" if buffer:
                at = min(at, len(buffer.text))
                self.editor.type(buffer, buffer.text[:at] + word + buffer.text[at:])
            case "undo" if buffer and buffer.history:
                self.editor.undo(buffer)
            case "save" if buffer:
                self.editor.save(buffer)
            case "close" if buffer:
                self.editor.close(buffer)
                self.buffer = None
            case "command" if buffer is None or buffer.text == buffer.saved:
                self.has_run_a_command = True
                self.path.write_bytes((self.disk() + word).encode())
            case _:
                return
        self.leave()
