from __future__ import annotations

import json
import shutil
import time

import pytest

from agent_lsp.tools import searching
from agent_lsp.tools.disk import DiskEditor
from agent_lsp.tools.searching import Hit

pytestmark = pytest.mark.asyncio


def fill(root, *names, text="x\nneedle\n"):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.fixture(params=["python", pytest.param("rg", marks=pytest.mark.skipif(not shutil.which("rg"), reason="no rg"))])
def engine(request, monkeypatch):
    if request.param == "python":
        monkeypatch.setattr("agent_lsp.tools.search_text.find_ripgrep", lambda: None)
    return request.param


async def test_gitignore_files_count_with_the_deepest_deciding(session, engine):
    fill(session.root, "src/a.py", "build/out.o", "a.log", "keep.log", "sub/secret.tmp", "sub/again.log", ".git/config")
    (session.root / ".gitignore").write_text("build/\n*.log\n!keep.log\n")
    (session.root / "sub/.gitignore").write_text("*.tmp\n!*.log\n")
    listed = (await session.use("list_files")).output
    assert [line.split("  ")[0] for line in listed.splitlines()] == [
        ".gitignore", "hello.txt", "keep.log", "src/", "sub/", "src/a.py", "sub/.gitignore", "sub/again.log",
    ]  # fmt: skip
    assert "src/a.py  9" in listed
    found = (await session.use("search_text", pattern="needle")).output
    assert [line for line in found.splitlines() if not line.startswith(" ")] == [
        "keep.log",
        "src/a.py",
        "sub/again.log",
    ]
    below = (await session.use("list_files", path="sub")).output
    assert "again.log" in below and "secret.tmp" not in below


@pytest.mark.parametrize(
    ("pattern", "fitting"),
    [
        ("*.py", "one/a.py one/two/b.py"),
        ("**/*.py", "one/a.py one/two/b.py"),
        ("one/*.py", "one/a.py"),
        ("*.{txt,md}", "hello.txt one/c.txt"),
        ("!*.py", "hello.txt one/c.txt"),
    ],
)
async def test_globs_choose_files_in_both_tools(session, engine, pattern, fitting):
    fill(session.root, "one/a.py", "one/two/b.py", "one/c.txt", text="needle\n")
    (session.root / "hello.txt").write_text("needle\n")
    listed = (await session.use("list_files", pattern=pattern)).output
    assert [line.split("  ")[0] for line in listed.splitlines()] == sorted(
        fitting.split(), key=lambda one: (one.count("/"), one)
    )
    found = (await session.use("search_text", pattern="needle", glob=pattern)).output
    assert [line for line in found.splitlines() if not line.startswith(" ")] == sorted(fitting.split())


async def test_depth_bounds_the_walk(session):
    fill(session.root, "one/two/b.py")
    assert (await session.use("list_files", depth=1)).output == "hello.txt  12\none/"


async def test_a_long_list_ends_with_advice(session):
    fill(session.root, *(f"f{n}" for n in range(1200)), text="")
    output = (await session.use("list_files")).output
    assert len(output) < 16_000 and "only the first 1000" in output.splitlines()[-1]


async def test_links_are_not_followed_and_denied_paths_passed_by(make_session, tmp_path, root, engine):
    fill(tmp_path / "outside", "planted.txt")
    fill(root, "secret/key.txt", "open.txt")
    (root / "way").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to(".")
    session = make_session(is_denied=lambda path: "secret" in path.parts)
    listed = (await session.use("list_files", depth=9)).output
    found = (await session.use("search_text", pattern="needle")).output
    assert "planted" not in listed + found and "key.txt" not in listed + found
    assert "way  (link)" in listed and "open.txt" in found


async def test_lines_come_with_numbers_and_context(session, engine):
    (session.root / "a.py").write_text("1\nneedle 1\n3\n4\n5\n6\nneedle 2\n")
    found = await session.use("search_text", pattern=r"needle \d", context=1, path="a.py")
    assert found.output == "a.py\n     1- 1\n     2: needle 1\n     3- 3\n   ...\n     6- 6\n     7: needle 2"
    assert (await session.use("search_text", pattern="needle")).output == "a.py\n     2: needle 1\n     7: needle 2"


