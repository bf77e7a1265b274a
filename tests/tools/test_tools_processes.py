"""Real processes: what a command starts never outlives its call, its session or the server, whatever ends them."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent_lsp.tools.descendants import kill_marked
from agent_lsp.tools.processes import Processes
from agent_lsp.tools.toolset import ToolLimits

from .conftest import call, read_pids, use, wait_until_gone

pytestmark = pytest.mark.asyncio
PAIR = "sleep 600 & echo $$ $! > pids; echo ready; wait"
STUBBORN = (
    "trap '' TERM INT HUP; sh -c 'trap \"\" TERM; echo $$ $PPID > pids; echo ready; while :; do sleep 600; done'; wait"
)
ESCAPING = "setsid sleep 600 & echo $$ $! > pids; echo ready; wait"

LEFT = "sleep 600 & echo $$ $! > pids"
DAEMON = "(setsid sh -c 'echo $$ $$ > pids; exec sleep 600' > /dev/null 2>&1 &)"
RESTLESS = "echo 'exec sh again' > again; (setsid sh -c 'echo $$ $$ > pids; exec sh again' > /dev/null 2>&1 &)"


@pytest.fixture
def pids(root) -> Path:
    """A pipe in the workspace that commands write their process ids to."""
    os.mkfifo(root / "pids")
    return root / "pids"


def is_running(pid):
    return Path(f"/proc/{pid}").exists()


def children(pid):
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def open_descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


def process_id(done):
    return re.search(r"\[process running with process_id (proc-[0-9a-f]{8})\]$", done.output)[1]


def shell(script, mark):
    """A process that runs a script, with a mark in its environment."""
    return subprocess.Popen(["sh", script], env={"PATH": os.environ["PATH"]} | dict([mark.split("=")]))


async def pids_of(fifo, count=2):
    return await asyncio.to_thread(read_pids, fifo, count)


async def gone(*these):
    for pid in these:
        await asyncio.to_thread(wait_until_gone, pid)


async def test_both_outputs_come_in_order_with_the_exit_code(session):
    done = await session.use("exec_command", cmd="echo out; echo err >&2; echo more")
    assert done.output == "out\nerr\nmore\n[exit code: 0]" and not done.failed
    bad = await session.use("exec_command", cmd="printf partial; exit 3")
    assert bad.output == "partial\n[exit code: 3]" and bad.failed
    killed = await session.use("exec_command", cmd="kill -KILL $$")
    assert killed.output == "[terminated by signal SIGKILL]" and killed.failed


async def test_output_comes_while_the_command_runs_and_characters_are_whole(session):
    os.mkfifo(session.root / "go")
    items = session.toolset.execute(call("exec_command", {"cmd": "printf 'a\\303'; read x < go; printf '\\244z\\377'"}))
    assert await anext(items) == "a"
    await asyncio.to_thread((session.root / "go").write_text, "x\n")
    assert "".join([item async for item in items if isinstance(item, str)]) == "äz\ufffd\n[exit code: 0]"


async def test_commands_run_where_they_are_told_without_a_terminal_or_input(session):
    (session.root / "sub").mkdir()
    assert (await session.use("exec_command", cmd="pwd -P", workdir="sub")).output.startswith(f"{session.root}/sub\n")
    assert (
        await session.use("exec_command", cmd="cat; [ -t 0 ] || [ -t 1 ] || echo none")
    ).output == "none\n[exit code: 0]"
    missing = await session.use("exec_command", cmd="true", workdir="no/such")
    assert missing.failed and missing.output.startswith("[spawn error: ")
    assert (await session.use("exec_command", cmd="a\0b")).output.startswith("[spawn error: ")


async def test_the_environment_is_scrubbed_and_made_for_nobody_watching(make_session):
    own = {"PATH": os.environ["PATH"], "MY_KEY": "planted", "TERM": "xterm", "SHELL": "/no/such/shell"}
    session = make_session(processes=Processes(frozenset({"MY_KEY"}), own))
    lines = (await session.use("exec_command", cmd="env")).output.splitlines()
    wanted = "GIT_EDITOR=true GIT_TERMINAL_PROMPT=0 PAGER=cat GIT_PAGER=cat NO_COLOR=1 TERM=dumb"
    assert set(wanted.split()) <= set(lines) and not [one for one in lines if "planted" in one or "MY_KEY" in one]


async def test_a_shell_that_leaves_something_behind_does_not_hold_up_the_call(session, pids):
    task = asyncio.ensure_future(session.use("exec_command", cmd="sleep 600 & echo $! $$ > pids; echo left"))
    left, _ = await pids_of(pids)
    assert (await task).output == "left\n[exit code: 0]"
    assert is_running(left), "it goes on"
    await session.toolset.close()
    await gone(left)


@pytest.mark.parametrize("line", [PAIR, STUBBORN, ESCAPING], ids=["plain", "stubborn", "escaping"])
@pytest.mark.parametrize("end", ["cancel", "close", "timeout"])
async def test_nothing_is_left_of_a_command_that_is_ended(make_session, pids, line, end):
    session = make_session(limits=ToolLimits(timeout_s=0.5 if end == "timeout" else 0))
    task = asyncio.ensure_future(session.use("exec_command", cmd=line))
    group = await pids_of(pids)
    if end == "cancel":
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    elif end == "close":
        await session.toolset.close()
    else:
        done = await task
        assert done.output.endswith("[tool timeout: exceeded 500 ms]") and done.failed
    await gone(*group)
    await asyncio.wait([task])


@pytest.mark.parametrize("line", [PAIR, STUBBORN, DAEMON, RESTLESS], ids=["plain", "stubborn", "daemon", "restless"])
async def test_a_background_command_ends_with_its_session(session, pids, line):
    done = await session.use("exec_command", cmd=line, run_in_background=True)
    assert process_id(done)
    group = await pids_of(pids)
    await session.toolset.close()
    await gone(*group)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="marks are read from /proc")
async def test_a_process_that_is_turning_into_another_program_does_not_escape(session, root):
    (root / "again").write_text('exec sh "$0"\n')
    for _ in range(10):
        mark = f"RESTLESS={secrets.token_hex(8)}"
        restless = [shell(root / "again", mark) for _ in range(8)]
        try:
            await asyncio.to_thread(kill_marked, mark)
            assert [one.wait(5) for one in restless] == [-signal.SIGKILL] * 8
        finally:
            for one in restless:
                one.kill()
                one.wait()


HOST = """
import asyncio, sys
from pathlib import Path
from agent_lsp.tools.processes import Processes

