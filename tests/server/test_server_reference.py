"""The table of the protocol is that of the handlers, and its TypeScript is complete."""

import re
from types import SimpleNamespace

from agent_lsp.server import method_names, reference
from agent_lsp.server.compact_handlers import CompactHandlers
from agent_lsp.server.configuration import ConfigurationHandlers
from agent_lsp.server.edits import EditHandlers
from agent_lsp.server.model_handlers import ModelHandlers
from agent_lsp.server.page_handlers import PageHandlers
from agent_lsp.server.protocol_schema import protocol_schema
from agent_lsp.server.protocol_typescript import typescript
from agent_lsp.server.run_handlers import RunHandlers
from agent_lsp.server.session_handlers import SessionHandlers
from agent_lsp.server.session_opening import SessionOpening
from agent_lsp.server.snapshots import SnapshotHandlers
from agent_lsp.server.usage_handlers import UsageHandlers


def served():
    handlers = (
        SessionOpening(None, None),
        SessionHandlers(None, None),
        RunHandlers(None, None),
        CompactHandlers(None),
        EditHandlers(None),
        SnapshotHandlers(None),
        UsageHandlers(None),
        PageHandlers(None),
        ModelHandlers(None, SimpleNamespace(opener=SimpleNamespace(models=None))),
    )
    return {name: method.params for one in handlers for name, method in one.requests().items()}


def test_the_described_params_are_those_that_the_handlers_read():
    assert {name: one.params for name, one in reference.REQUESTS.items()} == served()


def test_the_described_notifications_of_the_client_are_those_that_are_taken():
    taken = ConfigurationHandlers(None, None).notifications()
    ours = {name: one.params for name, one in taken.items() if name.startswith("agent/")}
    assert {name: one.params for name, one in reference.CLIENT_NOTIFICATIONS.items()} == ours


def test_each_name_of_the_handshake_is_described():
    assert set(reference.REQUESTS) == set(method_names.METHODS)
    assert set(reference.SERVER_REQUESTS) == set(method_names.SERVER_REQUESTS)


def test_every_method_says_what_it_is_for_in_one_sentence_or_two():
    notices = (reference.NOTIFICATIONS, reference.CLIENT_NOTIFICATIONS)
    for table in (reference.REQUESTS, reference.SERVER_REQUESTS, *notices):
        assert all(re.fullmatch(r"[A-Z`].{8,200}\.", one.purpose) for one in table.values())


def test_typescript_has_each_shape_once_and_names_no_other():
    text = typescript(protocol_schema())
    code = re.sub(r"/\*\*.*?\*/|//[^\n]*|\"[^\"]*\"", "", text, flags=re.S)
    made = re.findall(r"export (?:interface|type) (\w+)", code)
    assert len(made) == len(set(made)) and {"SessionInfo", "OmniMessage", "AgentRequests"} <= set(made)
    assert set(re.findall(r"\b[A-Z]\w+", code)) <= {*made, "Record"}
    assert code.count("{") == code.count("}") and "undefined" not in code


def test_what_may_be_left_out_may_be_null_only_from_the_client():
    shapes = protocol_schema()["$defs"]
    assert {"type": "null"} in shapes["NewParams"]["properties"]["model"]["anyOf"]
    assert shapes["SessionInfo"]["properties"]["title"] == {"type": "string"}
    assert "title" not in shapes["SessionInfo"]["required"]
    assert {"cache_read", "total"} <= set(shapes["TokenCounts"]["required"])
    assert {"type": "null"} in shapes["UsageRow"]["properties"]["costUsd"]["anyOf"]
