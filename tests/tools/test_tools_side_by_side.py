"""Edits that a model makes in one breath."""

import asyncio

import pytest

from agent_lsp.tools.disk import DiskEditor
from agent_lsp.tools.editor import Applied, Change, Snapshot, Stale, TextEdit

pytestmark = pytest.mark.asyncio


async def test_edits_of_one_file_side_by_side_are_all_made(make_session, root):
    session = make_session()
    (root / "n.txt").write_text("".join(f"line {n}.\n" for n in range(8)))
    calls = [session.use("edit_file", file_path="n.txt", old_string=f"line {n}.", new_string=f"{n}") for n in range(8)]
    assert not [one for one in await asyncio.gather(*calls) if one.failed]
    assert (root / "n.txt").read_text() == "".join(f"{n}\n" for n in range(8))


async def test_of_two_sessions_that_write_one_file_at_once_one_is_told_that_it_came_too_late(root, tmp_path):
    disks = [DiskEditor(tmp_path / name) for name in "ab"]
    found = [await disk.read(root / "hello.txt") for disk in disks]
    changes = [
        [Change(root / "hello.txt", one, (TextEdit(0, 0, name),))]
        for one, name in zip(found, "ab", strict=True)
        if isinstance(one, Snapshot)
    ]
    both = await asyncio.gather(*(disk.replace(one, "x") for disk, one in zip(disks, changes, strict=True)))
    assert {type(one) for one in both} == {Applied, Stale}
    assert (root / "hello.txt").read_text() in ("ahello\nworld\n", "bhello\nworld\n")
