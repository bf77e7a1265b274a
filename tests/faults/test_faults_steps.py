"""One scenario, and a fault at each of its steps; after each nothing is lost, nothing runs, and the session goes on.

The scenario is the whole application with real tools and a real disk: a run that thinks, reads, writes, runs a command
and answers. Steps are the messages that a client hears, or the writes that a disk is asked for.
"""

import asyncio
import errno
import json
import os
import threading
import time

import pytest

from agent_lsp.providers.scripted import call, fail, text, thinking
from agent_lsp.trace.file import TraceFile
from tests.load.soak import children
from tests.server.front_end import Refused, front_end

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(180)]
FIRST = [
    thinking("hm"),
    text("I ", "look. "),
    call("read_file", {"file_path": "a.txt"}),
    call("write_file", {"file_path": "b.txt", "content": "written\n"}),
    call("exec_command", {"cmd": "echo out; sleep 0"}),
]
LAST = [text("all ", "done")]
SAID = "remember the words"
HIGH_WATER_BYTES = 1 << 20


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # what a power cut does is told elsewhere


def begin(client, model, *turns):
    client.handlers["agent/approve"] = lambda _: {"decision": "allow"}
    model.script(*(turns or (FIRST, LAST)))
    return client.send("agent/run", input=SAID)


def session_of(client):
    return next((one["sessionId"] for one in client.told("agent/message")), None)


async def length(tmp_path):
    """How many messages the scenario has when nothing goes wrong."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        async with front_end(tmp_path, monkeypatch) as (client, model):
            prepare(tmp_path)
            result = await asyncio.wait_for(begin(client, model), 20)
            assert result["status"] == "completed"
            return len(client.log)


def prepare(folder):
    (folder / "work").mkdir(exist_ok=True)
    (folder / "work" / "a.txt").write_text("one\ntwo\n")


async def goes_on(folder, session, *, expects_words=True):
    """A new server on the same disk: the session is there with what was said, legal, and runs."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        async with front_end(folder, monkeypatch) as (client, model):
            client.handlers["agent/approve"] = lambda _: {"decision": "allow"}
            await client.ask("agent/session/resume", sessionId=session)
            model.script([text("went on")])
            result = await client.ask("agent/run", input="again", sessionId=session)
            assert (result["status"], result["text"]) == ("completed", "went on")
            (request,) = model.requests
    sent = [one for commit in request.history for one in commit.messages] + list(request.input)
    check_pairing(sent)
    if expects_words:
        assert any(SAID in getattr(one, "text", "") for one in sent), "what the person said is not lost"


def check_pairing(messages):
    waiting = []
    for one in messages:
        if one.type == "tool_call":
            waiting.append(one.tool_call_id)
        elif one.type == "tool_call_output":
            assert waiting.pop(0) == one.tool_call_id
    assert not waiting


def nothing_runs(tasks):
    assert asyncio.all_tasks() - {asyncio.current_task()} <= tasks
    assert children() == []


def at_message(client, step, action):
    """Does something when the client hears the so-manieth message."""
    hear, heard = client.wire._hear, 0

    def counted(message):
        nonlocal heard
        heard += 1
        hear(message)
        if heard == step:
            action()

    client.wire._hear = counted


async def test_an_interrupt_at_every_message(tmp_path):
    for step in range(2, await length(tmp_path)):
        folder = tmp_path / f"abort-{step}"
        folder.mkdir()
        prepare(folder)
        tasks = asyncio.all_tasks()
        with pytest.MonkeyPatch.context() as monkeypatch:
            async with front_end(folder, monkeypatch) as (client, model):
                at_message(
                    client, step, lambda client=client: asyncio.get_running_loop().call_soon(client.send, "agent/abort")
                )
                result = await asyncio.wait_for(begin(client, model), 20)
                assert result["status"] in ("completed", "aborted"), step
        nothing_runs(tasks)
        await goes_on(folder, result["sessionId"])


async def test_a_client_that_dies_at_every_message(tmp_path):
    for step in range(2, await length(tmp_path)):
        folder = tmp_path / f"dies-{step}"
        folder.mkdir()
        prepare(folder)
        tasks = asyncio.all_tasks()
        with pytest.MonkeyPatch.context() as monkeypatch:
            async with front_end(folder, monkeypatch) as (client, model):
                begin(client, model)
                at_message(client, step, client.connection.lost)
                await asyncio.wait_for(client.connection.ended, 20)
                session = session_of(client)
        nothing_runs(tasks)
        if session and list((folder / "data").rglob(f"{session}_*.jsonl")):
            await goes_on(folder, session)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO], ids=errno.errorcode.get)
async def test_a_disk_that_fails_from_each_write_on_and_recovers_loses_nothing(tmp_path, number, monkeypatch):
    real, state = TraceFile._take, {"asked": 0, "from": 10**9, "until": 10**9}

    def take(self, data):
        state["asked"] += 1
        if state["from"] <= state["asked"] < state["until"]:
            raise OSError(number, os.strerror(number))
        return real(self, data)

    monkeypatch.setattr(TraceFile, "_take", take)
    (tmp_path / "whole").mkdir()
    await length(tmp_path / "whole")
    for step in range(1, state["asked"] + 1):
        folder = tmp_path / f"disk-{step}"
        folder.mkdir()
        prepare(folder)
        state.update({"asked": 0, "from": step, "until": step + 3})
        async with front_end(folder, monkeypatch) as (client, model):
            result = await asyncio.wait_for(begin(client, model), 20)
            assert result["status"] == "completed", "the run does not mind"
            warned = [one for one in client.told("window/showMessage") if one["type"] <= 2]
            model.script([text("more")])
            await client.ask("agent/run", input="more", sessionId=result["sessionId"])
            page = await client.ask("agent/session/history", sessionId=result["sessionId"], limit=1000)
            told = json.dumps(page["messages"])
        assert warned, "the person is told"
        assert SAID in told and "all done" in told and '"more"' in told
        state.update({"from": 10**9})
        kept = "".join(one.read_text() for one in (folder / "data").rglob(f"{result['sessionId']}_*.jsonl"))
        assert SAID in kept and "all done" in kept, "what was held back is written when there is room"
        await goes_on(folder, result["sessionId"])


