"""What a resumed session knows of files, and what it is told of those that others have changed meanwhile."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agent_lsp.messages import markers
from agent_lsp.messages.content import Text, ToolCall, ToolCallOutput
from agent_lsp.messages.events import CompactionEnd
from tests.sessions.recalling import LINES, Working

pytestmark = pytest.mark.asyncio


async def test_a_file_that_was_read_and_changed_meanwhile_is_told_once(first, root):
    await first.read("b.txt")
    (root / "b.txt").write_text("one\n2\n")
    again = first.resumed()
    [block] = again.reports()
    assert "b.txt" in block and "-two\n+2" in block and "gone" not in block
    assert again.reports() == []
    assert again.resumed().reports() == [], "the trace tells that it was told"


async def test_a_file_that_is_as_it_was_seen_is_not_told(first):
    await first.read("b.txt")
    await first.read("a.txt")
    await first.edit("a.txt", "line 3\n", "three\n")
    await first.write("new.txt", "fresh\r\ntext")
    await first.edit("new.txt", "fresh", "stale")
    again = first.resumed()
    assert again.reports() == []


async def test_what_changes_after_the_resume_is_told_like_any_other_change(first, root):
    await first.read("b.txt")
    again = first.resumed()
    assert again.reports() == []
    (root / "b.txt").write_text("one\n2\n")
    assert "-two\n+2" in again.reports()[0]


async def test_the_edits_of_the_agent_are_what_it_knows(first, root):
    await first.read("a.txt")
    await first.edit("a.txt", "line 3\n", "three\nand a half\n")
    (root / "a.txt").write_text((root / "a.txt").read_text().replace("line 20\n", "twenty\n"))
    [block] = first.resumed().reports()
    assert "-line 20\n+twenty" in block and "-line 3\n" not in block and "+three" not in block


async def test_a_file_that_is_gone_is_told_as_gone(first, root):
    await first.read("b.txt")
    (root / "b.txt").unlink()
    [block] = first.resumed().reports()
    assert "b.txt (it is gone)" in block and "-two" in block
    await first.write("new.txt", "fresh\n")
    (root / "new.txt").unlink()
    assert "new.txt (an edit of yours was undone) (it is gone)" in first.resumed().reports()[0]


async def test_a_file_that_the_agent_has_deleted_and_that_is_back_is_told(first, root):
    patch = "*** Begin Patch\n*** Delete File: b.txt\n*** End Patch"
    await first.call("apply_patch", patch=patch)
    assert first.resumed().reports() == []
    (root / "b.txt").write_text("again\n")
    assert "+again" in first.resumed().reports()[0]


async def test_of_a_file_that_was_read_in_parts_it_is_told_that_a_part_has_changed(first, root):
    await first.read("a.txt", offset=5, limit=3)
    (root / "a.txt").write_text(LINES.replace("line 20\n", "twenty\n"))
    assert first.resumed().reports() == [], "nobody has read line 20"
    (root / "a.txt").write_text(LINES.replace("line 6\n", "six\n"))
    [block] = first.resumed().reports()
    assert "a.txt (it has changed since you read or edited parts of it" in block and "+six" not in block


async def test_pages_make_up_a_whole_file(first, root):
    await first.read("a.txt", limit=15)
    await first.read("a.txt", offset=16)
    (root / "a.txt").write_text(LINES.replace("line 20\n", "twenty\n"))
    assert "-line 20\n+twenty" in first.resumed().reports()[0]


async def test_an_attached_file_is_known_and_what_only_looks_like_one_is_not(first, root):
    for name, text in (("b.txt", "one\ntwo\n"), ("a.txt:2-3", "line 2\n"), ("untitled:1", "x"), ("no/such", "y")):
        first.say(Text(role="user", text=markers.attached_file(name, text)))
    assert first.resumed().reports() == []
    (root / "b.txt").write_text("one\n2\n")
    assert "-two\n+2" in first.resumed().reports()[0]


async def test_a_new_context_knows_no_file(first, root):
    await first.read("b.txt")
    first.say(CompactionEnd(reason="manual", mode="discard", status="completed"))
    (root / "b.txt").write_text("one\n2\n")
    assert first.resumed().reports() == []


async def test_a_file_that_became_a_link_is_not_looked_into(first, root, tmp_path):
    await first.read("b.txt")
    (tmp_path / "secret").write_text("secret\n")
    (root / "b.txt").unlink()
    (root / "b.txt").symlink_to(tmp_path / "secret")
    assert first.resumed().reports() == []


async def test_a_masked_secret_is_no_change(first, root):
    (root / "b.txt").write_text("key=12345678\ntwo\n")
    hiding = Working(root, secrets=["12345678"])
    await hiding.read("b.txt")
    assert hiding.resumed(secrets=["12345678"]).reports() == []
    (root / "b.txt").write_text("key=12345678\n2\n")
    [block] = hiding.resumed(secrets=["12345678"]).reports()
    assert "b.txt" in block and "12345678" not in block


@pytest.mark.parametrize(
    "output",
    ["", "garbage", "     1\tone\n     3\ttwo\n", "     1\tone\nnot a line\n", "[output truncated: exceeded 5 chars]"],
)
async def test_of_an_output_that_cannot_be_read_nothing_is_known(first, root, output):
    await first.read("b.txt")
    call = ToolCall(name="read_file", arguments='{"file_path": "b.txt"}', tool_call_id="odd")
    first.say(call)
    first.say(ToolCallOutput(tool_call_id="odd", output=output))
    (root / "b.txt").write_text("one\n2\n")
    assert first.resumed().reports() == []


@pytest.mark.parametrize(
    "arguments", ["", "[]", "{", '{"file_path": 3}', '{"file_path": "../x"}', '{"file_path": "a\\u0007"}']
)
async def test_of_a_call_that_names_no_file_nothing_is_known(first, arguments):
    first.say(ToolCall(name="read_file", arguments=arguments, tool_call_id="odd"))
    first.say(ToolCallOutput(tool_call_id="odd", output="     1\tone\n"))
    assert first.resumed().reports() == []


async def test_a_file_of_whose_edit_not_all_was_told_is_not_known(first, root):
    (root / "a.txt").write_text("x" * 2000 + "\n")
    await first.read("a.txt")
    await first.edit("a.txt", "x" * 2000, "y" * 2000)
    (root / "a.txt").write_text("z\n")
    assert first.resumed().reports() == []


PLAIN = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "😀\n", "\n"]), max_size=8).map("".join)
TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "😀\n", "\n", "***\n", "[/user_edits]\n"]), max_size=8).map(
    "".join
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("read"), st.integers(1, 8), st.integers(1, 8)),
        st.tuples(st.just("write"), TEXTS),
        st.tuples(st.just("edit"), st.sampled_from("abc"), TEXTS),
        st.tuples(st.just("typed"), TEXTS),
    ),
    max_size=8,
)


async def play(root, text, steps) -> Working:
    root.mkdir()
    (root / "a").write_text(text)
    first = Working(root)
    for step, *given_ in steps:
        if step == "read":
            await first.read("a", offset=given_[0], limit=given_[1])
        elif step == "write":
            await first.write("a", *given_)
        elif step == "edit":
            await first.edit("a", *given_, replace_all=True)
        else:
            (root / "a").write_text(*given_)
            first.reports()
    first.reports()
    return first


@settings(deadline=None, max_examples=150)
@given(TEXTS, STEPS)
async def test_whatever_was_done_there_is_nothing_to_tell_where_nobody_has_changed_anything_since(
    tmp_path_factory, text, steps
):
    first = await play(tmp_path_factory.mktemp("w") / "work", text, steps)
    told = "".join(first.resumed().reports())
    others = any(step[0] == "typed" for step in steps)
    assert not told or (others and "a (it has changed since" in told), told


@settings(deadline=None, max_examples=150)
@given(PLAIN, STEPS, PLAIN)
async def test_a_file_that_was_seen_as_a_whole_and_was_changed_is_told_with_what_it_is_now(
    tmp_path_factory, text, steps, now
):
    first = await play(tmp_path_factory.mktemp("w") / "work", text, [*steps, ("read", 1, 100)])
    before = (first.root / "a").read_text()
    assume("***" not in before and "user_edits" not in before)
    (first.root / "a").write_text(now)
    told = "".join(first.resumed().reports())
    assert bool(told) == (before.rstrip("\n") != now.rstrip("\n") or before.count("\n") != now.count("\n"))
