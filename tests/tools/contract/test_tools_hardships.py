"""What every built-in tool keeps to when things are bad: no time, no room, no rights, strange names, strange bytes."""

from __future__ import annotations

import asyncio
import errno
import io
import os
import re
from pathlib import Path

import pytest

from agent_lsp.engine.ports import ToolResult
from agent_lsp.tools.disk import DiskEditor
from agent_lsp.tools.toolset import ToolLimits
from agent_lsp.tools.web_fetch import Page

from ..conftest import call, use
from .cases import GOOD, tools

PATH_OF = {
    "read_file": "file_path", "write_file": "file_path", "edit_file": "file_path", "list_files": "path",
    "search_text": "path", "diagnostics": "file_path", "exec_command": "workdir", "read_image": "file_path",
    "describe_image": "file_path",
}  # fmt: skip
AT_ONCE = {"todo_write", "exit_plan", "run_subagent", "kill_subagent", "ask_user"}
"""What has nothing to wait for here, or may take as long as it likes."""
WRITING = ["write_file", "edit_file", "apply_patch"]
READING = ["read_file", "edit_file", "apply_patch", "read_image", "describe_image"]
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
NAMES = ["Grüße 世界 🙂", " blanks  all over ", "-rf", "quo'te\"$(x)`y`", "tab\tin it", "e\u0301 combining", "[a]*?{b}"]


def arguments_for(name, path):
    """A good call that is about the file or folder at this path."""
    arguments = dict(GOOD[name])
    if name in PATH_OF:
        arguments[PATH_OF[name]] = path
    if name == "apply_patch":
        arguments["patch"] = arguments["patch"].replace("hello.txt", path)
    return arguments


class Slow:
    """Everything that tools wait for, and never comes."""

    def __init__(self):
        self.was_reached = asyncio.Event()

    async def __call__(self, *_, **__):
        self.was_reached.set()
        await asyncio.Event().wait()


@pytest.fixture
def make_slow_session(make_whole_session, monkeypatch):
    """A session in which nothing that a tool waits for ever comes, and what tells that one waits."""

    def make(**context):
        slow = Slow()
        session = make_whole_session(fetch=slow, findings=slow, ask=slow, describe=slow, **context)
        monkeypatch.setattr(DiskEditor, "read", slow)
        monkeypatch.setattr("agent_lsp.tools.list_files.asyncio.to_thread", slow)
        monkeypatch.setattr("agent_lsp.tools.command.Command.stream", _silent(slow))
        return session, slow

    return make


def _silent(slow):
    async def stream(*_, **__):
        await slow()
        yield ""

    return stream


async def slow_call(session, name):
    """A call that has to wait: a command that is there for those that name one."""
    if name in ("input_command", "kill_command"):
        command = session.commands.start("exec sleep 600", session.root, has_input=True)
        session.commands.keep(command)
        return call(name, {"process_id": command.process_id})
    return call(name, GOOD[name])


waiting = pytest.mark.parametrize("name", [name for name in GOOD if name not in AT_ONCE | {"input_subagent"}])


@waiting
@pytest.mark.asyncio
async def test_a_call_that_takes_too_long_fails_and_says_so(make_slow_session, name):
    session, slow = make_slow_session(limits=ToolLimits(timeout_s=0.05))
    items = [item async for item in session.toolset.execute(await slow_call(session, name))]
    assert slow.was_reached.is_set() and isinstance(items[-1], ToolResult)
    assert items[-1].stop_reason == "failed" and items[-1].output == "[tool timeout: exceeded 50 ms]"


