"""Subagents, through a whole server: whose stream, whose trace, whose permission, and who ends whom."""

from __future__ import annotations

import asyncio

import pytest

from agent_lsp.providers.scripted import call, gate, text, usage
from tests.server.front_end import front_end

pytestmark = pytest.mark.asyncio


def errand(prompt="look around", **more):
    return call("run_subagent", {"prompt": prompt, **more})


def outputs(client):
    return [
        one["payload"]
        for params in client.told("agent/message")
        for one in params["messages"]
        if one["payload"]["type"] == "tool_call_output" and "origin" not in one
    ]


def stream(client):
    return [one for params in client.told("agent/message") for one in params["messages"]]


def of_children(client):
    return [one for one in stream(client) if one.get("origin")]


def said(request):
    return [one.text for one in request.input if one.type == "text"]


async def test_the_answer_of_a_child_is_the_output_of_the_call(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, approvalMode="allow-all") as (client, model):
        model.script([errand()], [text("seen it")], [text("done")])
        result = await client.ask("agent/run", input="go")
        assert result["text"] == "done" and result["turns"] == 2
        assert outputs(client)[0]["output"].startswith("seen it\n[subagent session-")
        assert result["usage"]["total"] == 30  # of the parent's two requests
        assert said(model.requests[1])[-1] == "look around"
        assert "run_subagent" not in {tool.name for tool in model.requests[1].tools}


async def test_a_child_that_ends_badly_is_a_failed_output_that_says_how(tmp_path, monkeypatch):
    from agent_lsp.providers.scripted import fail

    async with front_end(tmp_path, monkeypatch, approvalMode="allow-all") as (client, model):
        model.script([errand()], [fail("failed", "no such luck", permanent=True)], [text("done")])
        await client.ask("agent/run", input="go")
        output = outputs(client)[0]
        assert output["stop_reason"] == "failed" and "no such luck" in output["output"]


async def test_a_child_can_be_given_another_model_a_level_and_a_profile(tmp_path, monkeypatch):
    agents = {"scout": {"prompt": "You only look.", "tools": ["read_file"]}}
    async with front_end(tmp_path, monkeypatch, approvalMode="allow-all", agents=agents) as (client, model):
        model.script([errand(agent="scout", thinking_level="max")], [text("seen")], [text("done")])
        await client.ask("agent/run", input="go")
        child = model.requests[1]
        assert "You only look." in child.system and child.thinking_level == "max"
        assert [tool.name for tool in child.tools] == ["read_file"]
        spec = next(tool for tool in model.requests[0].tools if tool.name == "run_subagent")
        assert "scout: You only look." in spec.parameters["properties"]["agent"]["description"]


async def test_without_profiles_there_is_no_such_argument_and_an_unknown_model_is_told(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, approvalMode="allow-all") as (client, model):
        model.script([errand(model="nobody/nothing")], [text("done")])
        await client.ask("agent/run", input="go")
        assert outputs(client)[0]["stop_reason"] == "failed" and "nobody" in outputs(client)[0]["output"]
        spec = next(tool for tool in model.requests[0].tools if tool.name == "run_subagent")
        assert "agent" not in spec.parameters["properties"]


async def test_with_the_context_a_child_knows_what_was_committed_before_the_call(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, approvalMode="allow-all") as (client, model):
        model.script([text("hello")], [errand(context=True)], [text("seen")], [text("done")])
        await client.ask("agent/run", input="the first prompt")
        await client.ask("agent/run", input="the second prompt")
        child = model.requests[2]
        known = [one.text for commit in child.history for one in commit.messages if one.type == "text"]
        assert known[:2] == ["the first prompt", "hello"] and "tool_call" not in {
            one.type for commit in child.history for one in commit.messages
        }


