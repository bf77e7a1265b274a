"""A start brings what the first session takes, and nothing else: each module is a fifth of a millisecond."""

import re

import pytest

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