@pytest.mark.parametrize("status", ["timeout", "malformed", "failed", "auth"])
async def test_a_model_that_fails_at_every_part(tmp_path, status, monkeypatch):
    pieces = [thinking("hm"), text("I "), text("look. "), call("read_file", {"file_path": "a.txt"}), text("end")]
    prepare(tmp_path)
    tasks = asyncio.all_tasks()
    async with front_end(tmp_path, monkeypatch, reconnect={"maxRetries": 1, "baseMs": 1, "capMs": 1}) as (
        client,
        model,
    ):
        client.handlers["agent/approve"] = lambda _: {"decision": "allow"}
        session = (await client.ask("agent/session/new"))["sessionId"]
        for count in range(len(pieces)):
            broken = [*pieces[:count], fail(status, "injected")]
            model.script(broken, broken)
            failed = await client.ask("agent/run", input=f"{SAID} {count}", sessionId=session)
            assert failed["status"] == status
            model.turns.clear()
            model.script(LAST)
            assert (await client.ask("agent/run", input="again", sessionId=session))["status"] == "completed"
            sent = [one for commit in model.requests[-1].history for one in commit.messages]
            check_pairing(sent)
            assert f"{SAID} {count}" in "".join(getattr(one, "text", "") for one in (*sent, *model.requests[-1].input))
    nothing_runs(tasks)


async def test_a_slow_disk_holds_up_the_end_of_a_run_and_nothing_else(tmp_path, monkeypatch):
    released, syncing = threading.Event(), threading.Event()

    def slow(descriptor):
        syncing.set()
        assert released.wait(30)

    monkeypatch.setattr(os, "fsync", slow)
    prepare(tmp_path)
    async with front_end(tmp_path, monkeypatch) as (client, model):
        run = begin(client, model, [text("one")])
        try:
            await asyncio.to_thread(syncing.wait, 20)
            began = time.monotonic()
            for _ in range(20):
                assert (await client.ask("agent/compactability", sessionId=session_of(client)))["availability"]
            assert time.monotonic() - began < 5 and not run.done()
        finally:
            released.set()
        assert (await asyncio.wait_for(run, 20))["status"] == "completed"


@pytest.mark.parametrize("jump_s", [-86_400 * 400, 86_400 * 400, -1.5])
async def test_a_clock_that_jumps_changes_no_run_and_hides_no_session(tmp_path, monkeypatch, jump_s):
    real, shift = time.time, {"s": 0.0}
    monkeypatch.setattr(time, "time", lambda: real() + shift["s"])
    prepare(tmp_path)
    async with front_end(tmp_path, monkeypatch, reconnect={"maxRetries": 3, "baseMs": 5, "capMs": 10}) as (
        client,
        model,
    ):
        at_message(client, 6, lambda: shift.update(s=jump_s))
        model.script([fail("timeout", "once")])
        result = await asyncio.wait_for(begin(client, model, [fail("timeout", "twice")], FIRST, LAST), 20)
        assert result["status"] == "completed"
        listed = [one["sessionId"] for one in (await client.ask("agent/session/list"))["sessions"]]
        assert listed == [result["sessionId"]]
        usage = await client.ask("agent/usage", sessionId=result["sessionId"])
        assert usage["totals"]["requests"] >= 3
    await goes_on(tmp_path, result["sessionId"])


async def test_a_data_directory_that_lost_its_permissions_stops_no_run(tmp_path, monkeypatch):
    """As root nothing is forbidden, so the folder of the sessions is a file."""
    prepare(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "sessions").write_text("no folder")
    (tmp_path / "data" / "scratchpad").write_text("no folder")
    async with front_end(tmp_path, monkeypatch) as (client, model):
        result = await asyncio.wait_for(begin(client, model), 20)
        assert result["status"] == "completed"
        assert (tmp_path / "work" / "b.txt").read_text() == "written\n"
        assert client.told("window/showMessage")
        with pytest.raises(Refused):
            await client.ask("agent/session/resume", sessionId="session-20260101-000000-00000000")


async def test_a_client_that_does_not_read_for_a_minute_misses_nothing(tmp_path, monkeypatch):
    """Its minute is as long as it takes the model to be held back; what it reads then has no gap."""
    prepare(tmp_path)
    async with front_end(tmp_path, monkeypatch) as (client, model):
        pieces = [text(*("0123456789abcdef" * 64 for _ in range(4_000)))]
        client.wire.paused = True
        run = begin(client, model, pieces)
        outbox, last = client.connection.outbox, -1
        while outbox.queued_bytes != last or outbox.queued_bytes < HIGH_WATER_BYTES:
            last = outbox.queued_bytes
            for _ in range(200):
                await asyncio.sleep(0)
        assert outbox.queued_bytes < 2 * HIGH_WATER_BYTES and model.streaming == 1, (
            "held back in the middle of its reply"
        )
        assert not run.done()
        client.wire.paused = False
        client.connection.writable()
        result = await asyncio.wait_for(run, 60)
        assert result["status"] == "completed" and len(result["text"]) == 4_000 * 1024
        seqs = [(one["seq"], len(one["messages"])) for one in client.told("agent/message")]
        expected = 0
        for seq, count in seqs:
            assert seq == expected
            expected = seq + count