async def test_children_work_side_by_side_and_the_person_is_asked_one_thing_at_a_time(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        open_now, most, origins = 0, 0, []

        async def approve(params):
            nonlocal open_now, most
            open_now += 1
            most = max(most, open_now)
            origins.append(params.get("origin"))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            open_now -= 1
            return {"decision": "allow"}

        def work(request):
            name = next(iter(said(request)), None)
            return [call("write_file", {"file_path": f"{name}.txt", "content": "x"})] if name else [text("written")]

        client.handlers["agent/approve"] = approve
        model.script([errand("one"), errand("two")], work, work, work, work, [text("done")])
        assert (await client.ask("agent/run", input="go"))["text"] == "done"
        assert most == 1 and sorted(map(bool, origins)) == [False, False, True, True]
        assert (tmp_path / "work" / "one.txt").exists() and (tmp_path / "work" / "two.txt").exists()


async def test_what_the_person_allows_for_the_session_holds_for_its_children(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        asked = []

        def approve(params):
            asked.append(params["toolCall"]["name"])
            offers = [one for one in params["remember"] if one["kind"] == "tool" and one["scope"] == "session"]
            return {"decision": "allow", "remember": {"scope": "session", "rule": offers[0]["rule"]}}

        client.handlers["agent/approve"] = approve
        write = call("write_file", {"file_path": "a.txt", "content": "1"})
        again = call("write_file", {"file_path": "b.txt", "content": "2"})
        model.script([write], [errand()], [again], [text("written")], [text("done")])
        await client.ask("agent/run", input="go")
        assert asked == ["write_file", "run_subagent"]


async def test_an_abort_ends_children_before_it_is_said(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, approvalMode="allow-all") as (client, model):
        never = asyncio.Event()
        model.script([errand("a"), errand("b", run_in_background=True)], *[[text("begun"), gate(never)]] * 2)
        run = client.send("agent/run", input="go")
        await client.until(lambda: len([m for m in of_children(client) if m["payload"]["type"] == "partial_text"]) >= 4)
        await client.ask("agent/abort")
        assert (await run)["status"] == "aborted"
        last = stream(client)[-1]
        assert last["payload"]["type"] == "abort" and "origin" not in last
        kinds = [one["payload"]["type"] for one in of_children(client)]
        assert kinds.count("abort") == kinds.count("session_meta") == 2
        assert not model.streaming


async def test_one_in_the_background_reports_its_end_once_with_its_answer(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, approvalMode="allow-all") as (client, model):
        opened = asyncio.Event()
        model.script([errand(run_in_background=True)])

        def after(request):
            return [text("the child's words"), gate(opened)] if said(request)[-1:] == ["look around"] else [text("on")]

        model.script(after, after)
        await client.ask("agent/run", input="go")
        assert "running with subagent_id session-" in outputs(client)[0]["output"]
        opened.set()

        def told():
            return [words for request in model.requests[3:] for words in said(request) if "the child's words" in words]

        async with asyncio.timeout(5):
            while not told():  # the disk has its part in when a task has ended
                await client.ask("agent/run", input="next")
        await client.ask("agent/run", input="and then")
        (report,) = told()
        assert report.startswith("[subagent session-") and "completed" in report


async def test_one_can_be_talked_to_again_waited_for_and_ended(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, approvalMode="allow-all") as (client, model):

        def to(name, **more):
            def make(request):
                id = next(
                    one.output.partition("[subagent ")[2].partition(":")[0]
                    for commit in request.history
                    for one in commit.messages
                    if one.type == "tool_call_output"
                )
                return [call(name, {"subagent_id": id, **more})]

            return make

        model.script([errand()], [text("first")], [text("so")])
        await client.ask("agent/run", input="go")
        model.script(to("input_subagent", prompt="and now?"), [text("second")], to("input_subagent"), [text("so")])
        await client.ask("agent/run", input="more")
        assert [one["output"].partition("\n")[0] for one in outputs(client)] == ["first", "second", "second"]
        model.script(to("kill_subagent"), to("input_subagent", prompt="?"), [text("so")])
        await client.ask("agent/run", input="enough")
        ended, unknown = outputs(client)[-2:]
        assert "is gone" in ended["output"] and unknown["stop_reason"] == "failed"


async def test_the_tokens_of_a_child_count_towards_the_parents_goal_alone(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, approvalMode="allow-all") as (client, model):
        model.script([errand(), usage(10, 0)], [text("seen"), usage(500, 0)], [text("on"), usage(10, 0)])
        model.script([text("to sum up"), usage(10, 0)])
        result = await client.ask("agent/run", input="go", goal={"budget": 100})
        assert result["goal"]["outcome"] == "budget_limited" and result["goal"]["used"] == 530
        assert result["usage"]["total"] == 30


async def test_an_abort_of_an_idle_session_ends_what_its_children_are_at(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, approvalMode="allow-all") as (client, model):
        never = asyncio.Event()

        def after(request):
            return [text("begun"), gate(never)] if said(request)[-1:] == ["look around"] else [text("on")]

        model.script([errand(run_in_background=True)], after, after)
        await client.ask("agent/run", input="go")
        await client.until(lambda: model.streaming)
        assert await client.ask("agent/abort") == {"aborted": True}
        assert of_children(client)[-1]["payload"]["type"] == "abort" and not model.streaming
        assert await client.ask("agent/abort") == {"aborted": False}


async def test_closing_the_parent_ends_its_children(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, approvalMode="allow-all") as (client, model):
        never = asyncio.Event()

        def after(request):
            return [text("begun"), gate(never)] if said(request)[-1:] == ["look around"] else [text("on")]

        model.script([errand(run_in_background=True)], after, after)
        session = (await client.ask("agent/run", input="go"))["sessionId"]
        await client.until(lambda: model.streaming)
        await client.ask("agent/session/close", sessionId=session)
        assert not model.streaming
