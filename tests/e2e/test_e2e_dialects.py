"""What a session does with what is around it: both dialects, files and images of an input, histories brought along."""

import json
from pathlib import Path

import pytest

from tests.e2e.model_server import CUT, Gate, refuse, say, think, use

pytestmark = pytest.mark.asyncio
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
STAMP = "2026-11-29T21:20:41.123Z"


@pytest.mark.parametrize("model_name", ["chat/big", "claude/big"])
async def test_both_dialects_stream_call_and_recover_alike(peer, model, workspace, model_name):
    peer.handlers["agent/approve"] = lambda _: {"decision": "allow"}
    session = (await peer.ask("agent/session/new", {"model": model_name}))["sessionId"]
    model.script(
        [think("Let ", "me see."), say("First "), CUT],
        [
            think("Let me ", "see."),
            say("Both ", "at once."),
            use("read_file", {"file_path": "notes.txt"}, "c1"),
            use("edit_file", {"file_path": "notes.txt", "old_string": "second", "new_string": "2nd"}, "c2"),
        ],
        refuse(429, "slow down", retry_after="0"),
        [say("Done.")],
    )
    result = await peer.ask("agent/run", {"sessionId": session, "input": "go"})

    assert (result["status"], result["text"], result["turns"]) == ("completed", "Done.", 2), result
    assert result["usage"] == {"cache_read": 0, "cache_write": 200, "output": 20, "total": 220}
    assert (workspace / "notes.txt").read_text() == "first line\n2nd line\n"
    ends = [(one["status"], one.get("attempt")) for one in peer.stream.of(session, "request_end")]
    assert ends == [("timeout", 1), ("completed", 2), ("timeout", 1), ("completed", 2)]
    assert [one["tool_call_id"] for one in peer.stream.of(session, "tool_call")] == ["c1", "c2"]
    assert "[turn_retried]" in model.asked[1].words
    assert "First " in model.asked[1].words
    assert model.asked[3].words.count("[turn_retried]") == 1  # that of the first turn, which was committed with it
    assert json.dumps(model.asked[2].body) == json.dumps(model.asked[3].body)
    peer.stream.check_all_closed()


@pytest.mark.parametrize("model_name", ["chat/big", "claude/big"])
async def test_requests_one_after_the_other_share_a_connection(peer, model, model_name):
    session = (await peer.ask("agent/session/new", {"model": model_name, "title": "given"}))["sessionId"]
    for words in ("one", "two", "three"):
        model.script([say(words)])
        assert (await peer.ask("agent/run", {"sessionId": session, "input": "go"}))["text"] == words
    assert (len(model.asked), model.accepted) == (3, 1)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_a_selection_is_attached_as_the_editor_counts_it(greet, model, workspace, encoding):
    peer = await greet(capabilities={"general": {"positionEncodings": [encoding]}})
    assert peer.log[0]["result"]["capabilities"]["positionEncoding"] == encoding
    (workspace / "music.txt").write_text("𝄞 é𝄞x\n𝄞y\n")
    units = {"utf-8": (7, 4), "utf-16": (4, 2), "utf-32": (3, 1)}[encoding]
    selected = {"start": {"line": 0, "character": units[0]}, "end": {"line": 1, "character": units[1]}}
    model.script([say("Seen.")])
    uri = (workspace / "music.txt").as_uri()
    await peer.ask(
        "agent/run", {"input": [{"type": "text", "text": "See"}, {"type": "resource", "uri": uri, "range": selected}]}
    )

    attached = "[attached file: music.txt:1-2]\n𝄞x\n𝄞"
    assert json.dumps(attached, ensure_ascii=False)[1:-1] in model.asked[0].words
    history = await peer.ask("agent/session/history", {"sessionId": peer.told("agent/state")[0]["sessionId"]})
    assert attached in [one["payload"].get("text") for one in history["messages"]]


@pytest.mark.parametrize("model_name", ["chat/big", "claude/big"])
async def test_an_image_goes_to_the_model_and_is_kept_as_it_was(peer, model, model_name):
    session = (await peer.ask("agent/session/new", {"model": model_name}))["sessionId"]
    model.script([say("A dot.")], [say("Still.")])
    picture = f"data:image/png;base64,{PIXEL}"
    await peer.ask("agent/run", {"input": [{"type": "text", "text": "What?"}, {"type": "image", "data": picture}]})
    await peer.ask("agent/run", {"input": "And now?"})

    assert all(PIXEL in asked.words for asked in model.asked)
    history = await peer.ask("agent/session/history", {"sessionId": session})
    assert picture in [one["payload"].get("image_url") for one in history["messages"]]


@pytest.mark.parametrize("model_name", ["chat/big", "claude/big"])
async def test_a_history_that_was_brought_along_is_sent_before_the_first_input(peer, model, model_name):
    def message(type, **fields):
        return {"timestamp": STAMP, "type": "model_msg", "payload": {"type": type, **fields}}

    seed = [
        message("text", role="user", text="What is in a.txt?"),
        message(
            "tool_call", role="assistant", name="read_file", arguments='{"file_path": "a.txt"}', tool_call_id="old"
        ),
        message("tool_call_output", role="user", tool_call_id="old", output="an apple"),
        message("text", role="assistant", text="An apple."),
    ]
    await peer.ask("agent/session/new", {"model": model_name, "initialHistory": seed})
    model.script([say("Red.")])
    assert (await peer.ask("agent/run", {"input": "Its colour?"}))["turns"] == 1

    [asked] = model.asked
    said = [asked.words.index(words) for words in ("What is in a.txt?", "an apple", "An apple.", "Its colour?")]
    assert said == sorted(said)


async def test_two_sessions_of_two_providers_run_side_by_side(peer, model):
    gates = [Gate(), Gate()]
    model.script([say("a"), gates[0], say("!")])
    sessions = [
        (await peer.ask("agent/session/new", {"model": name}))["sessionId"] for name in ("chat/big", "claude/big")
    ]
    first = peer.send("agent/run", {"sessionId": sessions[0], "input": "one"})
    await gates[0].reached.wait()
    model.script([say("b"), gates[1], say("!")])
    second = peer.send("agent/run", {"sessionId": sessions[1], "input": "two"})
    await gates[1].reached.wait()
    for gate in reversed(gates):
        gate.open()

    assert [(await run)["text"] for run in (second, first)] == ["b!", "a!"]
    assert [asked.path for asked in model.asked] == ["/v1/chat/completions", "/v1/messages"]


async def test_a_command_dies_with_the_server(peer, model, workspace):
    peer.handlers["agent/approve"] = lambda _: {"decision": "allow"}
    line = "echo $$ > pid; exec sleep 600"
    model.script([use("exec_command", {"cmd": line, "run_in_background": True})], [say("Started."), Gate()])
    peer.send("agent/run", {"input": "go"})
    await peer.until_streamed("Started.")
    pid = int((workspace / "pid").read_text())
    assert command_line(pid)
    peer.notify("exit")

    assert await peer.server.status() == 1
    assert not command_line(pid)


def command_line(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return b""
