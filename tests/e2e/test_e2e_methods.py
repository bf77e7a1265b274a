"""What the server says it can is what it can, and each error is answered where it belongs."""

import pytest

from agent_lsp.server import method_names
from tests.e2e.model_server import Gate, refuse, say
from tests.e2e.peer import Failed

pytestmark = pytest.mark.asyncio
NOBODY = {"sessionId": "nobody"}
CODES = {
    -32700: "parse_error",
    -32600: "invalid_request",
    -32601: "method_not_found",
    -32602: "invalid_params",
    -32002: "server_not_initialized",
    -32004: "session_not_found",
    -32009: "session_busy",
    -32010: "model_unavailable",
    -32011: "workspace_invalid",
    -32012: "limit_exceeded",
    -32800: "request_cancelled",
}


async def refusal(peer, method, **params):
    with pytest.raises(Failed) as caught:
        await peer.ask(method, params)
    assert CODES[caught.value.code] == caught.value.data["kind"]
    return caught.value.code


async def framing_error(peer, body):
    before = len(peer.log)
    peer.write(body)
    await peer.until(lambda: [one for one in peer.log[before:] if "error" in one and one["id"] is None], "an error")
    return peer.log[-1]["error"]["code"]


async def test_every_method_that_is_announced_is_served(peer):
    announced = peer.log[0]["result"]["capabilities"]["experimental"]["agent"]["methods"]
    assert announced == list(method_names.METHODS)
    for method in announced:
        try:
            await peer.ask(method, {**NOBODY, "input": 1, "steerId": 1, "ruleIds": 1, "limit": 0}, within_s=30)
        except Failed as failed:
            assert failed.code != -32601, method


async def test_every_error_is_answered_by_its_code_and_its_kind(connect, options, model, workspace):
    peer = await connect()
    assert await refusal(peer, "agent/models") == -32002
    await peer.initialize(options | {"limits": {"maxSessions": 1, "maxMessageBytes": 20_000}})

    assert await refusal(peer, "initialize") == -32600
    assert await framing_error(peer, b"{") == -32700
    assert await framing_error(peer, b"[]") == -32600
    assert await framing_error(peer, b"x" * 20_001) == -32012
    assert await refusal(peer, "agent/nothing") == -32601
    assert await refusal(peer, "agent/run", input="") == -32602
    assert await refusal(peer, "agent/session/history", **NOBODY) == -32004
    assert await refusal(peer, "agent/session/new", model="nobody/big") == -32010
    assert await refusal(peer, "agent/session/new", workspace=(workspace / "nowhere").as_uri()) == -32011

    gate = Gate()
    model.script([say("a"), gate])
    run = peer.send("agent/run", {"input": "go"})
    await peer.until_streamed("a")
    assert await refusal(peer, "agent/run", input="more") == -32009
    assert await refusal(peer, "agent/session/new") == -32012
    body, history = peer.prepare("agent/session/history", {"sessionId": peer.told("agent/state")[0]["sessionId"]})
    peer.write(body, {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": body["id"]}})
    with pytest.raises(Failed) as cancelled:
        await history
    assert CODES[cancelled.value.code] == "request_cancelled"

    assert await peer.ask("shutdown") is None
    assert (await run)["status"] == "aborted"
    assert await refusal(peer, "agent/models") == -32600
    peer.notify("exit")
    assert await peer.server.status() == 0


async def test_exit_without_shutdown_is_status_1(peer):
    peer.notify("exit")
    assert await peer.server.status() == 1


async def test_a_run_cancelled_in_the_same_write_twice_and_again_later_is_answered_once_with_its_result(peer, model):
    model.script([say("Hello.")])
    body, answer = peer.prepare("agent/run", {"input": "go"})
    cancel = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": body["id"]}}
    peer.write(body, cancel, cancel)

    assert (await answer)["status"] == "aborted"
    peer.write(cancel, {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "gone"}})
    assert (await peer.ask("agent/run", {"input": "again"}))["status"] == "completed"
    peer.stream.check_all_closed()


async def test_a_task_that_ended_badly_is_a_result(peer, model):
    for turns, status, said in [
        ([refuse(400, "so sorry")] * 3, "failed", "so sorry"),
        ([refuse(503, "so sorry")] * 3, "timeout", "after 2 retries"),
        ([refuse(401, "so sorry")], "auth", "so sorry"),
    ]:
        model.script(*turns)
        result = await peer.ask("agent/run", {"input": "go"})
        assert result["status"] == status
        assert said in result["errorMessage"]
        assert peer.stream.of(result["sessionId"])[-1]["type"] == "abort"
    assert peer.states()[-1] == "auth_required"
    assert peer.told("agent/state")[-1]["hint"]


async def test_progress_comes_under_a_token_that_was_created_first_and_its_button_aborts(greet, model):
    peer = await greet(capabilities={"window": {"workDoneProgress": True}})
    tokens = []
    peer.handlers["window/workDoneProgress/create"] = lambda params: tokens.append(params["token"])
    model.script([say("a"), Gate()])
    run = peer.send("agent/run", {"input": "Do it"})
    await peer.until_told("$/progress", lambda params: params["value"]["kind"] == "begin")
    await peer.until_streamed("a")
    peer.notify("window/workDoneProgress/cancel", {"token": tokens[0]})

    assert (await run)["status"] == "aborted"
    assert {one["token"] for one in peer.told("$/progress")} == set(tokens)
    assert peer.told("$/progress")[-1]["value"] == {"kind": "end", "message": "aborted"}


async def test_a_workspace_on_another_machine_ends_nothing(greet, model):
    peer = await greet(params={"workspaceFolders": [{"uri": "vscode-vfs://github/a/b", "name": "b"}]})
    model.script([say("Hello.")])
    assert (await peer.ask("agent/run", {"input": "go"}))["status"] == "completed"
    assert b"vscode-vfs" in peer.server.errors


async def test_a_data_directory_that_cannot_be_written_is_said_once_and_ends_nothing(greet, model, tmp_path):
    (tmp_path / "file").write_text("")
    peer = await greet(dataDir=str(tmp_path / "file"))
    model.script([say("Hello.")], [say("Again.")])
    assert (await peer.ask("agent/run", {"input": "go"}))["status"] == "completed"
    assert (await peer.ask("agent/run", {"input": "go"}))["status"] == "completed"
    assert len(peer.told("window/showMessage")) == 1
