"""Links that lead out of the workspace, those above all that are made after somebody has looked."""

import json
import os

import pytest

from agent_lsp.policy.admission import Admission
from agent_lsp.policy.paths import PathRules
from agent_lsp.providers.scripted import call, text
from agent_lsp.tools.disk import DiskEditor
from agent_lsp.tools.editor import Applied, Change, Refused, Snapshot, TextEdit, Unreadable
from tests.server.front_end import front_end

pytestmark = pytest.mark.asyncio
PLANTED = "PLANTED-4711"


@pytest.fixture
def work(tmp_path):
    (tmp_path / "work" / "inner").mkdir(parents=True)
    (tmp_path / "work" / "notes.txt").write_text("mine\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret.txt").write_text(f"{PLANTED}\n")
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / ".ssh" / "id").write_text(f"{PLANTED}\n")
    return tmp_path / "work"


@pytest.fixture
def paths(work, tmp_path):
    return PathRules(work, data_dir=tmp_path / "data", homes=[tmp_path / "home"])


@pytest.fixture
def admission(paths):
    return Admission(paths)


@pytest.fixture
def disk(admission, tmp_path):
    """The files as a call `c` gets them."""
    return DiskEditor(tmp_path / "backups", lambda real, writes: admission.admits("c", real, writes=writes))


def whole(path, snapshot, new="new\n"):
    return Change(path, snapshot, (TextEdit(0, len(snapshot.text) if snapshot else 0, new),))


# --- after the check --------------------------------------------------------------------------------------------------


async def test_a_file_that_became_a_link_out_is_neither_read_nor_written(disk, work, tmp_path):
    before = await disk.read(work / "notes.txt")
    (work / "notes.txt").unlink()
    (work / "notes.txt").symlink_to(tmp_path / "out" / "secret.txt")
    found = await disk.read(work / "notes.txt")
    assert isinstance(found, Unreadable) and PLANTED not in found.reason
    assert not isinstance(await disk.replace([whole(work / "notes.txt", before)], "x"), Applied)
    assert PLANTED in (tmp_path / "out" / "secret.txt").read_text()


async def test_a_folder_that_became_a_link_out_gets_no_new_file(disk, work, tmp_path):
    (work / "inner").rmdir()
    (work / "inner").symlink_to(tmp_path / "out")
    outcome = await disk.replace([whole(work / "inner" / "new.txt", None)], "x")
    assert isinstance(outcome, Refused) and not (tmp_path / "out" / "new.txt").exists()


@pytest.mark.parametrize("target", ["out", "home/.ssh"])
@pytest.mark.parametrize("new", [True, False], ids=["a new file", "an old file"])
async def test_a_link_that_comes_between_the_look_and_the_opening_is_not_followed(paths, work, tmp_path, target, new):
    """The judge itself plays the program that is quick enough."""
    (work / "inner" / "id").write_text("mine\n")
    swapped = []

    def admits(real, writes):
        if writes and not swapped:
            (work / "inner").rename(work / "aside")
            (work / "inner").symlink_to(tmp_path / target)
            swapped.append(real)
        return True

    disk = DiskEditor(tmp_path / "backups", admits)
    path = work / "inner" / ("new.txt" if new else "id")
    before = None if new else await disk.read(path)
    there = sorted(one.name for one in (tmp_path / target).iterdir())
    outcome = await disk.replace([whole(path, before)], "x")
    assert swapped and isinstance(outcome, Refused)
    assert sorted(one.name for one in (tmp_path / target).iterdir()) == there
    assert all(PLANTED in one.read_text() for one in (tmp_path / target).iterdir())


async def test_a_link_that_comes_between_is_not_read_through_either(paths, work, tmp_path):
    def admits(real, writes):
        (work / "notes.txt").unlink()
        (work / "notes.txt").symlink_to(tmp_path / "out" / "secret.txt")
        return True

    found = await DiskEditor(tmp_path / "backups", admits).read(work / "notes.txt")
    assert not isinstance(found, Snapshot)


async def test_what_was_allowed_outside_is_that_file_and_no_other(disk, admission, paths, work, tmp_path):
    (work / "link").symlink_to(tmp_path / "out" / "secret.txt")
    assert isinstance(await disk.read(work / "link"), Unreadable)
    admission.allow("c", [paths.place(work / "link")])
    assert isinstance(await disk.read(work / "link"), Snapshot)
    (tmp_path / "out" / "other.txt").write_text("other\n")
    (work / "link").unlink()
    (work / "link").symlink_to(tmp_path / "out" / "other.txt")
    assert isinstance(await disk.read(work / "link"), Unreadable)


async def test_what_makes_code_run_is_written_only_by_a_call_that_was_allowed_to(disk, admission, paths, work):
    (work / "hooks").symlink_to(".git/hooks")
    (work / ".git" / "hooks").mkdir(parents=True)
    change = whole(work / "hooks" / "pre-commit", None)
    assert isinstance(await disk.replace([change], "x"), Refused)
    admission.allow("c", [paths.place(change.path, writes=True)])
    assert isinstance(await disk.replace([change], "x"), Applied)


