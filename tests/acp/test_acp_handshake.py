"""What is answered before there is a server."""

import json
import subprocess
import sys

import pytest

from agent_lsp.acp.handshake import Configuration, Handshake
from agent_lsp.acp.options import configure
from agent_lsp.errors import InvalidParams
from tests.acp.conformance import fits


def shaken(params, configured=lambda: Configuration(None, {}, [], needs_login=False)):
    handshake = Handshake(configured)
    request = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    return handshake, [json.loads(one) for one in handshake.feed(json.dumps(request).encode() + b"\n")]


@pytest.mark.parametrize("version", [1, 0, 2, 65535, "2024-11-05", None])
def test_whatever_version_the_client_has_it_is_told_ours(version):
    handshake, (answer,) = shaken({"protocolVersion": version})
    fits("InitializeResponse", answer["result"])
    assert answer["result"]["protocolVersion"] == 1
    assert handshake.greeted


@pytest.mark.parametrize("capabilities", [None, [], {"fs": 1}, {"fs": {"readTextFile": "yes"}}, {"auth": []}])
def test_capabilities_that_are_none_are_not_believed(capabilities):
    handshake, _ = shaken({"protocolVersion": 1, "clientCapabilities": capabilities})
    client = handshake.greeted.client
    assert not (client.reads_files or client.writes_files or client.runs_logins)


@pytest.mark.parametrize(("terminal", "type"), [(True, "terminal"), (False, None)])
def test_a_login_is_offered_as_the_client_can_run_it(terminal, type):
    capabilities = {"auth": {"terminal": terminal}}
    _, (answer,) = shaken({"clientCapabilities": capabilities}, lambda: Configuration(None, {}, [], needs_login=True))
    fits("InitializeResponse", answer["result"])
    (method,) = answer["result"]["authMethods"]
    assert method.get("type") == type


def test_a_wrong_setting_is_named_and_the_client_may_try_again():
    def refuse():
        raise InvalidParams("wrong", [("max_turns", "must be a number")])

    handshake, (answer,) = shaken({}, refuse)
    assert answer["error"]["code"] == -32602 and answer["error"]["data"]["errors"][0]["path"] == "max_turns"
    assert handshake.greeted is None


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"nonsense", -32700),
        (b"[]", -32600),
        (b"1", -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"session/new"}', -32600),
        (b'{"id":1,"method":"initialize"}', -32600),
    ],
)
def test_anything_else_comes_too_early(line, code):
    (answer,) = Handshake(lambda: pytest.fail("asked")).feed(line + b"\n")
    assert json.loads(answer)["error"]["code"] == code


def test_what_follows_initialize_waits():
    handshake = Handshake(lambda: Configuration(None, {}, [], needs_login=False))
    first = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n'
    assert len(handshake.feed(first + b'{"jsonrpc":"2.0","id":2,"method":"session/list"}\n')) == 1
    assert json.loads(handshake.greeted.decoder.take())["method"] == "session/list"


def test_a_file_with_a_wrong_value_is_an_error_of_initialize(tmp_path):
    (tmp_path / "c.toml").write_text("max_turns = 'many'\n")
    _, (answer,) = shaken({}, configure({"config": str(tmp_path / "c.toml")}, {"HOME": str(tmp_path)}))
    assert "max_turns" in answer["error"]["data"]["errors"][0]["path"]


def test_the_handshake_imports_nothing_heavy():
    script = (
        "import sys, agent_lsp.acp.greeting, agent_lsp.acp.options\n"
        "print(*[one for one in ('pydantic', 'asyncio', 'httpx', 'agent_lsp.app') if one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
