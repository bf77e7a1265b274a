"""Pages come from a process of their own: whole and private, or not at all and with a reason."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent_lsp.errors import RequestRefused, SessionNotFound
from agent_lsp.sessions import pages as pages_module
from agent_lsp.sessions.pages import Pages
from agent_lsp.tools.processes import Processes
from agent_lsp.trace.paths import DataDir
from tests.trace.trace_view_samples import SESSION_ID, rich

pytestmark = pytest.mark.asyncio

OUT = "import sys, pathlib, os, time\nout = pathlib.Path(next(one for one in sys.argv[1:] if '.html.' in one))\n"
WRITES = OUT + "import json\nout.write_text(json.dumps((sys.argv[1:], sys.stdin.read())))"
FAILS = OUT + "out.write_text('half')\nprint('noise')\nsys.exit('agent-lsp: it is\\x1b broken')"
CRASHES = "raise ValueError('unforeseen')"
SILENT = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
HANGS = OUT + "out.write_text(str(os.getpid()))\ntime.sleep(600)"
DELETES = OUT + "out.write_text('late')\nfor one in pathlib.Path('sessions').glob('*/*'): one.unlink()"


@pytest.fixture
def data(tmp_path):
    data = DataDir(tmp_path / "data")
    folder = data.trace_path(SESSION_ID, 1).parent
    folder.mkdir(parents=True)
    rich().save(folder)
    return data


@asynccontextmanager
async def pages(data, script=None, prices="{}"):
    """Pages made by a script in place of the command line, or by that."""
    processes = Processes()
    with pytest.MonkeyPatch.context() as monkeypatch:
        if script is not None:
            monkeypatch.setattr(pages_module, "PROGRAM", (sys.executable, "-c", script))
        try:
            yield Pages(data, processes.session(), lambda: prices, lambda: None)
        finally:
            await processes.close()


def left(data):
    return sorted(one.name for one in data.pages.iterdir()) if data.pages.exists() else []


async def refusal(page):
    with pytest.raises(RequestRefused) as refused:
        await page
    assert "\n" not in refused.value.message
    return refused.value.message


async def test_the_page_of_a_session_is_its_trace_for_its_owner_alone(data):
    async with pages(data) as made:
        page = await made.of_session(SESSION_ID)

    assert page == data.page(SESSION_ID)
    assert left(data) == [page.name]
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert stat.S_IMODE(data.pages.stat().st_mode) == 0o700
    assert "Fix the greeting" in page.read_text(encoding="utf-8")


async def test_its_costs_are_those_of_the_prices_in_force(data):
    prices = {"anthropic": {"claude-sonnet-4-5": {"input": 1000, "output": 1000}}}
    async with pages(data, prices=json.dumps(prices)) as made:
        dear = (await made.of_session(SESSION_ID)).read_text()
    async with pages(data, prices=json.dumps({"anthropic": {"claude-sonnet-4-5": {}}})) as made:
        free = (await made.of_session(SESSION_ID)).read_text()

    assert "<strong>$0.00</strong>" in free
    assert "<strong>$0" not in dear


async def test_the_page_of_usage_is_there_before_anything_was_used(data):
    async with pages(data) as made:
        page = await made.of_usage()

    assert page == data.usage_page
    assert "Nothing was used." in page.read_text(encoding="utf-8")


async def test_a_page_takes_the_place_of_the_one_before_as_a_whole(data):
    async with pages(data, WRITES) as made:
        page = await made.of_session(SESSION_ID)
        before = page.stat().st_ino
        with page.open() as kept:
            await made.of_session(SESSION_ID)
            assert SESSION_ID in kept.read()
        assert page.stat().st_ino != before
    assert left(data) == [page.name]


async def test_the_command_is_told_everything_and_the_prices_on_its_input(data):
    async with pages(data, WRITES, prices='{"a": {}}') as made:
        words, given = json.loads((await made.of_session(SESSION_ID)).read_text())

    assert words[:5] == ["trace", "html", SESSION_ID, "--prices", "-"]
    assert words[-2:] == ["--data-dir", str(data.root)]
    assert given == '{"a": {}}'


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (FAILS, "the page was not made: it is\\x1b broken"),
        (CRASHES, "the page was not made: ValueError: unforeseen"),
        (SILENT, "the page was not made: its process ended with -9"),
        ("", f"the page {{page}} was not made: {os.strerror(2)}"),
    ],
)
async def test_a_failure_is_one_line_and_the_page_before_stays(data, script, reason):
    data.pages.mkdir()
    data.page(SESSION_ID).write_text("before")
    async with pages(data, script) as made:
        assert await refusal(made.of_session(SESSION_ID)) == reason.format(page=data.page(SESSION_ID))

    assert left(data) == [data.page(SESSION_ID).name]
    assert data.page(SESSION_ID).read_text() == "before"


async def test_a_program_that_cannot_be_started_is_a_reason_too(data, monkeypatch):
    monkeypatch.setattr(pages_module, "PROGRAM", (str(data.root / "no-such-python"),))
    async with pages(data) as made:
        assert os.strerror(2) in await refusal(made.of_session(SESSION_ID))


async def started(data):
    """The process that writes a page, once it has said its number."""
    async with asyncio.timeout(30):
        while True:
            for one in data.pages.glob(".*.html.*") if data.pages.exists() else ():
                if number := one.read_text():
                    return int(number)
            await asyncio.sleep(0.01)


async def gone(pid):
    deadline = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline, pid
        await asyncio.sleep(0.01)


async def test_cancelling_ends_the_process_and_leaves_nothing(data):
    async with pages(data, HANGS) as made:
        task = asyncio.create_task(made.of_session(SESSION_ID))
        pid = await started(data)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await gone(pid)
        assert left(data) == []


async def test_the_end_of_the_server_ends_the_process(data):
    async with pages(data, HANGS) as made:
        task = asyncio.create_task(made.of_session(SESSION_ID))
        pid = await started(data)
    await gone(pid)
    assert "ended with -" in await refusal(task)
    assert left(data) == []


async def test_a_page_that_takes_too_long_is_given_up(data, monkeypatch):
    monkeypatch.setattr(pages_module, "WITHIN_S", 0.5)
    async with pages(data, HANGS) as made:
        assert "not made within" in await refusal(made.of_session(SESSION_ID))
        assert left(data) == []


async def test_one_page_is_made_at_a_time(data):
    script = OUT + "busy = pathlib.Path('busy')\nbusy.touch(exist_ok=False)\nout.write_text('x')\nbusy.unlink()"
    async with pages(data, script) as made:
        await asyncio.gather(*(made.of_session(SESSION_ID) for _ in range(3)), made.of_usage())


@pytest.mark.parametrize("session_id", ["nobody", "../../etc/passwd", "session-20260101-000000-0123abcd"])
async def test_a_session_without_a_trace_is_not_found_at_once(data, session_id):
    async with pages(data, CRASHES) as made:
        with pytest.raises(SessionNotFound):
            made.of_session(session_id)
    assert left(data) == []


async def test_of_a_session_that_is_deleted_meanwhile_there_is_no_page(data):
    async with pages(data, DELETES) as made:
        with pytest.raises(SessionNotFound):
            await made.of_session(SESSION_ID)
    assert left(data) == []


async def test_what_killed_servers_have_left_is_removed_and_what_others_write_is_not(data):
    data.pages.mkdir()
    torn, young = data.pages / ".other.html.0123abcd", data.pages / ".usage.html.0123abcd"
    for one in (torn, young):
        one.write_text("half")
    os.utime(torn, (time.time() - pages_module.WITHIN_S - 1,) * 2)
    async with pages(data, WRITES) as made:
        page = await made.of_usage()

    assert left(data) == [young.name, page.name]