async def test_no_allowance_opens_what_is_forbidden(disk, admission, paths, tmp_path):
    path = tmp_path / "home" / ".ssh" / "id"
    admission.allow("c", [paths.place(path)])
    assert isinstance(await disk.read(path), Unreadable)


async def test_the_allowances_of_old_calls_are_forgotten(admission, paths, tmp_path):
    place = paths.place(tmp_path / "out" / "secret.txt")
    admission.allow("old", [place])
    for number in range(1_000):
        admission.allow(f"call-{number}", [])
    assert not admission.admits("old", place.path, writes=False)


# --- hard links, devices ----------------------------------------------------------------------------------------------


async def test_a_file_with_other_names_keeps_them_and_a_copy_of_it_is_made_first(disk, work, tmp_path):
    os.link(tmp_path / "out" / "secret.txt", work / "hard")
    before = await disk.read(work / "hard")
    assert isinstance(await disk.replace([whole(work / "hard", before)], "x"), Applied)
    assert (tmp_path / "out" / "secret.txt").read_text() == "new\n"
    (copy,) = (tmp_path / "backups").iterdir()
    assert PLANTED in copy.read_text()


async def test_a_pipe_or_device_in_the_place_of_a_file_holds_nobody_up(disk, work):
    os.mkfifo(work / "pipe")
    assert isinstance(await disk.read(work / "pipe"), Unreadable)
    assert not isinstance(await disk.replace([whole(work / "pipe", None)], "x"), Applied)


# --- the whole application --------------------------------------------------------------------------------------------


async def test_a_file_the_model_knows_that_became_a_link_tells_it_nothing_of_where_it_leads(
    tmp_path, work, monkeypatch
):
    reading = [call("read_file", {"file_path": "notes.txt"})]
    moving = [call("exec_command", {"cmd": f"ln -sf {tmp_path}/out/secret.txt notes.txt"})]
    async with front_end(tmp_path, monkeypatch) as (client, model):
        client.handlers["agent/approve"] = lambda _: {"decision": "allow"}
        model.script(reading, moving, [text("done")], [text("again")])
        await client.ask("agent/run", input="go")
        await client.ask("agent/run", input="go on")
    sent = json.dumps([str(one) for request in model.requests for one in request.input])
    assert PLANTED not in sent
    assert "another file now" in sent


async def test_an_edit_that_waits_for_its_turn_does_not_follow_a_link_that_an_earlier_command_made(
    tmp_path, work, monkeypatch
):
    """Allowed by the mode while the folder was one, run when it is a link: nothing is asked, and nothing written."""
    swap = f"mv inner aside && ln -s {tmp_path}/out inner && echo swapped"
    async with front_end(tmp_path, monkeypatch, approvalMode="auto-edit") as (client, model):
        client.handlers["agent/approve"] = lambda _: {"decision": "deny"}
        model.script(
            [call("write_file", {"file_path": "inner/a.txt", "content": "a"})],
            lambda _: (
                os.system(f"cd {work} && {swap} >/dev/null"),
                [call("read_file", {"file_path": "inner/secret.txt"})],
            )[1],
            [text("done")],
        )
        await client.ask("agent/run", input="go")
        asked = [one["toolCall"]["name"] for one in client.told("agent/approve")]
    assert asked == ["read_file"]
    assert PLANTED not in json.dumps([str(one) for request in model.requests for one in request.input])
    assert not (tmp_path / "out" / "a.txt").exists()


@pytest.mark.parametrize(
    "path",
    [
        "../out/secret.txt",
        "inner/../../out/secret.txt",
        "/proc/self/root{tmp}/out/secret.txt",
        "/proc/self/cwd/../out/secret.txt",
        "{tmp}/work/../out/secret.txt",
        "{tmp}/home/.SSH/id",
        "{tmp}/home/.s\u200csh/id",
        "{tmp}/home/.ssh./id",
        "//localhost/c$/secret.txt",
        "\\\\server\\share\\secret.txt",
        "~/../{tmp}/home/.ssh/id",
        "inner/\0/../../../out/secret.txt",
        "file://{tmp}/out/secret.txt",
        "in\u0308ner/../../out/secret.txt",
    ],
)
@pytest.mark.parametrize("tool", ["read_file", "write_file", "list_files", "search_text", "read_image"])
async def test_no_spelling_of_a_path_reaches_out_without_a_question(tmp_path, work, monkeypatch, path, tool):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    path = path.format(tmp=tmp_path)
    arguments = {
        "read_file": {"file_path": path},
        "write_file": {"file_path": path, "content": "x"},
        "list_files": {"path": path.rpartition("/")[0] or path},
        "search_text": {"pattern": "PLANTED", "path": path},
        "read_image": {"file_path": path},
    }[tool]
    async with front_end(tmp_path, monkeypatch, approvalMode="auto-edit") as (client, model):
        client.handlers["agent/approve"] = lambda _: {"decision": "deny"}
        model.script([call(tool, arguments)], [text("done")])
        await client.ask("agent/run", input="go")
    told = json.dumps([str(one) for request in model.requests for one in request.input])
    assert "4711" not in told
    assert (tmp_path / "out" / "secret.txt").read_text() == (tmp_path / "home/.ssh/id").read_text() == f"{PLANTED}\n"
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == ["secret.txt"]
