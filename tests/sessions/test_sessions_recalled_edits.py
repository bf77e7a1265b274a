"""Which edits of an earlier process a resumed session still lists, and which of them can be undone."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.sessions.edit_records import CHANGED
from agent_lsp.tools.editor import Change, TextEdit
from tests.sessions.recalling import LINES, Working

pytestmark = pytest.mark.asyncio


async def undo_all(session):
    return [(edit.state, edit.reason) for edit in await session.files.edits.undo(None, None)]


async def test_edits_are_listed_with_their_runs_and_calls_and_are_undone_from_the_last(first, root):
    await first.edit("a.txt", "line 3\n", "three\n")
    await first.edit("a.txt", "three\n", "THREE\nand a half\n")
    await first.call("apply_patch", patch="--- a/b.txt\n+++ b/b.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n")
    before = first.files.edits.list()
    again = first.resumed()
    edits = again.files.edits.list()
    assert [(one.run_id, one.tool_call_id, one.path) for one in edits] == [
        (one.run_id, one.tool_call_id, one.path) for one in before
    ]
    assert [one.state for one in edits] == ["changed", "pending", "pending"], "as in the process that made them"
    assert [one.state for one in before] == [one.state for one in edits]
    assert await undo_all(again) == [("undone", None)] * 3
    assert (root / "a.txt").read_text() == LINES and (root / "b.txt").read_text() == "one\ntwo\n"
    assert again.files.edits.list() == []


async def test_what_the_person_has_kept_and_undone_stays_so(first, root):
    await first.edit("a.txt", "line 3\n", "three\n")
    await first.edit("a.txt", "three\n", "THREE\nand a half\n")
    await first.edit("a.txt", "line 15\n", "fifteen\n")
    await first.edit("b.txt", "two", "2")
    first.files.edits.keep([first.files.edits.list()[-2].edit_id], None)
    await first.files.edits.undo([one.edit_id for one in first.files.edits.list()[:2]], None)
    await first.tools.close()
    again = first.resumed()
    assert again.states() == ["kept", "pending"]
    again.files.edits.keep(None, None)
    await again.tools.close()
    third = again.resumed()
    assert third.states() == ["kept", "kept"] and first.files.judged.path.stat().st_mode & 0o777 == 0o600
    assert await undo_all(third) == [("kept", None)] * 2, "all means all that are not kept"
    await third.files.edits.undo([third.files.edits.list()[0].edit_id], None)
    assert (root / "a.txt").read_text() == LINES


@pytest.mark.parametrize("places", [3, [3], [[3], [3]], [{"a": 1}, "kept"], ["kept", "both"]])
async def test_verdicts_of_a_damaged_file_are_none(first, places):
    await first.edit("a.txt", "line 3\n", "three\n")
    first.files.judged.path.parent.mkdir()
    first.files.judged.path.write_text(json.dumps({"call-1": {str(first.root / "a.txt"): places}}))
    assert first.resumed().states() == ["pending"]


@pytest.mark.parametrize("found", ["", "[]", "{", '{"call-1": 3}'])
async def test_what_are_no_verdicts_at_all_are_none(first, found):
    await first.edit("a.txt", "line 3\n", "three\n")
    first.files.judged.path.parent.mkdir()
    first.files.judged.path.write_text(found)
    assert first.resumed().states() == ["pending"]


async def test_verdicts_that_cannot_be_written_cost_nothing_else(first, caplog):
    await first.edit("a.txt", "line 3\n", "three\n")
    first.files.judged.path.parent.write_text("in the way")
    first.files.edits.keep(None, None)
    await first.tools.close()
    assert first.states() == ["kept"] and "could not be written" in caplog.text
    assert first.resumed().states() == ["pending"]


async def test_what_others_have_changed_elsewhere_in_the_file_stays(first, root):
    await first.edit("a.txt", "line 15\n", "fifteen\n")
    (root / "a.txt").write_text("above\n" + (root / "a.txt").read_text().replace("line 30\n", "thirty\n"))
    again = first.resumed()
    [edit] = again.files.edits.list()
    assert edit.state == "pending" and edit.text[edit.start : edit.end] == "fifteen\n"
    assert await undo_all(again) == [("undone", None)]
    assert (root / "a.txt").read_text() == "above\n" + LINES.replace("line 30\n", "thirty\n")


async def test_an_edit_that_somebody_has_reached_into_cannot_be_undone_and_says_so(first, root):
    await first.edit("a.txt", "line 15\n", "fifteen\n")
    (root / "a.txt").write_text((root / "a.txt").read_text().replace("fifteen", "XV"))
    again = first.resumed()
    assert again.states() == ["changed"]
    assert await undo_all(again) == [("changed", CHANGED)]
    assert "XV" in (root / "a.txt").read_text()


async def test_of_a_call_with_several_places_those_that_stand_are_undone(first, root):
    await first.edit("a.txt", "5\n", "five\n", replace_all=True)
    (root / "a.txt").write_text((root / "a.txt").read_text().replace("line 1five", "XV"))
    again = first.resumed()
    assert sorted(again.states()) == ["changed", "pending", "pending"]
    await undo_all(again)
    assert (root / "a.txt").read_text() == LINES.replace("line 15\n", "XV\n")


async def test_an_edit_that_was_undone_by_hand_is_not_listed(first, root):
    await first.edit("a.txt", "line 15\n", "fifteen\n")
    (root / "a.txt").write_text(LINES)
    assert first.resumed().states() == []


async def test_lines_that_are_there_twice_are_only_taken_for_the_edit_at_its_own_place(first, root):
    block = "1\n2\n3\nx\n4\n5\n6\n"
    (root / "a.txt").write_text(block + "1\n2\n3\ny\n4\n5\n6\n")
    await first.edit("a.txt", "y\n", "x\n")
    again = first.resumed()
    await undo_all(again)
    await again.tools.close()
    assert (root / "a.txt").read_text() == block + "1\n2\n3\ny\n4\n5\n6\n"
    await first.edit("a.txt", "y\n", "x\n")
    (root / "a.txt").write_text("above\n" + (root / "a.txt").read_text())
    assert first.resumed().states() == ["changed"]


async def test_a_file_that_was_made_is_deleted_again_if_it_is_as_it_was_made(first, root):
    await first.write("new.txt", "fresh\r\ntext")
    again = first.resumed()
    assert again.states() == ["pending"]
    assert await undo_all(again) == [("undone", None)] and not (root / "new.txt").exists()
    await first.write("new.txt", "fresh\n")
    (root / "new.txt").write_text("mine\n")
    again = first.resumed()
    assert set(again.states()) == {"changed"}
    await undo_all(again)
    assert (root / "new.txt").read_text() == "mine\n"


async def test_what_was_overwritten_by_more_than_the_record_holds_cannot_be_undone(first, root):
    await first.write("a.txt", "".join(f"other {n}\n" for n in range(400)))
    again = first.resumed()
    [(state, reason)] = await undo_all(again)
    assert state == "changed" and "record does not hold" in reason
    assert again.files.edits.list()[0].reason == reason
    assert again.files.edits.texts(again.files.edits.list()[0].edit_id) is None


async def test_a_secret_that_was_masked_is_never_written(first, root):
    (root / "b.txt").write_text("key=12345678\ntwo\n")
    hiding = Working(root, secrets=["12345678"])
    await hiding.edit("b.txt", "key=12345678", "key=none")
    [(state, reason)] = await undo_all(hiding.resumed())
    assert state == "changed" and reason
    assert (root / "b.txt").read_text() == "key=none\ntwo\n"


async def test_line_ends_that_were_mixed_cannot_be_put_back(first, root):
    (root / "b.txt").write_bytes(b"one\r\ntwo\nthree\n")
    await first.edit("b.txt", "one\ntwo\nthree\n", "1\n2\n")
    now = (root / "b.txt").read_bytes()
    [(state, reason)] = await undo_all(first.resumed())
    assert state == "changed" and "line ends" in reason and (root / "b.txt").read_bytes() == now


@pytest.mark.parametrize(
    ("before", "calls"),
    [
        (b"a\nb\n", [("write", "A\r\nb\r\n")]),
        (b"a\r\n", [("edit", "\n", ""), ("edit", "a", "a\nb")]),
        (b"a\nb", [("edit", "a\nb", "x")]),
    ],
)
async def test_line_ends_that_the_record_does_not_tell_are_not_guessed(first, root, before, calls):
    (root / "b.txt").write_bytes(before)
    for name, *given_ in calls:
        await getattr(first, name)("b.txt", *given_)
    answers = await undo_all(first.resumed())
    assert (root / "b.txt").read_bytes() == before or any("line ends" in (reason or "") for _, reason in answers)


async def test_a_deletion_and_a_move_cannot_be_undone(first, root):
    await first.call("apply_patch", patch="*** Begin Patch\n*** Update File: b.txt\n*** Move to: c.txt\n*** End Patch")
    answers = await undo_all(first.resumed())
    assert [state for state, _ in answers] == ["changed", "changed"] and (root / "c.txt").exists()


async def test_a_file_that_became_a_link_is_left_alone(first, root, tmp_path):
    await first.edit("b.txt", "two", "2")
    (tmp_path / "elsewhere").write_text("one\n2\n")
    (root / "b.txt").unlink()
    (root / "b.txt").symlink_to(tmp_path / "elsewhere")
    [(state, reason)] = await undo_all(first.resumed())
    assert state == "changed" and "plainly" in reason
    assert (tmp_path / "elsewhere").read_text() == "one\n2\n"


async def test_a_new_edit_stands_beside_those_of_before_and_ids_of_before_name_nothing(first, root):
    await first.edit("a.txt", "line 15\n", "fifteen\n")
    old = first.files.edits.list()[0].edit_id
    again = first.resumed()
    await again.edit("a.txt", "line 25\n", "twenty-five\n")
    edits = again.files.edits
    assert again.states() == ["pending", "pending"] and edits.unknown([old]) == [old]
    assert await edits.undo([old], None) == []
    assert await undo_all(again) == [("undone", None)] * 2
    assert (root / "a.txt").read_text() == LINES


async def test_a_run_that_ran_commands_is_remembered(first):
    await first.call("exec_command", cmd="true")
    run_id, again = first.run_id, first.resumed()
    assert again.files.ran_commands() and again.files.ran_commands(run_id)
    assert not again.files.ran_commands(again.run_id)


async def test_calls_that_did_nothing_are_no_edits(first):
    await first.edit("a.txt", "no such line", "x")
    await first.write("b.txt", "one\ntwo\n")
    await first.call("apply_patch", patch="--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-nine\n+2\n")
    assert first.resumed().states() == []


async def test_what_is_too_much_is_forgotten_from_the_oldest(first, monkeypatch):
    await first.edit("a.txt", "line 15\n", "fifteen\n")
    await first.edit("a.txt", "line 25\n", "twenty-five\n")
    monkeypatch.setattr("agent_lsp.sessions.recalled_edits._MOST_CHARACTERS", 3 * len(LINES))
    [edit] = first.resumed().files.edits.list()
    assert "twenty-five" in edit.text[edit.start : edit.end]


ENDS = st.sampled_from(["\n", "\r\n"])
WORDS = st.lists(st.sampled_from(["a", "b", "c", "😀", "", "x y"]), max_size=8)


def as_text(words, end, is_open):
    return end.join(words) + (end if words and not is_open else "")


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), WORDS, st.booleans()),
        st.tuples(st.just("edit"), st.sampled_from(["a", "b", "c\n", "\n"]), WORDS),
    ),
    min_size=1,
    max_size=5,
)


async def play(root, text, steps) -> Working:
    root.mkdir()
    (root / "a").write_bytes(text.encode())
    first = Working(root)
    for step, one, more in steps:
        if step == "write":
            await first.write("a", as_text(one, "\n", more))
        else:
            await first.edit("a", one, "\n".join(more), replace_all=True)
    return first


@settings(deadline=None, max_examples=200)
@given(WORDS, ENDS, st.booleans(), STEPS)
async def test_undoing_everything_restores_the_exact_text_or_says_what_was_not_undone(
    tmp_path_factory, words, end, is_open, steps
):
    text = as_text(words, end, is_open)
    first = await play(tmp_path_factory.mktemp("w") / "work", text, steps)
    again = first.resumed()
    answers = await undo_all(again)
    now = (first.root / "a").read_bytes().decode()
    if all(state == "undone" for state, _ in answers):
        assert now == text
    else:
        assert all(reason for state, reason in answers if state != "undone")


@settings(deadline=None, max_examples=200)
@given(WORDS, STEPS, st.integers(0, 8))
async def test_what_the_person_has_typed_is_never_lost(tmp_path_factory, words, steps, line):
    first = await play(tmp_path_factory.mktemp("w") / "work", as_text(words, "\n", False), steps)
    lines = (first.root / "a").read_text().splitlines(True)
    lines.insert(min(line, len(lines)), "mine\n")
    (first.root / "a").write_text("".join(lines))
    await undo_all(first.resumed())
    assert "mine\n" in (first.root / "a").read_text()


async def test_an_edit_beside_the_tools_is_recorded_as_ever(first, root):
    again = first.resumed()
    found = await again.files.editor.read(root / "b.txt")
    await again.files.editor.replace([Change(root / "b.txt", found, (TextEdit(0, 3, "1"),))], "Edit")
    assert again.states() == ["pending"]
