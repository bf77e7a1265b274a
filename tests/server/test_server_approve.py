"""Asking the person behind a client: what is put to them, what their answer means, how a question ends."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.policy.approver import Answer, Remember
from agent_lsp.providers.scripted import call, text
from agent_lsp.server.approve import read_answer
from tests.server.front_end import Refused, front_end

WRITE = call("write_file", {"file_path": "new.txt", "content": "new\n"})
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["allow", "deny", "session"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["decision", "remember", "scope", "rule", "feedback"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(ANYTHING)
@settings(deadline=None)
def test_whatever_a_client_says_it_is_an_answer_and_only_a_plain_allow_allows(said):
    answer = read_answer(said)
    allowed = isinstance(said, dict) and said.get("decision") == "allow"
    assert answer.decision == ("allow" if allowed else "deny")
    assert answer.remember is None or answer.decision == "allow"
    assert answer.feedback is None or answer.decision == "deny"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({"decision": "allow"}, Answer("allow")),
        ({"decision": "allow", "feedback": "good"}, Answer("allow")),
        (
            {"decision": "allow", "remember": {"scope": "session", "rule": "r"}},
            Answer("allow", Remember("session", "r")),
        ),
        ({"decision": "allow", "remember": {"scope": "world", "rule": "r"}}, Answer("allow")),
        ({"decision": "allow", "remember": {"scope": "session"}}, Answer("allow")),
        ({"decision": "allow", "remember": "all"}, Answer("allow")),
        ({"decision": "deny", "feedback": "not there"}, Answer("deny", feedback="not there")),
        ({"decision": "deny", "feedback": "  "}, Answer("deny")),
        ({"decision": "deny", "remember": {"scope": "session", "rule": "r"}}, Answer("deny")),
        ({"decision": "Allow"}, Answer("deny")),
        ({"decision": ["allow"]}, Answer("deny")),
        ("allow", Answer("deny")),
        (True, Answer("deny")),
        (None, Answer("deny")),
    ],
)
def test_an_answer_is_read_strictly(said, meant):
    assert read_answer(said) == meant


def output(client):
    [found] = client.streamed("tool_call_output")
    return found["output"]


def decision(client):
    [found] = client.streamed("approval_decision")
    return found["decision"], found["decided_by"]


@pytest.mark.asyncio
async def test_a_question_shows_the_call_as_written_and_what_it_would_do(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        client.handlers["agent/approve"] = lambda _: {"decision": "allow"}
        raw = '{"content":"new\\n",  "file_path":"new.txt"}'
        model.script([call("write_file", raw, call_id="c1")], [text("done")])
        session = (await client.ask("agent/run", input="go"))["sessionId"]

        [asked] = client.told("agent/approve")
        assert asked["sessionId"] == session
        assert asked["toolCall"] == {"tool_call_id": "c1", "name": "write_file", "arguments": raw}
        assert (asked["permission"], asked["title"]) == ("rw", "Write new.txt")
        assert asked["preview"]["kind"] == "edit"
        assert asked["preview"]["uri"] == (tmp_path / "work/new.txt").as_uri()
        assert asked["preview"]["created"] is True
        assert "+new" in asked["preview"]["diff"]
        assert all(set(offer) == {"kind", "scope", "rule", "label"} for offer in asked["remember"])
        resolved = {"sessionId": session, "tool_call_id": "c1", "outcome": "allow"}
        assert client.told("agent/approvalResolved") == [resolved]
        assert (tmp_path / "work/new.txt").read_text() == "new\n"


@pytest.mark.asyncio
async def test_a_command_is_shown_in_full_with_its_folder(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        client.handlers["agent/approve"] = lambda _: {"decision": "deny"}
        model.script([call("exec_command", {"cmd": "rm -r build", "description": "harmless"})], [text("done")])
        await client.ask("agent/run", input="go")
        [asked] = client.told("agent/approve")
        assert asked["preview"] == {"kind": "command", "command": "rm -r build", "cwd": str(tmp_path / "work")}
        assert "harmless" not in asked["title"]


@pytest.mark.asyncio
@pytest.mark.parametrize("answer", [{"decision": "deny"}, {"decision": "perhaps"}, {}, None, "allow", [1]])
async def test_anything_but_an_allow_is_a_deny_of_the_user(tmp_path, monkeypatch, answer):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        client.handlers["agent/approve"] = lambda _: answer
        model.script([WRITE], [text("done")])
        assert (await client.ask("agent/run", input="go"))["status"] == "completed"
        assert decision(client) == ("deny", "user")
        assert output(client) == "Tool call denied by user."
        assert client.told("agent/approvalResolved")[0]["outcome"] == "deny"
        assert not (tmp_path / "work/new.txt").exists()


@pytest.mark.asyncio
async def test_an_error_is_a_deny(tmp_path, monkeypatch):
    def fail(_):
        raise Refused({"code": -32603, "message": "the dialog broke"})

    async with front_end(tmp_path, monkeypatch) as (client, model):
        client.handlers["agent/approve"] = fail
        model.script([WRITE], [text("done")])
        await client.ask("agent/run", input="go")
        assert decision(client)[0] == "deny"
        assert client.told("agent/approvalResolved")[0]["outcome"] == "deny"


@pytest.mark.asyncio
async def test_feedback_reaches_the_model_below_the_denial(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        client.handlers["agent/approve"] = lambda _: {"decision": "deny", "feedback": "write to old.txt"}
        model.script([WRITE], [text("done")])
        await client.ask("agent/run", input="go")
        first, *rest = model.requests[1].input[0].output.split("\n")
        assert first == "Tool call denied by user."
        assert "write to old.txt" in "\n".join(rest)


@pytest.mark.asyncio
@pytest.mark.parametrize("agent", [{"protocolVersion": 1}, {"approve": False}, {"approve": "yes"}])
async def test_a_client_that_cannot_be_asked_is_not_and_the_call_is_denied(tmp_path, monkeypatch, agent):
    async with front_end(tmp_path, monkeypatch, agent=agent) as (client, model):
        model.script([WRITE], [text("done")])
        await client.ask("agent/run", input="go")
        assert client.told("agent/approve") == client.told("agent/approvalResolved") == []
        assert decision(client) == ("deny", "default")


@pytest.mark.asyncio
async def test_questions_of_one_session_come_one_at_a_time_in_call_order(tmp_path, monkeypatch):
    open_now, most = 0, 0

    async def answer(_):
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        await asyncio.sleep(0)
        open_now -= 1
        return {"decision": "allow"}

    async with front_end(tmp_path, monkeypatch) as (client, model):
        client.handlers["agent/approve"] = answer
        names = ["a.txt", "b.txt", "c.txt"]
        model.script([call("write_file", {"file_path": name, "content": name}) for name in names], [text("done")])
        await client.ask("agent/run", input="go")
        assert [one["title"] for one in client.told("agent/approve")] == [f"Write {name}" for name in names]
        assert most == 1


@pytest.mark.asyncio
async def test_an_abort_withdraws_the_question_and_a_late_answer_is_nothing(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        answered = asyncio.Event()

        async def late(_):
            await answered.wait()
            return {"decision": "allow"}

        client.handlers["agent/approve"] = late
        model.script([WRITE], [text("again")])
        run = client.send("agent/run", input="go")
        await client.until(lambda: client.told("agent/approve"))
        await client.ask("agent/abort")

        assert (await run)["status"] == "aborted"
        asked = next(one["id"] for one in client.log if one.get("method") == "agent/approve")
        assert client.told("$/cancelRequest") == [{"id": asked}]
        assert [one["outcome"] for one in client.told("agent/approvalResolved")] == ["withdrawn"]
        assert client.streamed("approval_decision") == []
        answered.set()
        assert (await client.ask("agent/run", input="again"))["status"] == "completed"
        assert not (tmp_path / "work/new.txt").exists()


@pytest.mark.asyncio
async def test_a_change_of_mode_answers_the_open_question_by_itself(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        client.handlers["agent/approve"] = lambda _: asyncio.Event().wait()
        model.script([WRITE], [text("done")])
        run = client.send("agent/run", input="go")
        [asked] = await client.until(lambda: client.told("agent/approve"))
        await client.ask("agent/session/update", sessionId=asked["sessionId"], approvalMode="auto-edit")

        assert (await run)["status"] == "completed"
        assert decision(client) == ("allow", "mode")
        assert [one["outcome"] for one in client.told("agent/approvalResolved")] == ["withdrawn"]


@pytest.mark.asyncio
async def test_a_rule_that_was_taken_is_not_asked_about_again_is_listed_and_can_be_revoked(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):

        def remember(params):
            offer = next(one for one in params["remember"] if one["scope"] == "session")
            return {"decision": "allow", "remember": {"scope": offer["scope"], "rule": offer["rule"]}}

        client.handlers["agent/approve"] = remember
        model.script([WRITE], [text("done")], [WRITE], [text("done")], [WRITE], [text("done")])
        await client.ask("agent/run", input="go")
        await client.ask("agent/run", input="go")
        assert len(client.told("agent/approve")) == 1
        [rule] = (await client.ask("agent/rules"))["rules"]
        assert (await client.ask("agent/rules/revoke", ruleIds=[rule["ruleId"], "nonsense"]))["rules"] == []
        await client.ask("agent/run", input="go")
        assert len(client.told("agent/approve")) == 2


@pytest.mark.asyncio
async def test_a_client_that_leaves_while_it_is_asked_ends_nothing_badly(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        model.script([WRITE], [text("done")])
        client.send("agent/run", input="go")
        await client.until(lambda: client.told("agent/approve"))
    assert not (tmp_path / "work/new.txt").exists()
