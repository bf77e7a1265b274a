"""Plan mode: told, kept, left with the person's approval."""

from __future__ import annotations

import pytest

from agent_lsp.providers.scripted import call, text
from tests.server.front_end import front_end

pytestmark = pytest.mark.asyncio
PLAN = call("exit_plan", {"plan": "# Change a\n\n1. this\n2. that"})
WRITE = call("write_file", {"file_path": "a.txt", "content": "x"})


def said(request):
    return [one.text for one in request.input if one.type == "text"]


async def test_an_approved_plan_goes_back_to_the_mode_before_and_is_recorded(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, approvalMode="auto-edit") as (client, model):
        asked = []
        client.handlers["agent/approve"] = lambda params: (asked.append(params), {"decision": "allow"})[1]
        session = (await client.ask("agent/session/new"))["sessionId"]
        await client.ask("agent/session/update", sessionId=session, approvalMode="plan")
        model.script([WRITE], [PLAN], [WRITE], [text("done")])
        await client.ask("agent/run", input="go")
        assert [one["toolCall"]["name"] for one in asked] == ["exit_plan"]
        assert asked[0]["preview"] == {"kind": "text", "text": "# Change a\n\n1. this\n2. that"}
        assert (tmp_path / "work" / "a.txt").read_text() == "x"
        assert (
            "plan mode is on" in said(model.requests[0])[0]
            and "auto-edit" in client.streamed("tool_call_output")[1]["output"]
        )
        assert [one["approval_mode"] for one in client.streamed("session_update")] == ["plan", "auto-edit"]


async def test_a_denied_plan_stays_in_plan_mode_and_says_why(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, approvalMode="plan") as (client, model):
        client.handlers["agent/approve"] = lambda params: {"decision": "deny", "feedback": "smaller steps"}
        model.script([PLAN], [WRITE], [text("done")])
        await client.ask("agent/run", input="go")
        denied, refused = client.streamed("tool_call_output")
        assert "smaller steps" in denied["output"] and refused["output"] == "Tool call denied by policy."


async def test_outside_plan_mode_it_fails_and_nobody_is_asked(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        client.handlers["agent/approve"] = lambda params: {"decision": "deny"}
        model.script([PLAN], [text("done")])
        await client.ask("agent/run", input="go")
        assert client.streamed("tool_call_output")[0]["stop_reason"] == "failed" and not client.told("agent/approve")


async def test_turning_it_on_and_off_is_told_once_each_and_changes_no_tool_and_no_prompt(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        session = (await client.ask("agent/session/new"))["sessionId"]
        model.script(*[[text("ok")]] * 4)
        for mode in (None, "plan", None, "ask"):
            if mode:
                await client.ask("agent/session/update", sessionId=session, approvalMode=mode)
            await client.ask("agent/run", input="go")
        told = [[words for words in said(one) if words.startswith("[plan mode")] for one in model.requests]
        assert [bool(one) for one in told] == [False, True, False, True]
        first = model.requests[0]
        assert all((one.system, one.tools) == (first.system, first.tools) for one in model.requests)
