"""What codecompanion.nvim's client is known to do, done by a client of ours."""

import asyncio
from pathlib import Path

import pytest

from agent_lsp.providers.scripted import call, gate, text
from tests.acp.acp_end import FILES, Refused, acp_end

pytestmark = pytest.mark.asyncio


@pytest.fixture
def work(tmp_path):
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


class CodeCompanion:
    """One session; permission only while a prompt is active; a missing file reads as an empty one."""

    def __init__(self, client):
        self.client, self.session_id, self.is_prompting = client, None, False
        client.handlers["fs/read_text_file"] = self.read
        client.handlers["fs/write_text_file"] = self.write
        client.handlers["session/request_permission"] = self.permit

    async def connect(self, work, session_id=None):
        arguments = {"cwd": str(work), "mcpServers": {}}  # an empty table of Lua
        if session_id:
            try:
                await self.client.ask("session/load", sessionId=session_id, **arguments)
            except Refused:
                session_id = None
        self.session_id = session_id or (await self.client.ask("session/new", **arguments))["sessionId"]

    def prompt(self, words):
        self.is_prompting = True
        return self.client.prompt(self.session_id, words)

    def cancel(self):
        """It is over for the client at once, whatever the agent says."""
        self.client.notify("session/cancel", sessionId=self.session_id)
        self.is_prompting = False

    def _check(self, params):
        if params["sessionId"] != self.session_id:
            raise Refused({"code": -32602, "message": "invalid sessionId"})

    def read(self, params):
        self._check(params)
        path = Path(params["path"])
        return {"content": path.read_text() if path.exists() else ""}

    def write(self, params):
        self._check(params)
        Path(params["path"]).write_text(params["content"])

    async def permit(self, _):
        if not self.is_prompting:
            await asyncio.Future()
        return {"outcome": {"outcome": "selected", "optionId": "allow_once"}}


async def test_a_session_that_cannot_be_loaded_is_made_anew(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        plugin = CodeCompanion(client)
        await plugin.connect(work, "session-20200101-000000-deadbeef")
        model.script([text("hello")])
        assert (await asyncio.wait_for(plugin.prompt("hi"), 5))["stopReason"] == "end_turn"


async def test_files_are_made_read_and_edited_though_a_missing_one_reads_as_empty(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch, capabilities=FILES) as (client, model):
        plugin = CodeCompanion(client)
        await plugin.connect(work)
        model.script(
            [call("read_file", {"file_path": "n.txt"})],
            [call("write_file", {"file_path": "n.txt", "content": "one\n"})],
            [call("edit_file", {"file_path": "n.txt", "old_string": "one", "new_string": "two"})],
            [text("done")],
        )
        await asyncio.wait_for(plugin.prompt("go"), 5)
        ends = [one["status"] for one in client.updates("tool_call_update") if one.get("status") != "in_progress"]
        assert ends == ["failed", "completed", "completed"] and (work / "n.txt").read_text() == "two\n"


async def test_a_prompt_after_a_cancel_that_the_client_did_not_wait_for(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        plugin = CodeCompanion(client)
        await plugin.connect(work)
        model.script([text("first"), gate(asyncio.Event())], [text("second")])
        first = plugin.prompt("one")
        await client.until(client.words)
        plugin.cancel()
        second = plugin.prompt("two")
        assert (await asyncio.wait_for(first, 5))["stopReason"] == "cancelled"
        assert (await asyncio.wait_for(second, 5))["stopReason"] == "end_turn"


async def test_permission_that_is_never_answered_does_not_hold_up_the_cancel(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch) as (client, model):
        plugin = CodeCompanion(client)
        await plugin.connect(work)
        model.script([call("exec_command", {"cmd": "touch x"})])
        prompt = plugin.prompt("go")
        plugin.is_prompting = False
        await client.until(lambda: client.asked("session/request_permission"))
        plugin.cancel()
        assert (await asyncio.wait_for(prompt, 5))["stopReason"] == "cancelled"