async def test_a_pattern_is_nothing_but_a_pattern(session, engine):
    fill(session.root, "a.txt", text="use --files here\n")
    assert "use --files here" in (await session.use("search_text", pattern="--files")).output


async def test_crlf_and_boms_do_not_matter_and_binaries_are_left_out(session, engine):
    (session.root / "dos.txt").write_bytes(b"\xef\xbb\xbfneedle\r\n")
    (session.root / "blob").write_bytes(b"needle\n\0\n")
    found = (await session.use("search_text", pattern="^needle$")).output
    assert found == "dos.txt\n     1: needle"


async def test_what_python_alone_understands_goes_to_python(session, engine):
    fill(session.root, "a.txt", text="foobar\nfoobaz\n")
    assert (await session.use("search_text", pattern="foo(?!bar)")).output == "a.txt\n     2: foobaz"


async def test_nothing_found_is_no_failure_and_a_broken_pattern_is(session, engine):
    none, broken = await session.use("search_text", pattern="nowhere"), await session.use("search_text", pattern="(")
    assert not none.failed and none.output and broken.failed and "cannot be read" in broken.output


async def test_many_hits_are_cut_with_advice(session, engine):
    fill(session.root, "a.txt", text="needle\n" * 2000)
    output = (await session.use("search_text", pattern="needle")).output
    assert "only the first 500" in output.splitlines()[-1]


async def test_unsaved_texts_are_searched_in_place_of_the_disk(make_session, root, engine):
    class Buffers(DiskEditor):
        def unsaved(self):
            return {root / "open.txt": "in the buffer\n"}

    fill(root, "open.txt", text="on the disk\n")
    session = make_session(editor=Buffers(root.parent / "backups"))
    assert (await session.use("search_text", pattern="buffer|disk")).output == "open.txt\n     1: in the buffer"


async def test_a_pattern_that_never_ends_is_killed_and_blocks_nobody(make_session, root):
    from agent_lsp.tools.toolset import ToolLimits

    fill(root, "a.txt", text="a" * 60 + "!\n")
    session = make_session(limits=ToolLimits(timeout_s=0.5))
    begin = time.monotonic()
    done = await session.use("search_text", pattern="(?=a)(a+)+$")
    assert done.failed and "timeout" in done.output and time.monotonic() - begin < 5


async def test_ripgreps_events_are_read_and_binary_files_dropped(session, tmp_path, monkeypatch):
    def event(kind, **data):
        return json.dumps({"type": kind, "data": data})

    def line(kind, path, number, text):
        return event(kind, path={"text": path}, line_number=number, lines=text)

    events = [
        event("begin", path={"text": "/w/a"}),
        line("context", "/w/a", 1, {"text": "before\r\n"}),
        line("match", "/w/a", 2, {"bytes": "bmVlZGxl/w=="}),
        event("end", binary_offset=None),
        line("match", "/w/b", 1, {"text": "needle"}),
        event("end", binary_offset=7),
        event("summary"),
    ]
    fake = tmp_path / "rg"
    fake.write_text("#!/bin/sh\ncat <<'EOF'\n" + "\n".join(events) + "\nEOF\n")
    fake.chmod(0o755)
    query = searching.Query("needle", 1, 10)
    hits = await searching.by_ripgrep(str(fake), query, tmp_path, None, session.commands, in_repository=False)
    assert hits == [Hit("/w/a", 1, "before", False), Hit("/w/a", 2, "needle\ufffd", True)]
    fake.write_text("#!/bin/sh\nexit 2\n")
    assert await searching.by_ripgrep(str(fake), query, tmp_path, None, session.commands, in_repository=False) is None


async def test_a_workspace_inside_a_repository_keeps_to_its_rules(session, engine):
    (session.root.parent / ".git").mkdir()
    (session.root.parent / ".gitignore").write_text("*.log\n/work space/top.txt\n")
    fill(session.root, "a.log", "top.txt", "deep/top.txt")
    assert (await session.use("list_files")).output == "deep/\nhello.txt  12\ndeep/top.txt  9"
    assert (await session.use("search_text", pattern="needle")).output == "deep/top.txt\n     2: needle"