@waiting
@pytest.mark.asyncio
async def test_a_call_that_waits_is_aborted_at_once_and_leaves_nothing_running(make_slow_session, name):
    session, slow = make_slow_session()
    task = asyncio.ensure_future(_collect(session.toolset.execute(await slow_call(session, name))))
    await asyncio.wait_for(slow.was_reached.wait(), 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    while session.toolset._running:
        await asyncio.wait_for(asyncio.wait(set(session.toolset._running)), 5)


@tools
@pytest.mark.asyncio
async def test_a_long_output_is_cut_and_whole_in_an_archive_that_read_file_reads(make_whole_session, name):
    async def fetch(url):
        return Page(url, 200, "text/plain", b"some text\n")

    async def ask(*_, **__):
        return "a long answer"

    limit = 5
    session = make_whole_session(limits=ToolLimits(limit), fetch=fetch, ask=ask)
    done = await use(session.toolset, name, GOOD[name])
    if name == "read_file":
        assert "truncated" not in done.output, "it has a limit of its own, which its pages stay below"
        return
    if name == "exec_command":
        assert done.output == "hi\n[exit code: 0]", "notes are no part of what is cut"
        done = await use(session.toolset, name, {"cmd": "echo a long answer"})
    head, _, notes = done.output.partition("\n[output truncated: exceeded 5 chars]\n")
    archive = re.match(r"\[output archived: (.+)\]", notes)[1]
    assert len(head.lstrip("\n")) <= limit and done.result.archive == archive
    whole = Path(archive).read_text()
    assert whole.startswith(head) and len(whole) > limit and "[output" not in whole
    read = await use(session.toolset, "read_file", {"file_path": archive})
    assert not read.failed and whole.splitlines()[0] in read.output


@tools
@pytest.mark.asyncio
async def test_an_archive_that_the_disk_refuses_is_said_and_the_output_comes_all_the_same(
    make_whole_session, name, monkeypatch
):
    session = make_whole_session(limits=ToolLimits(3))
    Refusing(session.scratchpad, errno.ENOSPC).into(monkeypatch)
    done = await use(session.toolset, name, GOOD[name])
    if name not in ("read_file", "exec_command"):
        assert "[output not archived: No space left on device]" in done.output and done.result.archive is None


@pytest.mark.parametrize("name", PATH_OF)
@pytest.mark.parametrize("path", NAMES)
@pytest.mark.asyncio
async def test_strange_names_are_names_like_any_other(make_whole_session, name, path):
    session = make_whole_session(describe=_seen)
    target = session.root / path
    if name == "exec_command":
        target.mkdir()
    else:
        target.write_bytes(PNG if "image" in name else b"hello\nworld\n")
    if name == "list_files":
        (session.root / "in").mkdir()
        target.rename(session.root / "in" / path)
    done = await use(session.toolset, name, arguments_for(name, "in" if name == "list_files" else path))
    assert not done.failed, done.output
    if name in ("list_files", "search_text", "read_image", "describe_image"):
        assert path in done.output


@pytest.mark.asyncio
@pytest.mark.parametrize("path", [one for one in NAMES if one.strip() == one])
async def test_a_patch_changes_files_of_strange_names(session, path):
    (session.root / path).write_text("hello\nworld\n")
    done = await use(session.toolset, "apply_patch", arguments_for("apply_patch", path))
    assert not done.failed and (session.root / path).read_text() == "hello\nthere\n"


@pytest.mark.parametrize("name", [*PATH_OF, "apply_patch"])
@pytest.mark.parametrize("kind", ["file", "dangling", "endless", "folder", "pipe"])
@pytest.mark.asyncio
async def test_links_and_pipes_are_followed_or_refused_in_words(make_whole_session, name, kind):
    session = make_whole_session(describe=_seen)
    link = session.root / "link"
    match kind:
        case "file":
            link.symlink_to("hello.txt")
        case "dangling":
            link.symlink_to("nowhere")
        case "endless":
            link.symlink_to("link")
        case "folder":
            link.symlink_to(".")
        case _:
            os.mkfifo(link)
    done = await asyncio.wait_for(use(session.toolset, name, arguments_for(name, "link")), 10)
    assert done.output.strip() and " failed: " not in done.output, done.output
    assert link.is_symlink() or kind == "pipe"
    if kind == "file" and name in ("write_file", "edit_file", "apply_patch"):
        assert not done.failed and (session.root / "hello.txt").read_text() != "hello\nworld\n"


@pytest.mark.parametrize("name", [*PATH_OF, "apply_patch"])
@pytest.mark.parametrize("content", ["binary", "huge", "no line end", "not UTF-8"])
@pytest.mark.asyncio
async def test_any_bytes_are_text_or_are_refused_with_advice_and_stay_as_they_are(make_whole_session, name, content):
    session = make_whole_session(describe=_seen)
    file = session.root / "hello.txt"
    raw = {
        "binary": os.urandom(5_000) + b"\0world\n",
        "huge": b"",
        "no line end": b"world " * 500_000,
        "not UTF-8": b"w\xf6rld \xff\xfe\n" * 100,
    }[content]
    file.write_bytes(raw)
    if content == "huge":
        os.truncate(file, 40 * 2**20)
    if name != "exec_command":
        done = await use(session.toolset, name, arguments_for(name, "." if name == "list_files" else "hello.txt"))
    else:
        done = await use(session.toolset, name, {"cmd": "cat hello.txt"})
    done.output.encode()
    assert " failed: " not in done.output and len(done.output) < 65_000
    if name != "write_file" or content in ("binary", "huge"):
        assert file.stat().st_size == (len(raw) if content != "huge" else 40 * 2**20)


class Refusing:
    """A file system that answers with this error below a folder: reading, or only what would change it."""

    def __init__(self, folder, number, *, reading=False, after_bytes=0):
        self.folder, self.number, self.reading, self.left = str(folder), number, reading, after_bytes
        self.descriptors: set[int] = set()

    def into(self, monkeypatch):
        for module, name, decides in (
            (os, "open", lambda path, flags, *_, **__: flags & (os.O_WRONLY | os.O_RDWR) or self.reading),
            (io, "open", lambda path, mode="r", *_, **__: set(mode) & set("wxa+") or self.reading),
            (os, "scandir", lambda *_, **__: self.reading),
            (os, "mkdir", lambda *_, **__: True),
            (os, "replace", lambda *_, **__: True),
            (os, "unlink", lambda *_, **__: True),
        ):
            monkeypatch.setattr(module, name, self._around(getattr(module, name), decides))

    def _around(self, real, decides):
        def wrapped(*args, **more):
            path = args[0] if args else "."
            if isinstance(at := more.get("dir_fd", more.get("src_dir_fd")), int):
                path = str(Path(f"/proc/self/fd/{at}").readlink() / path)
            is_below = isinstance(path, str | os.PathLike) and os.fspath(path).startswith(self.folder)
            if is_below and decides(*args, **more):
                raise OSError(self.number, os.strerror(self.number), os.fspath(path))
            return real(*args, **more)

        return wrapped


@pytest.mark.parametrize("name", WRITING)
@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO])
@pytest.mark.asyncio
async def test_a_disk_that_takes_nothing_is_told_by_its_own_words_and_nothing_is_changed(
    session, name, number, monkeypatch
):
    with monkeypatch.context() as patched:
        Refusing(session.root, number).into(patched)
        done = await use(session.toolset, name, GOOD[name])
    assert done.failed and os.strerror(number) in done.output and " failed: " not in done.output
    assert [one.name for one in session.root.iterdir()] == ["hello.txt"]
    assert (session.root / "hello.txt").read_text() == "hello\nworld\n"


