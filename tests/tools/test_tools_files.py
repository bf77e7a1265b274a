from __future__ import annotations

import pytest

from agent_lsp.messages.content import ToolCall
from agent_lsp.policy.access import EditPreview, TextPreview

from .conftest import call

pytestmark = pytest.mark.asyncio


async def test_lines_are_numbered_from_the_offset_and_the_note_tells_how_to_go_on(session):
    (session.root / "long.txt").write_text("".join(f"line {n}\n" for n in range(1, 2502)))
    first = await session.use("read_file", file_path="long.txt")
    assert first.output.startswith("     1\tline 1\n") and "\n  2000\tline 2000\n[" in first.output
    assert "go on with offset 2001" in first.output
    second = await session.use("read_file", file_path="./long.txt", offset="2001", limit=2)
    assert second.output.startswith("  2001\tline 2001\n  2002\tline 2002\n[")
    rest = await session.use("read_file", file_path=str(session.root / "long.txt"), offset=2501)
    assert rest.output == "  2501\tline 2501\n"


async def test_an_empty_file_and_an_offset_beyond_the_end_are_said(session):
    (session.root / "empty").touch()
    empty = await session.use("read_file", file_path="empty")
    beyond = await session.use("read_file", file_path="hello.txt", offset=3)
    assert not empty.failed and empty.output and beyond.failed and "2 lines" in beyond.output


async def test_the_note_survives_long_lines(session):
    (session.root / "wide").write_text(("x" * 1990 + "\n") * 100)
    output = (await session.use("read_file", file_path="wide")).output
    assert "go on with offset" in output.splitlines()[-1] and "truncated" not in output


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("helo.txt", "hello.txt"),
        ("HELLO.TXT", "hello.txt"),
        ("no/such/thing", "exists"),
        ("sub/hello.txt", "Did you mean hello.txt"),
    ],
)
async def test_a_wrong_path_names_the_nearest(session, path, words):
    done = await session.use("read_file", file_path=path)
    assert done.failed and words in done.output


async def test_writing_answers_with_what_changed(session):
    new = await session.use("write_file", file_path="a/b.txt", content="x\ny")
    assert new.output == "Created a/b.txt (2 lines, 3 bytes)."
    again = await session.use("write_file", file_path="a/b.txt", content="x\nz")
    assert "-y" in again.output and "+z" in again.output
    same = await session.use("write_file", file_path="a/b.txt", content="x\nz")
    assert "already" in same.output and not same.failed


async def test_a_bom_and_crlf_survive_a_whole_new_content(session):
    file = session.root / "dos.txt"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    await session.use("write_file", file_path="dos.txt", content="1\n2\n")
    assert file.read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n"


async def test_edits_answer_with_a_diff(session):
    done = await session.use("edit_file", file_path="hello.txt", old_string="world", new_string="there")
    assert done.output == "--- a/hello.txt\n+++ b/hello.txt\n@@ -1,2 +1,2 @@\n hello\n-world\n+there\n"


async def test_previews_show_the_edit_and_change_nothing(session):
    write = call("write_file", {"file_path": "new.txt", "content": "fresh\n"})
    preview = await session.toolset.preview(write)
    assert isinstance(preview, EditPreview) and preview.created and "+fresh" in preview.diff
    edit = call("edit_file", {"file_path": "hello.txt", "old_string": "world", "new_string": "\x1b[2J"})
    shown = await session.toolset.preview(edit)
    assert not shown.created and "+\\x1b[2J" in shown.diff
    none = call("edit_file", {"file_path": "hello.txt", "old_string": "nowhere", "new_string": "x"})
    assert isinstance(await session.toolset.preview(none), TextPreview)
    assert [one.name for one in session.root.iterdir()] == ["hello.txt"]


@pytest.mark.parametrize("created", [True, False])
async def test_a_preview_leaves_nothing_of_the_edit_out_however_long_it_is(session, created):
    lines = [f"line {number}" for number in range(900)] + ["x" * 5_000]
    if not created:
        (session.root / "long.txt").write_text("before\n")
    write = call("write_file", {"file_path": "long.txt", "content": "\n".join(lines)})

    preview = await session.toolset.preview(write)

    assert isinstance(preview, EditPreview)
    assert [line[1:] for line in preview.diff.splitlines() if line[:1] == "+" and line[:3] != "+++"] == lines


async def test_a_patch_is_told_by_all_its_paths(session):
    patch = "*** Begin Patch\n*** Update File: a\n*** Move to: ../b\n@@\n-x\n+y\n*** Add File: c\n+z\n*** End Patch"
    this: ToolCall = call("apply_patch", {"patch": patch})
    access = session.toolset.access(this)
    assert access.kind == "edit"
    assert access.paths == (session.root / "a", session.root / "../b", session.root / "c")


async def test_a_moved_file_keeps_mode_and_encoding(session):
    source = session.root / "run.sh"
    source.write_bytes(b"\xef\xbb\xbfecho hi\r\n")
    source.chmod(0o755)
    patch = "*** Begin Patch\n*** Update File: run.sh\n*** Move to: bin/go.sh\n@@\n-echo hi\n+echo ho\n*** End Patch"
    assert not (await session.use("apply_patch", patch=patch)).failed
    target = session.root / "bin/go.sh"
    assert target.read_bytes() == b"\xef\xbb\xbfecho ho\r\n" and target.stat().st_mode & 0o777 == 0o755
    assert not source.exists()


async def test_a_patch_that_does_not_fit_everywhere_changes_nothing(session):
    patch = "*** Begin Patch\n*** Add File: new/a\n+x\n*** Update File: hello.txt\n@@\n-nowhere\n+y\n*** End Patch"
    done = await session.use("apply_patch", patch=patch)
    assert done.failed and "hello.txt" in done.output and [one.name for one in session.root.iterdir()] == ["hello.txt"]


async def test_the_plan_is_read_back(session):
    done = await session.use("todo_write", items=[{"text": "one", "status": "done"}, {"text": "two"}])
    assert done.output == "[x] one\n[ ] two"


@pytest.mark.parametrize(
    ("answer", "output"), [("yes", "yes"), (["a", "b"], "a\nb"), (None, "The person did not answer.")]
)
async def test_the_persons_answer_is_the_output(make_session, answer, output):
    asked = []

    async def ask(question, options, *, multiple):
        asked.append((question, options, multiple))
        return answer

    done = await make_session(ask=ask).use("ask_user", question="which?", options=["a", "b"], multiple=True)
    assert done.output == output and asked == [("which?", ["a", "b"], True)] and done.failed == (answer is None)


async def test_without_anybody_to_ask_asking_fails(session):
    assert (await session.use("ask_user", question="which?")).failed
