"""A whole life of a session, as seen by the editors that people use, over every way of starting the server."""

import pytest
import pytest_asyncio

from tests.e2e.editor import EDITORS, Editor
from tests.e2e.launch import WAYS
from tests.e2e.model_server import Gate, say, think, use
from tests.e2e.peer import EVERYTHING

SOCKETS = sorted(WAYS.keys() - {"stdio"})


@pytest_asyncio.fixture
async def open_editor(launch):
    editors = []

    async def start(name, plugin=EVERYTHING, way="stdio"):
        editors.append(Editor(name, await launch(way=way), plugin))
        return editors[-1]

    yield start
    for editor in editors:
        assert editor.error is None
        await editor.end()


def the_encoding_of(editor):
    general = editor.capabilities.general
    offered = (general and general.position_encodings) or []
    return str(next((one for one in offered if one in ("utf-8", "utf-16", "utf-32")), "utf-16"))


async def has_run(editor, session, model, *turns, text="Done."):
    """A run through the given turns, to a good end."""
    model.script(*turns, [say(text)])
    result = await editor.ask("agent/run", sessionId=session, input="go on")
    assert (result["status"], result["text"]) == ("completed", text), result
    return result


async def edits_after_asking(editor, session, model, workspace):
    thought = [
        think("What ", "now?"),
        say("I shall ", "write."),
        use("write_file", {"file_path": "new.txt", "content": "new\n"}),
    ]
    result = await has_run(editor, session, model, thought)

    assert (workspace / "new.txt").read_text() == "new\n"
    [question] = editor.asked
    assert question["preview"]["kind"] == "edit"
    assert question["preview"]["created"] is True
    assert question["preview"]["uri"] == (workspace / "new.txt").as_uri()
    assert [one["outcome"] for one in editor.resolved] == ["allow"]
    assert "waiting_approval" in [one["state"] for one in editor.states]
    kinds = [one["type"] for one in editor.stream.of(session) if not one["type"].startswith("partial_")]
    thinking, words, call = (kinds.index(kind) for kind in ("thinking", "text", "tool_call"))
    assert thinking < words < call < kinds.index("approval_decision") < kinds.index("tool_call_output")
    assert result["turns"] == 2


async def is_steered(editor, session, model):
    gate = Gate()
    model.script([say("Working"), gate, say(" on.")], [say("Turned.")])
    run = editor.ask("agent/run", sessionId=session, input="start")
    await gate.reached.wait()
    assert (await editor.ask("agent/steer", sessionId=session, input="the other way"))["accepted"] is True
    gate.open()

    assert (await run)["text"] == "Turned."
    assert "[user_steering]\\nthe other way\\n[/user_steering]" in model.asked[-1].words


async def is_aborted(editor, session, model):
    gate = Gate()
    model.script([say("An endless "), gate])
    run = editor.ask("agent/run", sessionId=session, input="never end")
    await editor.until(
        lambda: any("endless" in one.get("text", "") for one in editor.stream.of(session, "partial_text"))
    )
    aborted = await editor.ask("agent/abort", sessionId=session)

    result = await run
    assert aborted == {"aborted": True, "what": "run", "runId": result["runId"]}
    assert (result["status"], result["text"]) == ("aborted", "An endless ")
    assert editor.stream.of(session)[-1]["type"] == "abort"


async def waits_its_turn(editor, session, model):
    gate = Gate()
    model.script([gate, say("One.")], [say("Two.")])
    first = editor.ask("agent/run", sessionId=session, input="one")
    await gate.reached.wait()
    second = editor.ask("agent/run", sessionId=session, input="two", queueIfBusy=True)
    await editor.until(lambda: editor.states[-1]["queued"] == 1)
    gate.open()

    assert [(one["text"], one.get("queued")) for one in (await first, await second)] == [("One.", None), ("Two.", True)]


async def is_remembered(editor, session, workspace):
    history = await editor.ask("agent/session/history", sessionId=session)
    assert history["nextSeq"] == editor.stream.next_seq[session]
    assert history["pending"] == {"runs": [], "steers": [], "approvals": []}
    assert "live" not in history
    texts = [one["payload"].get("text", "[") for one in history["messages"] if one["payload"].get("role") == "user"]
    prompts = [one for one in texts if "[" not in one]
    assert prompts == ["go on", "start", "never end", "one", "two"]

    info = await editor.ask("agent/session/update", sessionId=session, title="A life", approvalMode="read-only")
    assert (info["title"], info["approvalMode"], info["state"]) == ("A life", "read-only", "idle")
    listed = (await editor.ask("agent/session/list", workspace=workspace.as_uri()))["sessions"]
    assert [(one["sessionId"], one["title"]) for one in listed] == [(session, "A life")]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "way"), [*((name, "stdio") for name in EDITORS), *(("vscode", way) for way in SOCKETS)]
)
async def test_a_whole_life_in_an_editor_with_a_plugin(open_editor, name, way, model, workspace, options):
    editor = await open_editor(name, way=way)
    said = (await editor.initialize(workspace, options)).capabilities
    assert said.position_encoding == the_encoding_of(editor)
    assert said.experimental["agent"]["protocolVersion"] == 1

    session = (await editor.ask("agent/session/new"))["sessionId"]
    await edits_after_asking(editor, session, model, workspace)
    await is_steered(editor, session, model)
    await is_aborted(editor, session, model)
    await waits_its_turn(editor, session, model)
    await is_remembered(editor, session, workspace)

    assert await editor.ask("agent/session/close", sessionId=session) == {}
    assert await editor.leave() == 0
    editor.stream.check_all_closed()
    assert model.is_spent
    assert editor.server.errors == b""


@pytest.mark.asyncio
@pytest.mark.parametrize("name", EDITORS)
async def test_an_editor_that_can_ask_nobody_may_read_but_not_write(open_editor, name, model, workspace, options):
    editor = await open_editor(name, plugin={"protocolVersion": 1, "approve": False})
    await editor.initialize(workspace, options)
    session = (await editor.ask("agent/session/new"))["sessionId"]
    reading = [use("read_file", {"file_path": "notes.txt"})]
    writing = [use("write_file", {"file_path": "new.txt", "content": "new\n"})]

    await has_run(editor, session, model, reading, writing)

    read, written = [one["output"] for one in editor.stream.of(session, "tool_call_output")]
    assert "second line" in read
    assert written == "Tool call denied by user."
    assert not (workspace / "new.txt").exists()
    assert await editor.leave() == 0