@pytest.mark.parametrize("name", READING)
@pytest.mark.asyncio
async def test_what_may_not_be_read_is_told_so(session, name, monkeypatch):
    with monkeypatch.context() as patched:
        Refusing(session.root, errno.EACCES, reading=True).into(patched)
        done = await use(session.toolset, name, GOOD[name])
    assert done.failed and "Permission denied" in done.output and " failed: " not in done.output
    assert str(session.root) not in done.output


@pytest.mark.parametrize("name", ["list_files", "search_text"])
@pytest.mark.asyncio
async def test_a_walk_passes_by_what_may_not_be_read(session, name, monkeypatch):
    (session.root / "locked").mkdir()
    (session.root / "locked" / "secret.txt").write_text("world\n")
    monkeypatch.setattr("agent_lsp.tools.search_text.find_ripgrep", lambda: None)
    Refusing(session.root / "locked", errno.EACCES, reading=True).into(monkeypatch)
    done = await use(session.toolset, name, GOOD[name])
    assert not done.failed and "hello.txt" in done.output and "secret" not in done.output


@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOMEM, errno.EAGAIN, errno.EMFILE])
@pytest.mark.parametrize("name", ["exec_command", "search_text"])
@pytest.mark.asyncio
async def test_a_system_that_starts_no_process_is_told_by_its_own_words(session, name, number, monkeypatch):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    await use(session.toolset, "exec_command", {"cmd": "true"})
    monkeypatch.setattr("agent_lsp.tools.child.subprocess.Popen", refuse)
    done = await use(session.toolset, name, GOOD[name])
    assert done.failed and os.strerror(number) in done.output and "Traceback" not in done.output


async def _seen(image_url, question):
    return "a picture"


async def _collect(items):
    return [item async for item in items]