async def main():
    commands = Processes().session()
    command = commands.start(sys.argv[1], Path(sys.argv[2]), has_input=False)
    commands.keep(command)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "line",
    [PAIR, STUBBORN, ESCAPING, LEFT, DAEMON, RESTLESS],
    ids=["plain", "stubborn", "escaping", "left", "daemon", "restless"],
)
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
async def test_nothing_is_left_of_a_server_that_is_killed(root, pids, line, end):
    host = await asyncio.create_subprocess_exec(sys.executable, "-c", HOST, line, str(root), cwd=Path.cwd())
    group = await pids_of(pids)
    watchdog = children(host.pid)
    host.send_signal(end)
    await host.wait()
    await gone(*group, *watchdog)


async def test_another_watchdog_takes_over_from_one_that_was_killed(session, pids):
    done = await session.use("exec_command", cmd=PAIR, run_in_background=True)
    group = await pids_of(pids)
    killed = session.processes._watchdog._process
    killed.kill()
    killed.wait()
    await session.use("exec_command", cmd="true")
    session.processes._watchdog.close()
    await gone(*group)
    assert process_id(done)


async def test_signals_for_the_server_do_not_reach_the_watchdog(session):
    await session.use("exec_command", cmd="true")
    watchdog = session.processes._watchdog._process
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        watchdog.send_signal(number)
    with pytest.raises(subprocess.TimeoutExpired):
        watchdog.wait(0.1)
    assert os.getsid(watchdog.pid) == watchdog.pid


async def test_a_background_command_is_written_to_and_killed(session):
    id = process_id(await session.use("exec_command", cmd="cat; echo bye", run_in_background=True))
    answered = await session.use("input_command", process_id=id, chars="ping\n", yield_time_ms=5000)
    assert answered.output == f"ping\n[process running with process_id {id}]" and not answered.failed
    killed = await session.use("kill_command", process_id=id)
    assert killed.output == "[terminated by signal SIGTERM]" and not killed.failed
    for name in ("input_command", "kill_command"):
        assert (await session.use(name, process_id=id)).failed


