"""One scenario, told to a client of either front end: it is the same story."""

import json

import pytest

from agent_lsp.providers.scripted import call, fail, finish, text, thinking
from tests.acp.acp_end import acp_end
from tests.server.front_end import front_end

pytestmark = pytest.mark.asyncio
EDIT = {"file_path": "a.txt", "old_string": "one", "new_string": "1"}
SCENARIOS = {
    "words": (True, [[thinking("h", "m"), text("Hel", "lo")]]),
    "tools": (
        True,
        [
            [text("look"), call("read_file", {"file_path": "a.txt"}), call("list_files", {})],
            [call("edit_file", EDIT)],
            [text("done")],
        ],
    ),
    "denied": (False, [[call("exec_command", {"cmd": "touch x"})], [text("as you wish")]]),
    "nonsense": (True, [[call("frobnicate", {}), call("read_file", "{")], [text("sorry")]]),
    "retried": (True, [[text("half"), fail("timeout")], [text("whole")]]),
    "cut": (True, [[text("too long"), finish("length")]]),
    "refused": (True, [[text("no"), finish("refusal")]]),
    "failed": (True, [[fail("failed", "broken", permanent=True)]]),
}
REASONS = {"completed": "end_turn", "aborted": "cancelled", "max_turns": "max_turn_requests"}
FINISHES = {"length": "max_tokens", "refusal": "refusal"}


async def lsp_story(folder, monkeypatch, allow, turns):
    async with front_end(folder, monkeypatch, reconnect={"baseMs": 1, "capMs": 1}) as (client, model):
        client.handlers["agent/approve"] = lambda _: {"decision": "allow" if allow else "deny"}
        model.script(*turns)
        result = await client.ask("agent/run", input="go")
        told, asked = [], []
        for params in client.told("agent/message"):
            for one in (message["payload"] for message in params["messages"]):
                match one["type"]:
                    case "text" if one["role"] == "assistant":
                        told.append(("says", one["text"]))
                    case "thinking":
                        told.append(("thinks", one["thinking"]))
                    case "tool_call":
                        told.append(("calls", one["tool_call_id"], one["arguments"]))
                        if one.get("stop_reason"):  # cut off, so that it never runs
                            told.append(("ended", one["tool_call_id"], "failed"))
                    case "tool_call_output":
                        ended = "failed" if one.get("stop_reason") else "completed"
                        told.append(("ended", one["tool_call_id"], ended))
        asked = [one["toolCall"]["tool_call_id"] for one in client.told("agent/approve")]
        finish = FINISHES.get(result.get("finish")) or REASONS.get(result["status"], result["status"])
        return told, asked, finish


async def acp_story(folder, monkeypatch, allow, turns):
    async with acp_end(folder, monkeypatch, reconnect={"base_ms": 1, "cap_ms": 1}) as (client, model):
        client.permission = "allow_once" if allow else "reject_once"
        session = await client.new(folder / "work")
        model.script(*turns)
        answer = client.prompt(session, "go")
        await client.until(answer.done)
        told, message = [], None
        for one in client.updates():
            kind = one["sessionUpdate"]
            verb = {"agent_message_chunk": "says", "agent_thought_chunk": "thinks"}.get(kind)
            if verb:
                before = told.pop()[1] if one["messageId"] == message else ""
                told.append((verb, before + one["content"]["text"]))
                message = one["messageId"]
            elif kind == "tool_call":
                given = one["rawInput"]
                told.append(("calls", one["toolCallId"], given if isinstance(given, str) else json.dumps(given)))
            elif kind == "tool_call_update" and one.get("status") in ("completed", "failed"):
                told.append(("ended", one["toolCallId"], one["status"]))
        asked = [one["toolCall"]["toolCallId"] for one in client.asked("session/request_permission")]
        error = answer.exception()
        return told, asked, error.data["kind"] if error else answer.result()["stopReason"]


@pytest.mark.parametrize("name", SCENARIOS)
async def test_both_front_ends_tell_the_same_story(name, tmp_path, monkeypatch):
    allow, turns = SCENARIOS[name]
    stories = []
    for tell in (lsp_story, acp_story):
        folder = tmp_path / tell.__name__
        (folder / "work").mkdir(parents=True)
        (folder / "work" / "a.txt").write_text("one\ntwo\n")
        stories.append(await tell(folder, monkeypatch, allow, turns))
    assert stories[0] == stories[1]
    assert stories[0][0] or name == "failed"
