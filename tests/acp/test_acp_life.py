"""The life of sessions, as a client sees it. Every message is held against the schema on its way."""

import asyncio
import base64
import json
import sys
from pathlib import Path

import pytest

from agent_lsp.app.models import Models
from agent_lsp.messages.content import Text
from agent_lsp.messages.markers import steering
from agent_lsp.providers.scripted import call, fail, finish, gate, text, thinking
from tests.acp.acp_end import Refused, acp_end

pytestmark = pytest.mark.asyncio
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


@pytest.fixture
def work(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("one\ntwo\n")
    return tmp_path / "work"


def statuses(client, call_id):
    return [one["status"] for one in client.updates() if one.get("toolCallId") == call_id and "status" in one]


async def running(client, model, session):
    """A prompt whose answer has begun, and the event that lets it go on."""
    opened = asyncio.Event()
    model.script([text("begun"), gate(opened)])
    prompt = client.prompt(session, "go")
    await client.until(lambda: client.words())
    return prompt, opened


# --- speaking ---------------------------------------------------------------------------------------------------------


async def test_a_prompt_streams_thoughts_and_words_and_echoes_nothing(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        model.script([thinking("h", "m"), text("Hel", "lo")])
        assert await client.prompted(session, "hi") == "end_turn"
        assert client.words("agent_thought_chunk") == "hm" and client.words() == "Hello"
        assert not client.updates("user_message_chunk")
        spoken = {one["messageId"] for one in client.updates("agent_message_chunk")}
        thought = {one["messageId"] for one in client.updates("agent_thought_chunk")}
        assert len(spoken) == len(thought) == 1 and spoken != thought
        assert client.updates("usage_update")[-1]["used"] == 15


async def test_the_answer_to_new_comes_before_anything_about_the_session(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, _):
        await client.new(work)
        await client.until(lambda: client.updates("available_commands_update"))
        assert "result" in client.log[0] and client.log[0]["result"]["modes"]["currentModeId"] == "ask"


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        ([text("cut"), finish("length")], "max_tokens"),
        ([text("no"), finish("refusal")], "refusal"),
        ([finish("content_filter"), text("no")], "refusal"),
    ],
)
async def test_how_a_turn_ended_is_told_in_the_words_of_the_protocol(turn, reason, tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        model.script(turn)
        assert await client.prompted(session, "go") == reason


async def test_a_limit_of_turns_is_max_turn_requests(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch, max_turns=1) as (client, model):
        session = await client.new(work)
        model.script([call("list_files", {})])
        assert await client.prompted(session, "go") == "max_turn_requests"


@pytest.mark.parametrize(("status", "code"), [("auth", -32000), ("failed", -32603)])
async def test_a_run_that_failed_is_an_error_that_says_how(status, code, tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        model.script([fail(status, "that was it", permanent=True)])
        refused = await client.refusal("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "go"}])
        assert (refused.code, refused.data["kind"]) == (code, status) and "that was it" in refused.message


async def test_images_links_and_embedded_texts_reach_the_model(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        model.script([text("ok")])
        blocks = [
            {"type": "text", "text": "see"},
            {"type": "image", "mimeType": "image/png", "data": PIXEL},
            {"type": "resource_link", "name": "a", "uri": (work / "a.txt").as_uri()},
            {"type": "resource_link", "name": "site", "uri": "https://example.org/x"},
            {"type": "resource", "resource": {"uri": "file:///b.txt", "text": "bee"}},
        ]
        await client.ask("session/prompt", sessionId=session, prompt=blocks)
        said = "\n".join(str(getattr(one, "text", "")) for one in model.requests[0].input)
        assert "[attached file: a.txt]\none\ntwo\n" in said and "[site](https://example.org/x)" in said
        assert "[attached file: /b.txt]\nbee" in said


@pytest.mark.parametrize(
    "block",
    [
        {"type": "audio", "mimeType": "audio/wav", "data": "AAAA"},
        {"type": "image", "mimeType": "image/png", "data": "not base64!"},
        {"type": "resource", "resource": {"uri": "file:///b.bin", "blob": "AAAA", "mimeType": "application/zip"}},
        {"type": "hologram"},
        {"type": "text"},
        {"type": "text", "text": ""},
    ],
)
async def test_what_no_model_could_read_is_refused_by_name(block, tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        refused = await client.refusal("session/prompt", sessionId=session, prompt=[block])
        assert refused.code == -32602 and refused.data["errors"] and not model.requests


# --- tools ------------------------------------------------------------------------------------------------------------


async def test_an_edit_is_announced_asked_for_and_shown_as_a_diff(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        arguments = {"file_path": "a.txt", "old_string": "two", "new_string": "2"}
        model.script([call("edit_file", arguments, "e1")], [text("done")])
        assert await client.prompted(session, "go") == "end_turn"
        (asked,) = client.asked("session/request_permission")
        announced = client.updates("tool_call")[0]
        place = str(work / "a.txt")
        assert announced["kind"] == "edit" and announced["rawInput"] == arguments
        assert (
            announced["locations"] == [{"path": place}] and announced["toolCallId"] == asked["toolCall"]["toolCallId"]
        )
        assert client.log.index(
            next(one for one in client.log if one.get("method") == "session/request_permission")
        ) > (next(at for at, one in enumerate(client.log) if one.get("params", {}).get("update") == announced))
        diff = {"type": "diff", "path": place, "oldText": "one\ntwo\n", "newText": "one\n2\n"}
        assert asked["toolCall"]["content"] == [diff]
        assert statuses(client, announced["toolCallId"]) == ["pending", "in_progress", "completed"]
        assert client.updates("tool_call_update")[-1]["content"] == [diff]
        assert [one["kind"] for one in asked["options"]] == ["allow_once", "allow_always", "reject_once"]
        assert (work / "a.txt").read_text() == "one\n2\n"


async def test_a_new_file_is_a_diff_without_an_old_text(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch, approval_mode="allow-all") as (client, model):
        session = await client.new(work)
        model.script([call("write_file", {"file_path": "n.txt", "content": "new\n"}, "w1")], [text("done")])
        await client.prompted(session, "go")
        (diff,) = client.updates("tool_call_update")[-1]["content"]
        assert diff == {"type": "diff", "path": str(work / "n.txt"), "oldText": None, "newText": "new\n"}


@pytest.mark.parametrize(
    "answer",
    [
        {"outcome": {"outcome": "selected", "optionId": "reject_once"}},
        {"outcome": {"outcome": "selected", "optionId": "something"}},
        {"outcome": {"outcome": "cancelled"}},
        {"outcome": "allow_once"},
        None,
        Refused({"code": -1, "message": "broken"}),
    ],
)
async def test_anything_but_an_offered_allow_is_a_deny(answer, tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)

        def permission(_):
            if isinstance(answer, Refused):
                raise answer
            return answer

        client.handlers["session/request_permission"] = permission
        model.script([call("exec_command", {"cmd": "touch x"}, "c1")], [text("well")])
        assert await client.prompted(session, "go") == "end_turn"
        assert statuses(client, client.updates("tool_call")[0]["toolCallId"]) == ["pending", "failed"]
        assert not (work / "x").exists()


async def test_what_is_allowed_always_is_not_asked_again(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        client.permission = "allow_always"
        same = {"cmd": "touch x"}
        model.script([call("exec_command", same)], [call("exec_command", same)], [text("ok")])
        await client.prompted(session, "go")
        (asked,) = client.asked("session/request_permission")
        assert "touch x" in asked["options"][1]["name"]


async def test_an_edit_that_is_allowed_always_stands_for_no_other(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        client.permission = "allow_always"
        writes = [
            [call("write_file", {"file_path": name, "content": "new\n"}, name)] for name in ("one.txt", "two.txt")
        ]
        model.script(*writes, [text("ok")])
        await client.prompted(session, "go")
        asked = client.asked("session/request_permission")
        assert [one["toolCall"]["toolCallId"] for one in asked] == ["one.txt", "two.txt"]


async def test_a_plan_is_shown_as_one(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        items = [{"text": "first", "status": "done"}, {"text": "second"}]
        model.script([call("todo_write", {"items": items})], [text("ok")])
        await client.prompted(session, "go")
        (plan,) = client.updates("plan")
        assert [(one["content"], one["status"]) for one in plan["entries"]] == [
            ("first", "completed"),
            ("second", "pending"),
        ]


async def test_a_choice_of_the_model_is_put_to_the_person(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        client.permission = "answer-1"
        model.script([call("ask_user", {"question": "Which?", "options": ["red", "blue"]})], [text("ok")])
        await client.prompted(session, "go")
        assert any("blue" in str(getattr(one, "output", "")) for one in model.requests[1].input)


# --- stopping ---------------------------------------------------------------------------------------------------------


async def test_a_cancel_while_it_speaks_is_an_answer_and_nothing_follows(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        prompt, _ = await running(client, model, session)
        client.notify("session/cancel", sessionId=session)
        assert (await asyncio.wait_for(prompt, 5))["stopReason"] == "cancelled"
        said = len(client.log)
        await client.ask("session/list")
        assert len(client.log) == said + 1


async def test_a_cancel_while_a_tool_runs_ends_the_call(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch, approval_mode="allow-all") as (client, model):
        session = await client.new(work)
        model.script([call("exec_command", {"cmd": "echo started; sleep 60"}, "c1")])
        prompt = client.prompt(session, "go")
        await client.until(lambda: "started" in json.dumps(client.updates("tool_call_update")))
        client.notify("session/cancel", sessionId=session)
        assert (await asyncio.wait_for(prompt, 5))["stopReason"] == "cancelled"
        assert statuses(client, client.updates("tool_call")[0]["toolCallId"])[-1] == "failed"


async def test_a_cancel_while_permission_is_asked_waits_for_nobody(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        del client.handlers["session/request_permission"]
        model.script([call("exec_command", {"cmd": "touch x"}, "c1")])
        prompt = client.prompt(session, "go")
        await client.until(lambda: client.asked("session/request_permission"))
        client.notify("session/cancel", sessionId=session)
        assert (await asyncio.wait_for(prompt, 5))["stopReason"] == "cancelled"
        question = next(one for one in client.log if one.get("method") == "session/request_permission")
        assert client.asked("$/cancel_request") == [{"requestId": question["id"]}]
        client.say({"id": question["id"], "result": client.chosen("allow_once")})  # too late
        model.script([text("again")])
        assert await client.prompted(session, "go on") == "end_turn" and not (work / "x").exists()


@pytest.mark.parametrize("times", [1, 2])
async def test_a_cancelled_request_of_a_prompt_is_answered_with_its_result(times, tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        model.script([text("never heard")])
        message, answer = client.prepare("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "go"}])
        cancel = {"method": "$/cancel_request", "params": {"requestId": message["id"]}}
        client.say(message, *[cancel] * times)
        assert (await asyncio.wait_for(answer, 5))["stopReason"] == "cancelled"


@pytest.mark.parametrize("params", [{}, {"requestId": "none"}, {"requestId": None}, {"requestId": [1]}, {"id": 1}])
async def test_a_cancel_of_nothing_is_harmless(params, tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, _):
        client.notify("$/cancel_request", **params)
        client.notify("session/cancel", sessionId="session-none")
        client.notify("session/cancel")
        assert await client.new(work)


async def test_a_prompt_right_after_a_cancel_waits_for_its_turn(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        first, _ = await running(client, model, session)
        model.script([text("second")])
        message, second = client.prepare("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "2"}])
        client.say({"method": "session/cancel", "params": {"sessionId": session}}, message)
        assert (await asyncio.wait_for(first, 5))["stopReason"] == "cancelled"
        assert (await asyncio.wait_for(second, 5))["stopReason"] == "end_turn"


async def test_steering_reaches_the_running_task_or_is_wanted_as_a_prompt(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        words = {"sessionId": session, "prompt": [{"type": "text", "text": "sooner"}]}
        assert (await client.ask("_session/steering", **words))["outcome"] == "promptRequired"
        prompt, opened = await running(client, model, session)
        model.script([text("after")])
        assert (await client.ask("_session/steering", **words))["outcome"] == "injected"
        opened.set()
        await asyncio.wait_for(prompt, 5)
        assert Text(role="user", text=steering("sooner")) in model.requests[1].input


async def test_two_sessions_work_at_once(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        one, two = await client.new(work), await client.new(work)
        first, opened = await running(client, model, one)
        model.script([text("other")])
        assert await client.prompted(two, "go") == "end_turn"
        opened.set()
        await asyncio.wait_for(first, 5)
        assert (client.words(session_id=one), client.words(session_id=two)) == ("begun", "other")


# --- sessions ---------------------------------------------------------------------------------------------------------


def story(updates):
    """What was told, without what differs by nature: ids of messages, how a text was cut, progress of a call."""
    told = []
    for update in updates:
        kind = update["sessionUpdate"]
        if kind in ("agent_message_chunk", "agent_thought_chunk"):
            if told and told[-1][0] == (kind, update["messageId"]):
                told[-1][1] += update["content"]["text"]
            else:
                told.append([(kind, update["messageId"]), update["content"]["text"]])
        elif kind not in ("user_message_chunk", "available_commands_update"):
            told.append([(kind, ""), update])
    return [(kind, what) for (kind, _), what in told]


async def test_loading_tells_the_same_story_before_it_answers(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        model.script(
            [thinking("hm"), text("look"), call("read_file", {"file_path": "a.txt"}, "r1")],
            [call("edit_file", {"file_path": "a.txt", "old_string": "one", "new_string": "1"}, "e1")],
            [text("done")],
        )
        await client.prompted(session, "please")
        lived = story(client.updates())
        await client.ask("session/close", sessionId=session)
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        client.conformance.calls.clear()
        message, answer = client.prepare("session/load", sessionId=session, cwd=str(work), mcpServers=[])
        client.say(message)
        await asyncio.wait_for(answer, 5)
        until = next(at for at, one in enumerate(client.log) if "result" in one)
        replayed = [one["params"]["update"] for one in client.log[:until]]
        assert story(replayed) == lived
        assert [one["content"]["text"] for one in replayed if one["sessionUpdate"] == "user_message_chunk"] == [
            "please"
        ]
        model.script([text("on")])
        assert await client.prompted(session, "go on") == "end_turn"


async def test_resuming_tells_nothing_again(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        model.script([text("old")])
        await client.prompted(session, "go")
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        result = await client.ask("session/resume", sessionId=session, cwd=str(work), mcpServers=[])
        assert result["modes"] and not client.words()
        model.script([text("new")])
        await client.prompted(session, "go")
        assert client.words() == "new" and model.requests[-1].history


async def test_sessions_are_listed_forked_and_deleted(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        model.script([text("old")])
        await client.prompted(session, "go")
        fork = await client.ask("session/fork", sessionId=session, cwd=str(work), mcpServers=[])
        listed = await client.ask("session/list", cwd=str(work))
        assert {one["sessionId"] for one in listed["sessions"]} == {session, fork["sessionId"]}
        assert {one["title"] for one in listed["sessions"]} == {"go"}, "without a title, by the first words"
        assert not (await client.ask("session/list", cwd=str(tmp_path)))["sessions"]
        await client.ask("session/delete", sessionId=session)
        assert [one["sessionId"] for one in (await client.ask("session/list"))["sessions"]] == [fork["sessionId"]]


@pytest.mark.parametrize("method", ["session/load", "session/resume", "session/fork", "session/prompt"])
@pytest.mark.parametrize("id", ["session-20200101-000000-deadbeef", "../../etc", "", "a\0b"])
async def test_a_session_that_is_not_there_is_not_found(method, id, tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, _):
        words = [{"type": "text", "text": "x"}]
        refused = await client.refusal(method, sessionId=id, cwd=str(work), mcpServers=[], prompt=words)
        assert refused.code == -32002 and "agent/" not in json.dumps(refused.data)


@pytest.mark.parametrize("method", ["session/new", "session/list"])
@pytest.mark.parametrize("cwd", ["relative", "", ".", "/nul\0"])
async def test_a_relative_folder_is_no_folder(method, cwd, tmp_path, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, _):
        refused = await client.refusal(method, cwd=cwd, mcpServers=[])
        assert refused.code == -32602 and refused.data["errors"][0]["path"] == "cwd"


async def test_closing_ends_what_runs(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        prompt, _ = await running(client, model, session)
        assert await client.ask("session/close", sessionId=session) == {}
        assert (await asyncio.wait_for(prompt, 5))["stopReason"] == "cancelled"
        assert (await client.refusal("session/close", sessionId=session)).code == -32002


# --- what can be chosen -----------------------------------------------------------------------------------------------


async def test_modes_and_options_are_two_views_of_the_same(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, _):
        session = await client.new(work)
        await client.ask("session/set_mode", sessionId=session, modeId="plan")
        assert client.updates("current_mode_update")[-1]["currentModeId"] == "plan"
        result = await client.ask("session/set_config_option", sessionId=session, configId="mode", value="auto-edit")
        assert {one["id"]: one["currentValue"] for one in result["configOptions"]}["mode"] == "auto-edit"
        assert client.updates("current_mode_update")[-1]["currentModeId"] == "auto-edit"


async def test_every_choice_that_is_offered_can_be_made(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, _):
        session = await client.new(work)
        options = client.log[0]["result"]["configOptions"]
        for option, choice in [(one["id"], choice["value"]) for one in options for choice in one["options"]]:
            result = await client.ask("session/set_config_option", sessionId=session, configId=option, value=choice)
            assert {one["id"]: one["currentValue"] for one in result["configOptions"]}[option] == choice


@pytest.mark.parametrize(("option", "value"), [("mode", "yolo"), ("model", "no/such"), ("colour", "red"), ("mode", 1)])
async def test_what_is_not_offered_cannot_be_chosen(option, value, tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, _):
        session = await client.new(work)
        refused = await client.refusal("session/set_config_option", sessionId=session, configId=option, value=value)
        assert refused.code == -32602


async def test_a_mode_that_allows_it_answers_the_open_question(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        del client.handlers["session/request_permission"]
        model.script([call("exec_command", {"cmd": "touch x"})], [text("ok")])
        prompt = client.prompt(session, "go")
        await client.until(lambda: client.asked("session/request_permission"))
        await client.ask("session/set_mode", sessionId=session, modeId="allow-all")
        assert (await asyncio.wait_for(prompt, 5))["stopReason"] == "end_turn" and (work / "x").exists()


@pytest.mark.parametrize("name", ["model", "title", "tools", "rules", "usage", "compact"])
async def test_every_command_answers_in_words(name, tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        assert name in {one["name"] for one in client.updates("available_commands_update")[0]["availableCommands"]}
        if name == "title":
            model.script([text("A title")])
        assert await client.prompted(session, f"/{name}") == "end_turn"
        assert client.words()


async def test_a_compaction_is_told_without_its_summary(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        model.script([text("long talk")], [text("<summary>short</summary>")], [text("after")])
        await client.prompted(session, "go")
        assert await client.prompted(session, "/compact") == "end_turn"
        await client.prompted(session, "on")
        assert "short" not in client.words() and "compacted" in client.words()
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        await client.ask("session/load", sessionId=session, cwd=str(work), mcpServers=[])
        assert client.words() == "long talkafter"


async def test_a_goal_is_pursued_and_needs_an_objective(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        refused = await client.refusal("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "/goal"}])
        assert refused.code == -32602
        model.script(*[[text("working")]] * 3)
        prompt = client.prompt(session, "/goal all green")
        await client.until(lambda: client.words())
        client.notify("session/cancel", sessionId=session)
        await asyncio.wait([prompt], timeout=5)
        assert "all green" in str(model.requests[0].input)


async def test_a_command_that_was_written_down_is_advertised_and_expanded(tmp_path, work, monkeypatch):
    folder = work / ".agent-lsp" / "commands"
    folder.mkdir(parents=True)
    (folder / "shout.md").write_text("---\ndescription: Loudly\nargument-hint: words\n---\nSay $ARGUMENTS loudly")
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        told = {one["name"]: one for one in client.updates("available_commands_update")[0]["availableCommands"]}
        assert told["shout"] == {"name": "shout", "description": "Loudly", "input": {"hint": "words"}}
        model.script([text("HI")])
        await client.prompted(session, "/shout hi")
        assert "Say hi loudly" in str(model.requests[0].input)


# --- being wrong ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"nonsense", -32700),
        (b"[1]", -32600),
        (b"7", -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"session/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"session/list","params":[]}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"session/frobnicate"}', -32601),
        (b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}', -32600),
    ],
)
async def test_what_is_no_request_is_an_error_and_the_connection_goes_on(line, code, tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, _):
        client.connection.received(line + b"\n")
        await client.until(lambda: client.log)
        assert client.log[0]["error"]["code"] == code
        assert await client.new(work)


@pytest.mark.parametrize(
    "server",
    [
        {"type": "sse", "name": "old", "url": "http://x", "headers": []},
        {"type": "http", "name": "bad", "url": "nonsense", "headers": []},
        {"name": "empty", "command": "", "args": [], "env": []},
    ],
)
async def test_a_server_of_tools_that_cannot_be_used_is_refused(server, tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, _):
        refused = await client.refusal("session/new", cwd=str(work), mcpServers=[server])
        assert refused.code == -32602 and "mcpServers" in refused.data["errors"][0]["path"]


async def test_authenticate_looks_for_a_credential(tmp_path, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, _):
        assert await client.ask("authenticate", methodId="login") == {}
        assert (await client.refusal("authenticate", methodId="magic")).code == -32602
    async with acp_end(tmp_path, monkeypatch, default_model="anthropic/claude-x") as (client, _):
        assert (await client.refusal("authenticate", methodId="login")).code == -32000
        assert (await client.refusal("session/new", cwd=str(tmp_path), mcpServers=[])).code == -32000


async def test_a_client_brings_servers_of_tools_along(tmp_path, work, monkeypatch):
    monkeypatch.setattr("agent_lsp.tools.mcp.servers.WAIT_S", 600)
    server = Path(__file__).parents[1] / "tools" / "mcp_server.py"
    environ = [{"name": "A", "value": "b"}]
    given = {"name": "mine", "command": sys.executable, "args": [str(server), "plain"], "env": environ}
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = (await client.ask("session/new", cwd=str(work), mcpServers=[given]))["sessionId"]
        model.script([text("ok")])
        await client.prompted(session, "go")
        assert any("mine" in tool.name for tool in model.requests[0].tools)
        other = await client.new(work)
        model.script([text("ok")])
        await client.prompted(other, "go")
        assert not any("mine" in tool.name for tool in model.requests[1].tools)


async def test_a_key_that_was_stored_meanwhile_is_looked_for_before_the_next_prompt(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        session = await client.new(work)
        model.script([fail("auth", "no key")], [text("now")])
        await client.refusal("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "go"}])
        looked = []

        async def look(self, *, afresh=False):
            looked.append(afresh)

        monkeypatch.setattr(Models, "look", look)
        monkeypatch.setattr(Models, "is_kept", lambda self, name: True)
        assert await client.prompted(session, "go") == "end_turn" and looked == [True]
