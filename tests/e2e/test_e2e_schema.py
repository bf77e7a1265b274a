"""Everything that a real server says fits the published schema, and has no field that is not in it."""

import json

import pytest
from jsonschema import Draft202012Validator

from agent_lsp.server.protocol_schema import protocol_schema
from agent_lsp.server.reference import NOTIFICATIONS, REQUESTS, SERVER_REQUESTS
from tests.e2e.model_server import say, think, use

pytestmark = pytest.mark.asyncio
OPEN = {"Snapshot", "NewParams"}


def closed_schema():
    """The schema in which a field that is not described is an error."""
    schema = protocol_schema()
    for name, shape in schema["$defs"].items():
        if "properties" in shape and name not in OPEN:
            shape["additionalProperties"] = False
    return schema


SCHEMA = closed_schema()


def check(reference, value, what):
    validator = Draft202012Validator({**reference, "$defs": SCHEMA["$defs"]})
    errors = [
        f"{what}.{'.'.join(map(str, one.absolute_path))}: {one.message[:300]}" for one in validator.iter_errors(value)
    ]
    assert not errors, errors


async def test_every_answer_question_and_notification_fits_its_schema(greet, model, workspace):
    capabilities = {"protocolVersion": 1, "approve": True, "ask": True}
    peer = await greet(agent=capabilities, titles=True)
    asked = []

    def answered(method, answer):
        def handler(params):
            check(SCHEMA["serverRequests"][method]["params"], params, method)
            check(SCHEMA["serverRequests"][method]["result"], answer, method)
            asked.append(method)
            return answer

        return handler

    peer.handlers["agent/approve"] = answered("agent/approve", {"decision": "allow"})
    peer.handlers["agent/ask"] = answered("agent/ask", {"answer": "blue"})
    done = set()

    async def ask(method, **params):
        check(SCHEMA["requests"][method]["params"], params, method)
        answer = await peer.ask(method, params, within_s=30)  # a page is made by a process of its own
        check(SCHEMA["requests"][method]["result"], answer, method)
        done.add(method)
        return answer

    session = await ask("agent/session/new", workspace=workspace.as_uri(), title="A", tags=["t"])
    id = {"sessionId": session["sessionId"]}
    edit = {"file_path": "notes.txt", "old_string": "first", "new_string": "very first"}
    model.script(
        [think("hm"), use("ask_user", {"question": "which?", "options": ["blue", "red"]})],
        [use("edit_file", edit)],
        [use("exec_command", {"cmd": "true"})],
        [say("Done.")],
    )
    await ask("agent/run", **id, input=[{"type": "text", "text": "go"}], goal=None)
    edits = (await ask("agent/edits", **id, oldTexts=True))["edits"]
    assert len(edits) == 1
    await ask("agent/edits/keep", **id, editIds=[edits[0]["editId"]])
    await ask("agent/edits/undo", **id)
    history = await ask("agent/session/history", **id, limit=3)
    await ask("agent/session/history", **id, cursor=history["nextCursor"])
    newest = await ask("agent/session/history", **id, limit=3, fromEnd=True)
    await ask("agent/session/history", **id, limit=3, fromEnd=True, cursor=newest["previousCursor"])
    model.script([say("A fine title")])
    await ask("agent/title", **id)
    model.script([say("A summary.")])
    await ask("agent/compactability", **id)
    await ask("agent/compact", **id)
    for method in ("agent/session/snapshot", "agent/rules", "agent/tools", "agent/usage", "agent/retryNow"):
        await ask(method, **id)
    await ask("agent/rules/revoke", ruleIds=[])
    await ask("agent/usage", groupBy="day", **{"from": "2020-01-01"})
    await ask("agent/session/page", **id)
    await ask("agent/usage/page")
    await ask("agent/models")
    model.script([say("OK")])
    await ask("agent/models/test", model="chat/big")
    for method in ("agent/steer",):
        await ask(method, **id, input="and?")
    await ask("agent/unsteer", **id, steerId="none")
    await ask("agent/abort", **id)
    await ask("agent/session/update", **id, approvalMode="auto-edit")
    await ask("agent/session/list", limit=5)
    fork = await ask("agent/session/fork", **id)
    loop = await ask("agent/session/new", workspace=workspace.as_uri(), mode="loop")
    await ask("agent/session/snapshot", sessionId=loop["sessionId"])
    await ask("agent/session/close", **id)
    await ask("agent/session/resume", **id)
    await ask("agent/session/delete", sessionId=fork["sessionId"])

    assert done == set(REQUESTS), "a method whose answer nobody looked at"
    assert sorted(asked) == ["agent/approve", "agent/approve", "agent/ask"]
    told = [one for one in peer.log if one.get("method") in NOTIFICATIONS]
    for one in told:
        check(SCHEMA["notifications"][one["method"]]["params"], one["params"], one["method"])
    assert {"agent/message", "agent/state", "agent/approvalResolved"} <= {one["method"] for one in told}


async def test_what_is_announced_is_what_is_described(peer):
    announced = peer.log[0]["result"]["capabilities"]["experimental"]["agent"]
    assert sorted(announced["methods"]) == sorted(REQUESTS)
    assert sorted(announced["serverRequests"]) == sorted(SERVER_REQUESTS)


async def test_the_schema_is_one(peer):
    schema = protocol_schema()
    for shape in schema["$defs"].values():
        Draft202012Validator.check_schema(shape)
    text = json.dumps(schema)
    named = {part.split('"')[0] for part in text.split("#/$defs/")[1:]}
    assert named <= set(schema["$defs"])
