"""A start brings what the first session takes, and nothing else: each module is a fifth of a millisecond."""

import asyncio
import json
import os
import re

import pytest

from tests.e2e.model_server import say

pytestmark = pytest.mark.asyncio
_IMPORTED = re.compile(rb"^import time: +\d+ \| +\d+ \| +(\S+)$", re.MULTILINE)
_FOR_LATER = {
    "_ssl",
    "httpx",
    "pygls",
    "lsprotocol",
    "jsonschema",
    "tomllib",
    "sqlite3",
    "agent_lsp.server.documents.params",
    "agent_lsp.server.loop_params",
    "agent_lsp.server.plain_commands",
    "agent_lsp.server.run_handlers",
    "agent_lsp.server.session_handlers",
    "agent_lsp.server.session_methods",
    "agent_lsp.loop.contract",
    "agent_lsp.loop.planned_llm",
    "agent_lsp.loop.preparation",
    "agent_lsp.engine.goal",
    "agent_lsp.trace.view",
}


async def test_a_session_is_made_without_what_only_later_work_needs(greet):
    rehearsed = {"defaultModel": "rehearsal/rehearsal", "providers": {}}  # a hosted model would bring the HTTP client
    peer = await greet(variables={"PYTHONPROFILEIMPORTTIME": "1"}, **rehearsed)
    session = await peer.ask("agent/session/new", {})
    await peer.leave()
    imported = {name.decode() for name in _IMPORTED.findall(bytes(peer.server.errors))}
    assert session["state"] == "idle"
    assert {"agent_lsp.server.session_opening", "pydantic"} <= imported
    assert imported & _FOR_LATER == set()


_HELD = """
import sys

class Held:
    def find_spec(self, name, path=None, target=None):
        if name == "agent_lsp.app":
            open({fifo!r}).close()  # until somebody opens the other end

sys.meta_path.insert(0, Held())
"""


async def test_the_first_session_is_told_before_the_application_is_there_and_is_the_one_that_runs(
    greet, model, tmp_path
):
    os.mkfifo(fifo := tmp_path / "go on")
    (early := tmp_path / "early").mkdir()
    (early / "sitecustomize.py").write_text(_HELD.format(fifo=str(fifo)))
    model.script([say("Here.")])
    peer = await greet(variables={"PYTHONPATH": str(early)})
    session = await peer.ask("agent/session/new", {"title": "Early"})
    run = peer.send("agent/run", {"sessionId": session["sessionId"], "input": "go"})
    with fifo.open("w"):  # the application is imported from here on
        result = await asyncio.wait_for(run, 10)
    listed = (await peer.ask("agent/session/list"))["sessions"]
    await peer.leave()
    (trace,) = (tmp_path / "data").rglob("*.jsonl")
    meta = json.loads(trace.read_text().splitlines()[0])["payload"]
    assert (result["status"], result["text"]) == ("completed", "Here.")
    assert [one["sessionId"] for one in listed] == [session["sessionId"]]
    assert (meta["session_id"], meta["created_at"]) == (session["sessionId"], session["createdAt"])


async def test_a_start_a_session_and_a_run_may_be_said_in_one_breath(connect, model, options):
    model.script([say("At once.")])
    peer = await connect()
    agent = {"experimental": {"agent": {"protocolVersion": 1, "approve": True}}}
    begun = peer.prepare("initialize", {"capabilities": agent, "initializationOptions": {"agent": options}})
    new, run = peer.prepare("agent/session/new", {}), peer.prepare("agent/run", {"input": "go"})
    peer.write(begun[0], {"jsonrpc": "2.0", "method": "initialized", "params": {}}, new[0], run[0])
    session, result = await asyncio.wait_for(new[1], 10), await asyncio.wait_for(run[1], 10)
    await peer.leave()
    assert (result["status"], result["text"]) == ("completed", "At once.")
    assert peer.stream.of(session["sessionId"], "text")[-1]["text"] == "At once."
