from __future__ import annotations

import os

import pytest

from agent_lsp.tools.disk import DiskEditor
from agent_lsp.tools.editor import Applied, Change, Refused, Snapshot, Stale, TextEdit, Unreadable


@pytest.fixture
def disk(tmp_path) -> DiskEditor:
    return DiskEditor(tmp_path / "backups")


async def change(disk, path, edit=None):
    snapshot = await disk.read(path)
    end = len(snapshot.text) if snapshot else 0
    return Change(path, snapshot, (edit or TextEdit(0, end, "new\n"),))


@pytest.mark.asyncio
async def test_a_file_is_replaced_by_another_with_its_mode_and_nothing_is_left_beside_it(disk, tmp_path):
    file = tmp_path / "a.sh"
    file.write_text("old")
    file.chmod(0o750)
    before = file.stat().st_ino
    assert await disk.replace([await change(disk, file)], "x") == Applied()
    assert file.read_text() == "new\n" and file.stat().st_mode & 0o777 == 0o750 and file.stat().st_ino != before
    assert [one.name for one in tmp_path.iterdir()] == ["a.sh"]


@pytest.mark.asyncio
async def test_a_link_stays_a_link(disk, tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    await disk.replace([await change(disk, tmp_path / "link")], "x")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "new\n"


@pytest.mark.asyncio
async def test_a_file_with_other_names_is_changed_in_place_after_a_copy(disk, tmp_path):
    (tmp_path / "one").write_text("old and long")
    os.link(tmp_path / "one", tmp_path / "two")
    await disk.replace([await change(disk, tmp_path / "one")], "x")
    assert (tmp_path / "two").read_text() == "new\n"
    (copy,) = (tmp_path / "backups").iterdir()
    assert copy.read_text() == "old and long" and copy.stat().st_mode & 0o777 == 0o600


@pytest.mark.asyncio
async def test_new_files_are_made_with_their_folders_as_the_umask_says(disk, tmp_path):
    before = os.umask(0o027)
    try:
        await disk.replace([await change(disk, tmp_path / "a" / "b" / "c.txt")], "x")
    finally:
        os.umask(before)
    assert (tmp_path / "a/b/c.txt").stat().st_mode & 0o777 == 0o640


@pytest.mark.asyncio
async def test_a_file_that_changed_since_is_never_written_over(disk, tmp_path):
    file = tmp_path / "a"
    file.write_text("old")
    edit = await change(disk, file)
    file.write_text("theirs")
    assert await disk.replace([edit], "x") == Stale(file, "theirs")
    file.unlink()
    assert await disk.replace([edit], "x") == Stale(file, None)
    new = await change(disk, file)
    file.write_text("appeared")
    assert await disk.replace([new], "x") == Stale(file, "appeared")
    assert file.read_text() == "appeared"


@pytest.mark.asyncio
async def test_a_failure_takes_back_what_was_written_before_it(disk, tmp_path, monkeypatch):
    (tmp_path / "a").write_text("old")
    (tmp_path / "z").write_text("last")
    changes = [
        await change(disk, tmp_path / "a"),
        await change(disk, tmp_path / "new" / "b"),
        Change(tmp_path / "z", await disk.read(tmp_path / "z"), None),
    ]

    unlink = os.unlink

    def refuse(name, **more):
        if name == "z":
            raise OSError(5, "Input/output error")
        unlink(name, **more)

    monkeypatch.setattr(os, "unlink", refuse)
    outcome = await disk.replace(changes, "x")
    assert outcome == Refused(tmp_path / "z", "Input/output error")
    assert (tmp_path / "a").read_text() == "old" and not (tmp_path / "new").exists()


@pytest.mark.asyncio
async def test_bytes_outside_the_edit_never_change(disk, tmp_path):
    file = tmp_path / "odd"
    file.write_bytes(b"a\nb\r\nc\rd\xff\n")
    await disk.replace([await change(disk, file, TextEdit(0, 1, "A"))], "x")
    assert file.read_bytes() == b"A\nb\r\nc\rd\xff\n"


@pytest.mark.asyncio
async def test_what_the_encoding_lacks_is_refused(disk, tmp_path):
    file = tmp_path / "latin"
    file.write_bytes(("Der Käse wäre größer, und die Straße führt über Öhringen nach Süden.\n" * 5).encode("cp1252"))
    before = file.read_bytes()
    outcome = await disk.replace([await change(disk, file, TextEdit(0, 0, "😀"))], "x")
    assert isinstance(outcome, Refused) and "encoding" in outcome.reason and file.read_bytes() == before


@pytest.mark.asyncio
async def test_what_has_no_text_is_told_apart(disk, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(bytes(256))
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(2**30)
    kinds = {}
    for name in ("folder", "binary", "pipe", "huge", "file/below", "x" * 300):
        found = await disk.read(tmp_path / name)
        assert isinstance(found, Unreadable) and found.reason
        kinds[name[:10]] = found.kind
    assert list(kinds.values()) == ["directory", "binary", "special", "too_large", "error", "error"]
    assert await disk.read(tmp_path / "missing") is None


@pytest.mark.asyncio
async def test_a_large_file_is_read_too(disk, tmp_path):
    (tmp_path / "large").write_text("line\n" * 100_000)
    found = await disk.read(tmp_path / "large")
    assert isinstance(found, Snapshot) and len(found.text) == 500_000
