"""Holds every message of the agent against the schema of the protocol."""

import json
from functools import cache
from pathlib import Path

from jsonschema import Draft202012Validator

SCHEMA = json.loads((Path(__file__).parent / "schema" / "v1.json").read_text())
BEYOND_V1 = {"session/fork", "_session/steering"}
"""Methods of ours that the schema does not know."""
ONLY_ON_REQUEST = {"notice", "compaction_update", "compaction_summary_chunk"}


def _methods(side, ending):
    return {
        one["x-method"]: name
        for name, one in SCHEMA["$defs"].items()
        if one.get("x-side") == side and name.endswith(ending)
    }


RESPONSES = _methods("agent", "Response")
REQUESTS = _methods("client", "Request")


@cache
def _validator(name):
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})


def fits(name, value):
    problems = [f"{'/'.join(map(str, one.path))}: {one.message[:300]}" for one in _validator(name).iter_errors(value)]
    assert not problems, (name, problems, value)


class Conformance:
    """What the agent may say depends on what it was asked, and on what the client can."""

    def __init__(self):
        self._asked = {}
        self.capabilities = {}
        self.calls = {}

    def sent(self, message):
        """The client has said this."""
        if "method" in message and "id" in message:
            self._asked[json.dumps(message["id"])] = message["method"]
        if message.get("method") == "initialize":
            self.capabilities = message["params"].get("clientCapabilities", {})

    def heard(self, message):
        """The agent has said this."""
        assert message["jsonrpc"] == "2.0"
        if "method" not in message:
            self._answer(message)
        elif "id" in message:
            self._request(message)
        elif message["method"] == "session/update":
            fits("SessionNotification", message["params"])
            assert message["params"]["update"]["sessionUpdate"] not in ONLY_ON_REQUEST
            self._told(message["params"]["sessionId"], message["params"]["update"])
        else:
            assert message["method"] == "$/cancel_request", message
            fits("CancelRequestNotification", message["params"])

    def _answer(self, message):
        if "error" in message:
            fits("Error", message["error"])
            return
        method = self._asked.pop(json.dumps(message["id"]))
        if method not in BEYOND_V1:
            fits(RESPONSES[method], message["result"])

    def _request(self, message):
        method = message["method"]
        fits(REQUESTS[method], message["params"])
        files = self.capabilities.get("fs", {})
        offered = {"fs/read_text_file": "readTextFile", "fs/write_text_file": "writeTextFile"}
        if method == "elicitation/create":
            assert isinstance(self.capabilities["elicitation"]["form"], dict), message
        else:
            assert method == "session/request_permission" or files.get(offered[method]) is True, message

    def _told(self, session_id, update):
        """A call is announced once and ends once."""
        kind, key = update["sessionUpdate"], (session_id, update.get("toolCallId"))
        if kind == "tool_call":
            assert self.calls.get(key) in (None, "completed", "failed"), update
            self.calls[key] = "pending"
        elif kind == "tool_call_update":
            assert self.calls.get(key) in ("pending", "in_progress"), update
            self.calls[key] = update.get("status", self.calls[key])
        for place in update.get("locations", []):
            assert place["path"].startswith("/") and place.get("line", 1) >= 1
