"""The process table after every end of a call, a session or the server: nothing is left, sandboxed or not."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent_lsp.tools.sandbox import Sandbox
from agent_lsp.tools.toolset import ToolLimits

from .conftest import call, read_pids, use, wait_until_gone

CONFINES = shutil.which("bwrap") is not None and not subprocess.call(
    ["bwrap", "--ro-bind", "/", "/", "--unshare-pid", "--unshare-net", "--proc", "/proc", "true"],
    stderr=subprocess.DEVNULL,
)
pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="marks are read from /proc"),
]
LINES = {
    "plain": "sleep 600 & echo $$ $! > pids; wait",
    "stubborn": "trap '' TERM INT HUP; sh -c 'trap \"\" TERM; echo $$ $PPID > pids; while :; do sleep 600; done'; wait",
    "escaping": "setsid sleep 600 & echo $$ $! > pids; wait",
    "talking": "(echo $$ 0 > pids; exec yes) | (cat; sleep 600)",
}
each_line = pytest.mark.parametrize("line", LINES.values(), ids=LINES)
each_place = pytest.mark.parametrize(
    "is_confined",
    [False, pytest.param(True, marks=pytest.mark.skipif(not CONFINES, reason="bubblewrap may not be used here"))],
    ids=["free", "sandboxed"],
)


def marked(mark):
    """All processes of this machine that were started for the session with this mark, whoever their parent is now."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and mark.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


async def gone(mark, before):
    """Waits for the end of those that were there, and of what they have started while they were ended."""
    assert before, "nothing was found, so nothing is proved"
    left = [*before, *marked(mark)]
    for _ in range(5):
        for pid in left:
            await asyncio.to_thread(wait_until_gone, pid)
        if not (left := marked(mark)):
            return
    raise AssertionError(f"there is always another: {left}")


@pytest.fixture
def confined_session(make_session, root):
    """confined_session(is_confined, …) → a session whose commands are in the sandbox, or not."""
    os.mkfifo(root / "pids")

    def make(is_confined, **more):
        session = make_session(**more)
        if is_confined:
            session.commands._sandbox = Sandbox((root,), lambda: ())
        return session

    return make


@each_place
@each_line
@pytest.mark.parametrize("end", ["abort", "close", "timeout", "kill_command", "close in the background"])
async def test_nothing_is_left_of_a_command_however_it_ends(confined_session, line, end, is_confined):
    session = confined_session(is_confined, limits=ToolLimits(timeout_s=0.7 if end == "timeout" else 0))
    mark = session.commands.mark
    is_background = end in ("kill_command", "close in the background")
    arguments = {"cmd": line, "run_in_background": is_background}
    task = asyncio.ensure_future(use(session.toolset, "exec_command", arguments))
    await asyncio.to_thread(read_pids, session.root / "pids", 2)
    before = marked(mark)
    match end:
        case "abort":
            task.cancel()
            await asyncio.wait([task])
        case "timeout":
            assert "[tool timeout: exceeded 700 ms]" in (await task).output
        case "kill_command":
            (process_id,) = session.commands._background
            assert (await task).output.endswith(f"[process running with process_id {process_id}]")
            await use(session.toolset, "kill_command", {"process_id": process_id})
        case _:
            await session.toolset.close()
            await asyncio.wait([task])
    await gone(mark, before)


HOST = """
import asyncio, sys
from pathlib import Path
from agent_lsp.tools.processes import Processes
from agent_lsp.tools.sandbox import Sandbox

async def main(line, root, is_confined, end):
    processes = Processes()
    commands = processes.session(Sandbox((root,), lambda: ()) if is_confined else None)
    print(commands.mark, flush=True)
    commands.keep(commands.start(line, root, has_input=False))
    if end == "error":
        await asyncio.to_thread(sys.stdin.readline)
        raise SystemError("a bug that nobody catches")
    await asyncio.to_thread(sys.stdin.readline)
    await processes.close()

asyncio.run(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3] == "True", sys.argv[4]))
"""


@each_place
@each_line
@pytest.mark.parametrize("end", ["SIGKILL", "SIGTERM", "exit", "error"])
async def test_nothing_is_left_of_a_server_however_it_ends(root, line, end, is_confined):
    os.mkfifo(root / "pids")
    argv = (sys.executable, "-c", HOST, line, str(root), str(is_confined), end)
    pipe = asyncio.subprocess.PIPE
    host = await asyncio.create_subprocess_exec(
        *argv, cwd=Path.cwd(), stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL
    )
    mark = (await host.stdout.readline()).decode().strip()
    await asyncio.to_thread(read_pids, root / "pids", 2)
    before = marked(mark)
    if end in ("exit", "error"):
        await host.communicate(b"\n")
    else:
        host.send_signal(getattr(signal, end))
        await host.wait()
    await gone(mark, before)


@pytest.mark.parametrize("by", ["ripgrep", "Python"])
@pytest.mark.parametrize("end", ["abort", "close", "timeout"])
async def test_nothing_is_left_of_a_search(make_session, monkeypatch, tmp_path, by, end):
    session = make_session(limits=ToolLimits(timeout_s=0.7 if end == "timeout" else 0))
    rg = tmp_path / "rg"
    rg.write_text("#!/bin/sh\nsleep 600 & wait\n")
    rg.chmod(0o755)
    monkeypatch.setattr("agent_lsp.tools.search_text.find_ripgrep", lambda: str(rg) if by == "ripgrep" else None)
    (session.root / "a.txt").write_text("a" * 64 + "!\n")
    items = session.toolset.execute(call("search_text", {"pattern": "(a+)+$"}))
    task = asyncio.ensure_future(anext(items))
    while len(before := marked(session.commands.mark)) < (2 if by == "ripgrep" else 1):
        await asyncio.to_thread(os.sched_yield)
    match end:
        case "abort":
            task.cancel()
        case "close":
            await session.toolset.close()
        case _:
            await task
    await asyncio.wait([task])
    await items.aclose()
    await gone(session.commands.mark, before)
