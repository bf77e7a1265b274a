"""The progress of a run: under the client's token or one of the server's, begun and ended once."""

import asyncio

import pytest

from agent_lsp.providers.scripted import call, gate, text
from tests.server.front_end import Refused, front_end

pytestmark = pytest.mark.asyncio
SHOWS = {"workDoneProgress": True}


def values(client, token):
    return [one["value"] for one in client.told("$/progress") if one["token"] == token]


def kinds(client, token):
    return [one["kind"] for one in values(client, token)]


async def test_progress_begins_with_the_title_reports_turns_and_tools_and_ends_with_the_status(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        model.script([call("read_file", {"file_path": "a"})], [text("done")])

        await client.ask("agent/run", input="Look   at\nthis", workDoneToken="mine")

        begin, *reports, end = values(client, "mine")
        assert begin == {"kind": "begin", "title": "Look at this", "cancellable": True}
        assert [one["message"] for one in reports] == ["turn 1", "turn 1 · read_file", "turn 2"]
        assert end == {"kind": "end", "message": "completed"}


async def test_progress_comes_before_the_result(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        await client.ask("agent/run", input="go", workDoneToken=7)

        ended = [index for index, one in enumerate(client.log) if one.get("method") == "$/progress"][-1]
        answered = [index for index, one in enumerate(client.log) if "result" in one][-1]
        assert ended < answered


async def test_a_client_without_progress_is_told_of_none(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        await client.ask("agent/run", input="go")
        assert not client.told("$/progress")
        assert not client.told("window/workDoneProgress/create")


async def test_a_long_title_is_cut(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        await client.ask("agent/run", input="x" * 100, workDoneToken=1)
        assert values(client, 1)[0]["title"] == "x" * 59 + "…"


async def test_the_servers_own_token_is_created_first(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, window=SHOWS) as (client, model):
        created, opened = [], asyncio.Event()
        client.handlers["window/workDoneProgress/create"] = lambda params: created.append(params["token"])
        model.script([gate(opened), text("done")])
        run = client.send("agent/run", input="go")
        await client.until(lambda: created and kinds(client, created[0]))
        opened.set()
        await run

        assert kinds(client, created[0])[0] == "begin"
        assert kinds(client, created[0])[-1] == "end"


async def test_a_client_that_creates_no_token_sees_no_progress(tmp_path, monkeypatch):
    def refuse(_):
        raise Refused({"code": -32601, "message": "no"})

    async with front_end(tmp_path, monkeypatch, window=SHOWS) as (client, _):
        client.handlers["window/workDoneProgress/create"] = refuse
        assert (await client.ask("agent/run", input="go"))["status"] == "completed"
        assert not client.told("$/progress")


async def test_a_token_that_is_created_after_the_run_is_never_begun(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, window=SHOWS) as (client, _):
        late = asyncio.Event()
        client.handlers["window/workDoneProgress/create"] = lambda _: late.wait()
        await client.ask("agent/run", input="go")
        late.set()
        await client.ask("agent/compactability")
        await client.ask("agent/compactability")

        assert not client.told("$/progress")


async def test_a_client_that_leaves_with_a_token_uncreated_ends_nothing_badly(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, window=SHOWS) as (client, _):
        await client.ask("agent/run", input="go")  # the request for a token stays open to the end


async def test_the_cancel_button_aborts_the_run_of_its_token_only(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        model.script([text("a"), gate(asyncio.Event())])
        run = client.send("agent/run", input="go", workDoneToken="mine")
        await client.until(lambda: client.streamed("partial_text"))
        client.say({"method": "window/workDoneProgress/cancel", "params": {"token": "another"}})
        client.say({"method": "window/workDoneProgress/cancel", "params": {"token": "mine"}})
        client.say({"method": "window/workDoneProgress/cancel", "params": {"token": "mine"}})

        assert (await run)["status"] == "aborted"
        assert values(client, "mine")[-1] == {"kind": "end", "message": "aborted"}


async def test_a_number_and_the_same_number_as_a_text_are_two_tokens(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        opened = asyncio.Event()
        model.script([gate(opened), text("done")])
        run = client.send("agent/run", input="go", workDoneToken=1)
        client.say({"method": "window/workDoneProgress/cancel", "params": {"token": "1"}})
        opened.set()

        assert (await run)["status"] == "completed"


async def test_a_queued_run_can_be_cancelled_by_its_button(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        opened = asyncio.Event()
        model.script([gate(opened), text("one")])
        first = client.send("agent/run", input="one")
        second = client.send("agent/run", input="two", queueIfBusy=True, workDoneToken="second")
        client.say({"method": "window/workDoneProgress/cancel", "params": {"token": "second"}})

        assert ((await second)["status"], (await second)["turns"]) == ("aborted", 0)
        opened.set()
        assert (await first)["text"] == "one"
        assert kinds(client, "second") == ["begin", "end"]
