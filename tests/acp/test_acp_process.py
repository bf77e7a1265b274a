"""The agent as a process."""

import json
import os
import signal

import pytest

INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}


def ask(process, message):
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def test_it_ends_well_when_the_client_closes_its_end(start):
    process = start()
    assert ask(process, INITIALIZE)["result"]["protocolVersion"] == 1
    said, complaints = process.communicate(timeout=10)
    assert (process.returncode, said, complaints) == (0, b"", b"")


def test_a_client_that_leaves_before_it_greets_ends_it(start):
    process = start()
    process.communicate(timeout=10)
    assert process.returncode == 1


def test_a_signal_ends_it(start, tmp_path):
    process = start()
    ask(process, INITIALIZE)
    new = {"jsonrpc": "2.0", "id": 2, "method": "session/list", "params": {}}
    assert ask(process, new)["result"] == {"sessions": []}
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 1


@pytest.mark.parametrize("arguments", [["--tcp", "1:1"], ["--frobnicate"], ["--log-level", "loud"], ["--config"]])
def test_arguments_that_make_no_sense_end_it_with_its_usage(start, arguments):
    process = start(*arguments)
    said, complaints = process.communicate(timeout=10)
    assert process.returncode == 2 and said == b"" and b"usage: agent-lsp acp" in complaints


def test_its_help_is_no_protocol(start):
    said, complaints = start("--help").communicate(timeout=10)
    assert said.startswith(b"usage: agent-lsp acp") and not complaints


def test_what_a_command_leaves_running_ends_with_it(start, tmp_path):
    (tmp_path / "c.toml").write_text('default_model = "rehearsal/rehearsal"\napproval_mode = "allow-all"\n')
    process = start("--config", str(tmp_path / "c.toml"))
    ask(process, INITIALIZE)
    session = ask(
        process,
        {"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": {"cwd": str(tmp_path), "mcpServers": []}},
    )["result"]["sessionId"]
    words = [{"type": "text", "text": "run `echo $$ > pid; echo started; exec sleep 300`"}]
    message = {"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": {"sessionId": session, "prompt": words}}
    told = ask(process, message)
    while '"tool_call_update"' not in (line := json.dumps(told)) or "started" not in line:
        told = json.loads(process.stdout.readline())
    process.communicate(timeout=10)
    assert process.returncode == 0
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
