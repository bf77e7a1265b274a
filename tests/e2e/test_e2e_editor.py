"""An agent works in the files that an editor holds open, and the person goes on working in them."""

import pytest

from tests.e2e.model_server import say, use
from tests.e2e.peer import EVERYTHING, Failed

pytestmark = pytest.mark.asyncio
AGENT = EVERYTHING | {"saveDocument": True, "diagnostics": True}
CAPABILITIES = {
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True, "changeAnnotationSupport": {}}}
}


class Buffer:
    """One file in an editor behind a peer: it takes edits of one line, and tells of them as editors do."""

    def __init__(self, peer, path):
        self.peer, self.path, self.uri = peer, path, path.as_uri()
        self.text, self.version, self.edits = path.read_text(), 1, []
        peer.handlers["workspace/applyEdit"] = self._apply
        peer.handlers["agent/saveDocument"] = self._save
        item = {"uri": self.uri, "languageId": "plaintext", "version": 1, "text": self.text}
        peer.notify("textDocument/didOpen", {"textDocument": item})

    def type(self, text):
        self.version += 1
        self.text = text
        document = {"uri": self.uri, "version": self.version}
        self.peer.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def save(self):
        self.path.write_text(self.text)
        self.peer.notify("textDocument/didSave", {"textDocument": {"uri": self.uri}})

    def _apply(self, params):
        self.edits.append(params)
        ((change,),) = [params["edit"]["documentChanges"]]
        assert change["textDocument"] == {"uri": self.uri, "version": self.version}
        lines = self.text.split("\n")
        for edit in reversed(change["edits"]):
            start, end = edit["range"]["start"], edit["range"]["end"]
            assert start["line"] == end["line"]
            line = lines[start["line"]]
            lines[start["line"]] = line[: start["character"]] + edit["newText"] + line[end["character"] :]
        self.type("\n".join(lines))
        return {"applied": True}

    def _save(self, params):
        assert params == {"uri": self.uri}
        self.save()
        return {"saved": True}


def edit(old, new):
    return use("edit_file", {"file_path": "notes.txt", "old_string": old, "new_string": new})


def texts(asked):
    return [message["content"] for message in asked.messages if message["role"] == "user"]


async def test_an_edit_is_made_in_the_editor_saved_listed_and_undone(greet, model, workspace):
    peer = await greet(agent=AGENT, capabilities=CAPABILITIES, approvalMode="allow-all")
    peer.handlers["agent/diagnostics"] = lambda params: {"items": []}
    buffer = Buffer(peer, workspace / "notes.txt")
    model.script([edit("second", "2nd")], [say("done")])
    run = await peer.ask("agent/run", {"input": "go"})
    assert run["status"] == "completed"
    assert buffer.text == (workspace / "notes.txt").read_text() == "first line\n2nd line\n"
    assert buffer.edits[0]["label"] == "Edit notes.txt"

    [listed] = (await peer.ask("agent/edits", {"runId": run["runId"]}))["edits"]
    assert (listed["uri"], listed["state"], listed["runId"]) == (buffer.uri, "pending", run["runId"])
    assert listed["range"]["start"]["line"] == 1 and listed["tool_call_id"]

    buffer.type("zeroth line\n" + buffer.text)
    [undone] = (await peer.ask("agent/edits/undo", {"editIds": [listed["editId"]]}))["edits"]
    assert undone["state"] == "undone" and buffer.text == "zeroth line\nfirst line\nsecond line\n"
    assert (await peer.ask("agent/edits"))["edits"] == []

    model.script([say("I see")])
    await peer.ask("agent/run", {"input": "and now?"})
    told, _, asked = repr(texts(model.asked[-1])).partition("[user_edits]")[2].partition("[/user_edits]")
    assert "undone" in told and "+zeroth line" in told and "and now?" in asked


async def test_what_the_editor_would_lose_is_refused_with_the_reason(greet, model, workspace):
    peer = await greet(agent=AGENT, capabilities=CAPABILITIES, approvalMode="allow-all")
    buffer = Buffer(peer, workspace / "notes.txt")
    model.script([edit("second", "2nd"), use("exec_command", {"cmd": "true"})], [say("done")])
    await peer.ask("agent/run", {"input": "go"})
    buffer.type("first line\n2Xnd line\n")
    answer = await peer.ask("agent/edits/undo")
    assert [(one["state"], "changed since" in one["reason"]) for one in answer["edits"]] == [("changed", True)]
    assert "cannot be undone" in answer["note"]
    assert buffer.text == "first line\n2Xnd line\n"


async def test_files_and_edits_are_known_to_the_process_that_goes_on_with_the_session(greet, model, workspace):
    first = await greet(agent=AGENT, capabilities=CAPABILITIES, approvalMode="allow-all")
    model.script([use("read_file", {"file_path": "notes.txt"}), edit("second", "2nd")], [say("done")])
    run = await first.ask("agent/run", {"input": "go"})
    await first.ask("agent/edits/keep")
    [session] = (await first.ask("agent/session/list"))["sessions"]
    await first.end()
    assert (workspace / "notes.txt").read_text() == "first line\n2nd line\n"
    (workspace / "notes.txt").write_text("first line\n2nd line\nthird line\n")

    peer = await greet(agent=AGENT, capabilities=CAPABILITIES, approvalMode="allow-all")
    await peer.ask("agent/session/resume", {"sessionId": session["sessionId"]})
    buffer = Buffer(peer, workspace / "notes.txt")
    [listed] = (await peer.ask("agent/edits"))["edits"]
    assert (listed["state"], listed["runId"], listed["range"]["start"]["line"]) == ("kept", run["runId"], 1)
    [undone] = (await peer.ask("agent/edits/undo", {"editIds": [listed["editId"]]}))["edits"]
    assert undone["state"] == "undone" and buffer.text == "first line\nsecond line\nthird line\n"
    model.script([say("I see")])
    await peer.ask("agent/run", {"input": "and now?"})
    told = repr(texts(model.asked[-1])).partition("[user_edits]")[2].partition("[/user_edits]")[0]
    assert "undone" in told and "+third line" in told and "+second line" in told


async def test_an_edit_that_is_none_is_named(greet, model):
    peer = await greet()
    await peer.ask("agent/session/new", {})
    with pytest.raises(Failed) as caught:
        await peer.ask("agent/edits/keep", {"editIds": ["edit-9"]})
    assert caught.value.code == -32602 and caught.value.data["errors"][0]["path"] == "editIds"


async def test_a_document_without_a_file_can_be_attached(greet, model):
    peer = await greet(agent=AGENT, capabilities=CAPABILITIES)
    item = {"uri": "untitled:Untitled-1", "languageId": "x", "version": 1, "text": "draft 😀 text\nmore\n"}
    peer.notify("textDocument/didOpen", {"textDocument": item})
    model.script([say("I see")])
    span = {"start": {"line": 0, "character": 9}, "end": {"line": 0, "character": 13}}
    await peer.ask("agent/run", {"input": [{"type": "resource", "uri": item["uri"], "range": span}]})
    assert "[attached file: untitled:Untitled-1:1-1]\\ntext" in repr(texts(model.asked[-1]))
