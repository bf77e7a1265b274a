"""Commands in the sandbox try to get out of it: real ones, where bubblewrap is installed and may be used."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
import pytest_asyncio

from agent_lsp.policy.paths import PathRules
from agent_lsp.tools.builtin import builtin_tools
from agent_lsp.tools.disk import DiskEditor
from agent_lsp.tools.late import ToolContext
from agent_lsp.tools.processes import Processes
from agent_lsp.tools.sandbox import Sandbox
from agent_lsp.tools.toolset import Toolset
from agent_lsp.tools.workspace import Workspace

from .conftest import LIMITS, call, read_pids, use, wait_until_gone

pytestmark = pytest.mark.asyncio
CONFINES = shutil.which("bwrap") is not None and not subprocess.call(
    ["bwrap", "--ro-bind", "/", "/", "--unshare-pid", "--unshare-net", "--proc", "/proc", "true"],
    stderr=subprocess.DEVNULL,
)
needs_bwrap = pytest.mark.skipif(not CONFINES, reason="bubblewrap is not installed, or may not be used here")


@pytest_asyncio.fixture
async def home():
    """A home folder outside of /tmp, which the sandbox replaces."""
    folder = Path(__file__).parent / f".sandboxed-{os.getpid()}"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


@pytest_asyncio.fixture
async def confined(home):
    """confined(network=…) → the tools of a session whose commands are in the sandbox, with secrets around it."""
    processes = Processes()
    root, data = home / "work", home / "data"
    for folder in (root, data, home / ".ssh", home / "denied"):
        folder.mkdir()
        (folder / "secret").write_text("PLANTED")
    (home / "link").symlink_to(home / ".ssh")

    def _confined(*, network=False):
        workspace = Workspace(root, data / "scratchpad" / "s")
        paths = PathRules(
            root, data_dir=data, scratchpad=workspace.scratchpad, deny=[str(home / "denied")], homes=[home]
        )
        commands = processes.session(Sandbox((root, workspace.scratchpad), paths.hidden, network))
        context = ToolContext(workspace, DiskEditor(workspace.scratchpad), commands, None, paths.forbids)
        return Toolset(builtin_tools(context), LIMITS, workspace.scratchpad, shared=[commands])

    yield _confined
    await processes.close()


async def run(toolset, cmd):
    try:
        return (await use(toolset, "exec_command", {"cmd": cmd})).output
    finally:
        await toolset.close()


@needs_bwrap
async def test_the_workspace_and_the_scratchpad_can_be_written(confined, home):
    scratchpad = home / "data/scratchpad/s"
    output = await run(confined(), f"echo in > new; echo pad > {scratchpad}/note; cat new {scratchpad}/note")
    assert "in\npad" in output
    assert (home / "work/new").read_text() == "in\n" and (scratchpad / "note").read_text() == "pad\n"


@needs_bwrap
@pytest.mark.parametrize(
    "attempt",
    [
        "echo x > {home}/outside",
        "ln -s {home} up; echo x > up/outside",
        "mount -o remount,rw,bind / /; echo x > {home}/outside",
        "unshare -rm sh -c 'mount -o remount,rw,bind {home} {home}; echo x > {home}/outside'",
        "umount {home}/work; cd {home}; echo x > outside",
        "echo x > /proc/1/root{home}/outside",
    ],
)
async def test_nothing_else_can_be_written(confined, home, attempt):
    await run(confined(), attempt.format(home=home))
    assert not (home / "outside").exists()


@needs_bwrap
@pytest.mark.parametrize(
    "attempt",
    [
        "cat {home}/.ssh/secret {home}/data/secret {home}/denied/secret",
        "cat {home}/link/secret; cat /proc/1/root{home}/.ssh/secret",
        "umount {home}/.ssh; cat {home}/.ssh/secret",
        "unshare -rm sh -c 'umount {home}/.ssh; cat {home}/.ssh/secret'",
    ],
)
async def test_what_file_tools_may_not_read_is_not_there(confined, home, attempt):
    assert "PLANTED" not in await run(confined(), attempt.format(home=home))


@needs_bwrap
async def test_other_processes_are_neither_seen_nor_reached(confined):
    output = await run(confined(), f"kill -0 {os.getpid()} && echo reached; tr '\\0' ' ' < /proc/{os.getpid()}/cmdline")
    assert "reached" not in output and "pytest" not in output


@needs_bwrap
@pytest.mark.parametrize("network", [False, True])
async def test_the_network_is_there_by_setting_alone(confined, network):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        connect = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"
        output = await run(confined(network=network), f'bash -c "{connect}"')
    assert ("connected" in output) is network


@needs_bwrap
async def test_sockets_of_services_are_not_there(confined, tmp_path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        assert "no" in await run(confined(), f"test -S {tmp_path}/s && echo yes || echo no")


@needs_bwrap
async def test_a_command_and_what_it_started_end_with_the_session(confined, home):
    os.mkfifo(home / "work/pids")
    os.mkfifo(home / "work/nothing")
    toolset = confined()
    stays = "setsid sh -c 'echo 1 > pids; read more < nothing' stays-behind & wait"
    background = {"cmd": stays, "run_in_background": True}
    assert toolset.check(call("exec_command", background)) is None
    await use(toolset, "exec_command", background)
    read_pids(home / "work/pids", 1)
    inside = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal() and _stays(entry)]
    assert inside
    await toolset.close()
    for pid in inside:
        wait_until_gone(pid)


def _stays(entry):
    try:
        return (entry / "cmdline").read_bytes().endswith(b"\0stays-behind\0")
    except OSError:
        return False


async def test_without_bubblewrap_no_command_runs_and_the_reason_is_said(confined, home, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    output = await run(confined(), "echo ran > proof")
    assert "install bubblewrap" in output and not (home / "work/proof").exists()