async def test_large_input_reaches_a_slow_reader(session):
    id = process_id(await session.use("exec_command", cmd="sleep 0.2; head -c 300000 | wc -c", run_in_background=True))
    done = await session.use("input_command", process_id=id, chars="x" * 300_000, yield_time_ms=10_000)
    assert done.output.split()[0] == "300000"


async def test_a_slow_command_goes_to_the_background_and_is_interrupted(session, pids):
    slow = await session.use("exec_command", cmd="echo first; exec sleep 600", yield_time_ms=300)
    assert slow.output.startswith("first\n") and not slow.failed
    done = await session.use("input_command", process_id=process_id(slow), chars="\u0003", yield_time_ms=5000)
    assert done.output == "[terminated by signal SIGINT]"


async def test_killing_a_stubborn_command_gives_what_was_not_delivered(session, pids):
    id = process_id(await session.use("exec_command", cmd=STUBBORN, run_in_background=True))
    group = await pids_of(pids)
    done = await session.use("kill_command", process_id=id)
    assert done.output == "ready\n[terminated by signal SIGKILL]"
    await gone(*group)


async def test_looking_at_an_ended_command_gives_its_end_once(session, root):
    os.mkfifo(root / "go")
    id = process_id(await session.use("exec_command", cmd="echo a; read x < go; exit 3", run_in_background=True))
    await asyncio.to_thread((root / "go").write_text, "x\n")
    done = await session.use("input_command", process_id=id, yield_time_ms=10_000)
    assert done.output == "a\n[exit code: 3]" and done.failed
    assert session.commands.take_reports() == ()


async def test_the_end_of_a_background_command_is_reported_once(session):
    id = process_id(await session.use("exec_command", cmd="exit 3", run_in_background=True))
    command = session.commands.find(id)
    assert [text async for text in command.stream(float("inf"))] == []
    (report,) = session.toolset.reports()
    assert id in report and "exit code: 3" in report and not session.toolset.reports()


async def test_of_output_that_nobody_reads_the_oldest_is_dropped(session):
    id = process_id(await session.use("exec_command", cmd="seq 1 1000000; exec sleep 600", run_in_background=True))
    command = session.commands.find(id)
    while not command._pieces or not command._pieces[-1].endswith("1000000\n"):
        await command._wait_for_news(asyncio.get_running_loop().time() + 10)
        command._news.clear()
    text = command._unread()
    assert re.match(r"\[\d+ characters of older output were dropped\]\n", text) and len(text) < 1.2 * 2**20


async def test_a_command_that_never_stops_talking_goes_to_the_background_in_time(session):
    talking = await session.use("exec_command", cmd="yes", yield_time_ms=100)
    assert process_id(talking)


async def test_no_patience_at_all_is_the_background_at_once(session):
    assert process_id(await session.use("exec_command", cmd="exec sleep 600", yield_time_ms=0))


async def test_input_needs_approval_and_looking_does_not(session):
    id = process_id(await session.use("exec_command", cmd="exec sleep 600", run_in_background=True))
    look, interrupt, write = (call("input_command", {"process_id": id, "chars": c}) for c in ("", "\u0003", "rm x\n"))
    access = session.toolset.access
    assert (access(look).kind, access(interrupt).kind) == ("own", "own")
    assert (access(write).kind, access(write).command, access(write).cwd) == ("command", "rm x\n", session.root)
    assert access(call("kill_command", {"process_id": id})).kind == "own"
    assert "exec sleep 600" in session.toolset.title(call("kill_command", {"process_id": id}))


async def test_sessions_do_not_see_or_end_each_others_commands(make_session, pids):
    one = make_session()
    other = make_session(processes=one.processes)
    id = process_id(await one.use("exec_command", cmd=PAIR, run_in_background=True))
    group = await pids_of(pids)
    assert (await use(other.toolset, "kill_command", {"process_id": id})).failed
    await other.toolset.close()
    assert all(map(is_running, group))


async def test_no_descriptor_is_left_open(session):
    await session.use("exec_command", cmd="true")
    before = open_descriptors()
    for _ in range(5):
        await session.use("exec_command", cmd="echo hi; sleep 0 & true")
    assert open_descriptors() <= before
