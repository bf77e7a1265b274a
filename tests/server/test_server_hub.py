"""The sessions of a connection: which is meant, which are listed, how they end."""

import asyncio

import pytest

from agent_lsp.providers.scripted import gate, text
from tests.server.front_end import front_end

pytestmark = pytest.mark.asyncio


def ids(listed):
    return [one["sessionId"] for one in listed["sessions"]]


async def new(client, **params):
    return (await client.ask("agent/session/new", **params))["sessionId"]


async def test_a_run_without_a_session_makes_one_and_the_next_goes_on_in_it(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        first = await client.ask("agent/run", input="one")
        second = await client.ask("agent/run", input="two")
        assert first["sessionId"] == second["sessionId"]
        assert ids(await client.ask("agent/session/list")) == [first["sessionId"]]


async def test_a_session_without_a_title_is_listed_by_its_first_words_open_or_not(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        session = (await client.ask("agent/run", input="mend the parser"))["sessionId"]
        listed = await client.ask("agent/session/list")
        await client.ask("agent/session/close", sessionId=session)
        for one in (listed, await client.ask("agent/session/list")):
            assert [one["title"] for one in one["sessions"]] == ["mend the parser"]
        assert (await client.ask("agent/session/resume", sessionId=session)).get("title") is None


async def test_the_current_session_is_the_last_one_created_or_run(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        old, young = await new(client), await new(client)
        assert (await client.ask("agent/run", input="go"))["sessionId"] == young
        assert (await client.ask("agent/run", sessionId=old, input="go"))["sessionId"] == old
        assert (await client.ask("agent/run", input="go"))["sessionId"] == old


async def test_a_run_that_was_refused_does_not_make_its_session_the_current_one(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        old, young = await new(client), await new(client)
        await client.refusal("agent/run", sessionId=old, input=[{"type": "image", "url": "nowhere"}])
        assert (await client.ask("agent/run", input="go"))["sessionId"] == young


async def test_a_first_run_that_was_refused_leaves_no_session(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        for wrong in ({"input": [{"type": "resource", "uri": "/nowhere"}]}, {"input": "go", "model": "nobody/none"}):
            await client.refusal("agent/run", **wrong)
            assert ids(await client.ask("agent/session/list")) == []
            assert (await client.refusal("agent/compactability")).code == -32004


async def test_closing_the_current_session_leaves_none(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        other, current = await new(client), await new(client)
        assert await client.ask("agent/session/close", sessionId=current) == {}
        assert (await client.refusal("agent/abort")).code == -32004
        assert (await client.refusal("agent/session/close", sessionId=current)).code == -32004
        assert (await client.ask("agent/abort", sessionId=other)) == {"aborted": False}


async def test_closing_a_session_ends_its_runs_with_results(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        session = await new(client)
        model.script([text("a"), gate(asyncio.Event())])
        runs = [client.send("agent/run", input=words, queueIfBusy=True) for words in ("one", "two")]
        await client.until(lambda: client.streamed("partial_text"))
        await client.ask("agent/session/close", sessionId=session)
        assert [(await run)["status"] for run in runs] == ["aborted", "aborted"]
        assert len(model.requests) == 1


async def test_a_close_that_is_cancelled_closes_all_the_same(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        session = await new(client)
        model.script([text("a"), gate(asyncio.Event())])
        run = client.send("agent/run", input="go")
        await client.until(lambda: client.streamed("partial_text"))
        close, closed = client.prepare("agent/session/close", sessionId=session)
        client.say(close, {"method": "$/cancelRequest", "params": {"id": close["id"]}})
        assert (await run)["status"] == "aborted"
        assert closed.exception().code == -32800
        await client.until(lambda: not model.streaming)


async def test_the_end_waits_for_a_session_that_is_still_closing(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        session = await new(client)
        model.script([text("a"), gate(asyncio.Event())])
        client.send("agent/run", input="go")
        await client.until(lambda: client.streamed("partial_text"))
        client.send("agent/session/close", sessionId=session)
    traces = [path.read_text() for path in (tmp_path / "data").rglob("*.jsonl")]
    assert any('"type":"abort"' in trace for trace in traces)


async def test_a_deleted_session_is_gone_open_or_not(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        running = (await client.ask("agent/run", input="go"))["sessionId"]
        unused = await new(client)
        closed = await new(client)
        await client.ask("agent/run", input="go")
        await client.ask("agent/session/close", sessionId=closed)
        for session in (running, unused, closed):
            assert await client.ask("agent/session/delete", sessionId=session) == {}
            assert (await client.refusal("agent/session/delete", sessionId=session)).code == -32004
            assert (await client.refusal("agent/session/history", sessionId=session)).code == -32004
        assert ids(await client.ask("agent/session/list")) == []
        assert not list((tmp_path / "data").rglob("*.jsonl"))


async def test_sessions_are_listed_newest_first_with_those_that_never_ran(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        made = [await new(client), await new(client, ephemeral=True)]
        ran = (await client.ask("agent/run", sessionId=made[0], input="go"))["sessionId"]
        listed = await client.ask("agent/session/list")
        assert sorted(ids(listed)) == sorted(made)
        times = [one["updatedAt"] for one in listed["sessions"]]
        assert times == sorted(times, reverse=True)
        by_id = {one["sessionId"]: one for one in listed["sessions"]}
        assert by_id[ran]["tracePath"].endswith(".jsonl")
        assert "tracePath" not in by_id[made[1]]


async def test_a_list_can_be_of_one_workspace(tmp_path, monkeypatch):
    other = tmp_path / "other folder"
    other.mkdir()
    async with front_end(tmp_path, monkeypatch) as (client, _):
        here, there = await new(client), await new(client, workspace=other.as_uri())
        for session in (here, there):
            await client.ask("agent/run", sessionId=session, input="go")
        unused = await new(client, workspace=str(other))
        assert sorted(ids(await client.ask("agent/session/list", workspace=other.as_uri()))) == sorted([there, unused])
        assert ids(await client.ask("agent/session/list", workspace=f"{tmp_path / 'work'}/")) == [here]
        assert ids(await client.ask("agent/session/list", workspace="/nowhere")) == []


async def test_pages_of_a_list_have_each_session_once(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        made = []
        for _ in range(5):
            made.append(await new(client))
            await client.ask("agent/run", input="go")
        seen, more = [], {}
        while more is not None:
            page = await client.ask("agent/session/list", limit=2, **more)
            assert len(page["sessions"]) <= 2
            seen += ids(page)
            more = {"cursor": page["nextCursor"]} if "nextCursor" in page else None
        assert seen == made[::-1]
        assert (await client.refusal("agent/session/list", cursor="nonsense")).fields == ["cursor"]


async def test_what_is_listed_of_an_open_session_is_what_holds_now(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        opened = asyncio.Event()
        model.script([text("a"), gate(opened)])
        run = client.send("agent/run", input="go")
        await client.until(lambda: client.streamed("partial_text"))
        [one] = (await client.ask("agent/session/list"))["sessions"]
        assert one["state"] == "running"
        opened.set()
        await run
        told = await client.ask("agent/session/update", sessionId=one["sessionId"], title="Now", approvalMode="plan")
        [one] = (await client.ask("agent/session/list"))["sessions"]
        assert (one["state"], one["title"], one["approvalMode"], one["turns"]) == ("idle", "Now", "plan", 1)
        assert one == told


async def test_what_is_listed_of_a_closed_session_is_what_held_last(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        session = await new(client, title="Old", tags=["a"])
        await client.ask("agent/run", input="go")
        told = await client.ask("agent/session/update", sessionId=session, title="New", thinkingLevel="high")
        await client.ask("agent/session/close", sessionId=session)
        [one] = (await client.ask("agent/session/list"))["sessions"]
        for field in ("title", "thinkingLevel", "model", "workspace", "turns", "usage", "contextTokens", "createdAt"):
            assert one[field] == told[field], field
        assert one["state"] == "idle"


async def test_too_many_sessions_are_refused_until_one_is_closed(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, limits={"maxSessions": 2}) as (client, _):
        first, _second = await new(client), await new(client)
        refused = await client.refusal("agent/session/new")
        assert (refused.code, refused.data["kind"]) == (-32012, "limit_exceeded")
        await client.ask("agent/session/close", sessionId=first)
        assert await new(client)


async def test_a_workspace_has_to_be_a_folder(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    async with front_end(tmp_path, monkeypatch) as (client, _):
        for wrong in (tmp_path / "nowhere", tmp_path / "file", "/null\0byte", "/" + "x" * 5000):
            refused = await client.refusal("agent/session/new", workspace=str(wrong))
            assert (refused.code, refused.data["kind"]) == (-32011, "workspace_invalid")
        assert ids(await client.ask("agent/session/list")) == []


async def test_sessions_run_at_the_same_time_and_their_streams_are_numbered_apart(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        opened = [asyncio.Event(), asyncio.Event()]
        model.script([text("a"), gate(opened[0])], [text("b"), gate(opened[1])])
        sessions = [await new(client), await new(client)]
        runs = [client.send("agent/run", sessionId=session, input="go") for session in sessions]
        await client.until(lambda: len(client.streamed("partial_text")) >= 4)
        for event in reversed(opened):
            event.set()
        assert [(await run)["text"] for run in runs] == ["a", "b"]
        for session in sessions:
            told = [one for one in client.told("agent/message") if one["sessionId"] == session]
            numbers = [number for one in told for number, _ in enumerate(one["messages"], one["seq"])]
            assert numbers == list(range(len(numbers)))
