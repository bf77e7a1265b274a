from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.capabilities import ServerCapabilitiesBuilder

from agent_lsp.errors import InvalidParams
from agent_lsp.policy.trust import Trust
from agent_lsp.server.framing import frame
from agent_lsp.server.handshake import ClientInfo, Configuration, Handshake, initialize_result
from agent_lsp.server.options import configure, path_of
from agent_lsp.server.plain_capabilities import ACTION_KINDS, COMMANDS, EDIT_COMMANDS

CLIENTS = sorted((Path(pytest_lsp.__file__).parent / "clients").glob("*.json"))


def configured(client: ClientInfo) -> Configuration:
    return Configuration({})


def initialize(id: object = 1, **params) -> bytes:
    return frame(json.dumps({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params}).encode())


def request(method: str, id: object = 7) -> bytes:
    return frame(json.dumps({"jsonrpc": "2.0", "id": id, "method": method}).encode())


def notification(method: str) -> bytes:
    return frame(json.dumps({"jsonrpc": "2.0", "method": method}).encode())


def codes(answers: list[bytes]) -> list[tuple[object, int]]:
    return [(one["id"], one["error"]["code"]) for one in map(json.loads, answers)]


def test_everything_but_initialize_is_refused_before_it():
    handshake = Handshake(configured)
    data = b"".join(request(method, method) for method in ("agent/run", "shutdown", "no/such"))
    assert codes(handshake.feed(data)) == [("agent/run", -32002), ("shutdown", -32002), ("no/such", -32002)]
    assert handshake.feed(notification("textDocument/didSave") + frame(b'{"id":1,"result":2}')) == []
    assert codes(handshake.feed(frame(b"{nope") + frame(b"[]") + b"X: 1\r\n\r\n")) == [
        (None, -32700),
        (None, -32600),
        (None, -32700),
    ]
    assert handshake.greeted is None and not handshake.ended
    (answer,) = handshake.feed(initialize())
    assert json.loads(answer)["result"]["serverInfo"]["name"] == "agent-lsp"


def test_exit_ends_it():
    handshake = Handshake(configured)
    assert handshake.feed(notification("exit") + initialize()) == []
    assert handshake.ended and handshake.greeted is None


def test_what_follows_initialize_waits_in_order_for_the_server():
    handshake = Handshake(configured)
    half = request("agent/models", 3)
    handshake.feed(initialize() + notification("initialized") + request("agent/run", 2) + half[:-5])
    assert handshake.greeted is not None
    decoder = handshake.greeted.decoder
    decoder.feed(half[-5:])
    bodies = [decoder.take() for _ in range(4)]
    assert [json.loads(body)["method"] for body in bodies if isinstance(body, bytes)] == [
        "initialized",
        "agent/run",
        "agent/models",
    ]


def test_wrong_options_are_named_and_initialize_may_be_tried_again():
    def refuse(client: ClientInfo) -> Configuration:
        if client.options:
            raise InvalidParams("wrong", [("maxTurns", "must be a number")])
        return Configuration({})

    handshake = Handshake(refuse)
    (answer,) = handshake.feed(initialize(initializationOptions={"agent": {"maxTurns": {}}}))
    error = json.loads(answer)["error"]
    assert error["code"] == -32602
    assert error["data"]["errors"] == [{"path": "maxTurns", "message": "must be a number"}]
    assert handshake.greeted is None
    handshake.feed(initialize())
    assert handshake.greeted is not None


def test_warnings_are_told_after_the_answer():
    handshake = Handshake(lambda client: Configuration({}, warnings=["careful"]))
    first, second = map(json.loads, handshake.feed(initialize()))
    assert "result" in first
    assert second == {"jsonrpc": "2.0", "method": "window/logMessage", "params": {"type": 2, "message": "careful"}}


def test_the_configured_limit_holds_from_the_next_message_on():
    handshake = Handshake(lambda client: Configuration({"limits": {"max_message_bytes": 2000}}))
    handshake.feed(initialize(padding="x" * 3000) + frame(b"x" * 3000))
    assert handshake.greeted is not None
    assert not isinstance(handshake.greeted.decoder.take(), bytes)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"capabilities": None, "initializationOptions": [], "workspaceFolders": "x", "rootUri": 3, "processId": "1"},
        {"capabilities": {"general": [], "experimental": "x"}, "workspaceFolders": [None], "processId": True},
        {"capabilities": {"general": {"positionEncodings": [3, {}]}, "experimental": {"agent": []}}, "processId": -1},
        {"processId": 2**70},
    ],
)
def test_nothing_in_initialize_needs_to_have_the_right_type(params):
    client = ClientInfo(params)
    assert (client.position_encoding, client.parent_pid, client.workspace, client.plain) == ("utf-16", None, None, True)


def test_the_parent_counts_only_when_it_is_alive():
    assert ClientInfo({"processId": os.getpid()}).parent_pid == os.getpid()
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert ClientInfo({"processId": child.pid}).parent_pid is None


def test_a_client_says_what_it_can():
    client = ClientInfo({"capabilities": {"experimental": {"agent": {"approve": True, "ask": 1, "partials": False}}}})
    assert (client.plain, client.can("approve"), client.can("ask"), client.can("partials", True)) == (
        False,
        True,
        False,
        False,
    )
    assert client.workspace_trusted is None


def test_the_first_folder_is_the_workspace():
    folders = [{"uri": "file:///a", "name": "a"}, {"uri": "file:///b", "name": "b"}]
    assert ClientInfo({"workspaceFolders": folders, "rootUri": "file:///r"}).workspace == "file:///a"
    assert ClientInfo({"workspaceFolders": [], "rootUri": "file:///r"}).workspace == "file:///r"
    assert ClientInfo({"rootUri": None, "rootPath": "/p"}).workspace == "/p"


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a%20b/%C3%BC", "/a b/ü"),
        ("file://localhost/x", "/x"),
        ("/plain/path", "/plain/path"),
        ("untitled:1", None),
        ("file://other-host/x", None),
        ("http://[x", None),
    ],
)
def test_a_uri_becomes_a_path(uri, path):
    assert path_of(uri) == path


# --- over a socket ----------------------------------------------------------------------------------------------------


def guarded() -> Handshake:
    return Handshake(configured, admits=lambda token: token == "secret")


def test_the_right_token_is_let_in():
    handshake = guarded()
    assert handshake.feed(initialize(initializationOptions={"agent": {"token": "secret"}}))
    assert handshake.greeted is not None


@pytest.mark.parametrize(
    "data",
    [
        initialize(),
        initialize(initializationOptions={"agent": {"token": "wrong"}}),
        initialize(initializationOptions={"agent": {"token": None}}),
        request("agent/models"),
        notification("initialized"),
        notification("exit"),
        frame(b"{nope"),
        frame(b"[]"),
        b"X-Only: 1\r\n\r\n",
        b"GET / HTTP/1.1\r\n",
        b"POST /: HTTP/1.1\r\nContent-Length: 3\r\n",
        b"\x16\x03\x01\x02\x00\x01\n",
        b"x" * 5000,
    ],
)
def test_anything_else_ends_the_connection_at_once_and_without_a_word(data):
    handshake = guarded()
    assert handshake.feed(data) == []
    assert handshake.ended and handshake.greeted is None


# --- what is told -----------------------------------------------------------------------------------------------------


def _switched_on(capabilities: object) -> object:
    """The capabilities without what is off, empty, or said by pygls for itself."""
    if not isinstance(capabilities, dict):
        return capabilities
    found = {key: _switched_on(value) for key, value in capabilities.items() if key != "workspaceFolders"}
    return {key: value for key, value in found.items() if value not in (None, False, 0, {}, [])}


@pytest.mark.parametrize("file", CLIENTS, ids=lambda file: file.stem)
def test_the_answer_is_what_pygls_would_say(file):
    said = json.loads(file.read_text())["capabilities"]
    converter = get_converter()
    capabilities = converter.structure(said, types.ClientCapabilities)
    builder = ServerCapabilitiesBuilder(
        capabilities,
        features={
            types.TEXT_DOCUMENT_CODE_ACTION,
            types.TEXT_DOCUMENT_CODE_LENS,
            types.TEXT_DOCUMENT_DID_OPEN,
            types.TEXT_DOCUMENT_DID_SAVE,
        },
        feature_options={types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions(ACTION_KINDS)},
        commands=[*COMMANDS, *EDIT_COMMANDS],
        text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
        position_encoding=ServerCapabilitiesBuilder.choose_position_encoding(capabilities),
    )
    theirs = _switched_on(json.loads(json.dumps(converter.unstructure(builder.build()))))
    ours = initialize_result(ClientInfo({"capabilities": said}), Configuration({}))["capabilities"]
    del ours["experimental"]
    assert ours.pop("codeLensProvider") == {"resolveProvider": False}
    assert ours == theirs


@pytest.mark.parametrize("file", CLIENTS, ids=lambda file: file.stem)
def test_a_plugin_brings_its_own_commands_so_it_is_offered_none(file):
    said = json.loads(file.read_text())["capabilities"] | {"experimental": {"agent": {}}}
    ours = initialize_result(ClientInfo({"capabilities": said}), Configuration({}))["capabilities"]
    assert not {"executeCommandProvider", "codeActionProvider", "codeLensProvider"} & ours.keys()


def test_a_plugin_that_carries_out_actions_itself_is_offered_them_and_no_commands():
    said = {"experimental": {"agent": {"codeActions": True}}}
    ours = initialize_result(ClientInfo({"capabilities": said}), Configuration({}))["capabilities"]
    assert {"codeActionProvider", "codeLensProvider"} <= ours.keys()
    assert "executeCommandProvider" not in ours


@pytest.mark.parametrize("capabilities", [{}, {"textDocument": []}, {"textDocument": {"codeAction": 1}}])
def test_the_answer_is_a_result_of_the_protocol_whatever_the_client_can(capabilities):
    result = initialize_result(ClientInfo({"capabilities": capabilities}), Configuration({}))
    assert result["capabilities"]["codeActionProvider"] is True
    get_converter().structure(json.loads(json.dumps(result)), types.InitializeResult)


HEAVY = (
    "pydantic",
    "pydantic_core",
    "httpx",
    "pygls",
    "lsprotocol",
    "asyncio",
    "logging",
    "argparse",
    "tree_sitter",
    "pathlib",
)


def test_initialize_is_answered_before_anything_heavy_is_imported(tmp_path):
    options = {
        "dataDir": str(tmp_path),
        "config": str(tmp_path / "none.toml"),
        "defaultModel": "p/m",
        "providers": {
            "p": {"api": "openai-chat", "baseUrl": "http://127.0.0.1:1/v1", "apiKey": "k", "models": {"m": {}}}
        },
    }
    script = f"""
import os, sys, agent_lsp.__main__
from agent_lsp.server import flags, greeting, handshake, options
from agent_lsp.wire import stdio
fds = stdio.claim()
shaken = greeting.shake_hands(*fds, handshake.Handshake(options.configure(flags.parse([]).settings)))
loaded = {{name.partition(".")[0] for name in sys.modules}}
sys.stderr.write(repr((shaken is not None, sorted(loaded & set({HEAVY!r})))))
"""
    asked = initialize(
        processId=os.getpid(),
        rootUri=tmp_path.as_uri(),
        capabilities={},
        initializationOptions={"agent": options},
    )
    done = subprocess.run([sys.executable, "-c", script], input=asked, capture_output=True, timeout=30)
    assert done.stderr.decode() == "(True, [])"
    assert b'"defaultModel":{"provider":"p","model":"m"}' in done.stdout


# --- configuration ----------------------------------------------------------------------------------------------------


def read(tmp_path: Path, options: object, arguments: dict | None = None, said: dict | None = None) -> Configuration:
    environ = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    params = {
        "rootUri": (tmp_path / "project").as_uri(),
        "capabilities": {"experimental": {"agent": said or {}}},
        "initializationOptions": {"agent": options},
    }
    return configure(arguments or {}, environ)(ClientInfo(params))


def test_options_are_over_files_and_the_command_line_is_over_options(tmp_path):
    (tmp_path / "agent-lsp").mkdir()
    (tmp_path / "agent-lsp" / "config.toml").write_text("max_turns = 1\napproval_mode = 'plan'\n")
    found = read(tmp_path, {"maxTurns": 2, "dataDir": "/a"}, {"data_dir": "/b"})
    assert (found.values["max_turns"], found.values["approval_mode"], found.values["data_dir"]) == (2, "plan", "/b")


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"approvalMode": "yolo"}, "approvalMode"),
        ({"reconnect": {"maxRetries": "many"}}, "reconnect.maxRetries"),
        ({"providers": {"p": {"api": "telepathy"}}}, "providers.p.api"),
        ({"maxTurns": {}}, "maxTurns"),
        ([], "initializationOptions.agent"),
    ],
)
def test_a_wrong_option_is_refused_by_its_path(tmp_path, options, path):
    with pytest.raises(InvalidParams) as caught:
        read(tmp_path, options)
    assert [named for named, _ in caught.value.errors] == [path]


def test_a_file_that_is_no_toml_is_refused_by_its_name(tmp_path):
    file = tmp_path / "broken.toml"
    file.write_text("= 3")
    with pytest.raises(InvalidParams) as caught:
        read(tmp_path, {"config": str(file)})
    ((path, message),) = caught.value.errors
    assert path == str(file) and str(file) in message


def test_an_unknown_option_warns_with_the_nearest_name(tmp_path):
    (warning,) = read(tmp_path, {"aprovalMode": "ask"}).warnings
    assert "approvalMode" in warning


def test_a_project_counts_only_when_it_is_trusted(tmp_path):
    folder = tmp_path / "project" / ".agent-lsp"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("max_turns = 3\n")
    assert "max_turns" not in read(tmp_path, {}).values
    assert read(tmp_path, {}, said={"workspaceTrusted": True}).values["max_turns"] == 3
    Trust(tmp_path / "data").add(tmp_path / "project")
    assert read(tmp_path, {"dataDir": str(tmp_path / "data")}).values["max_turns"] == 3
    assert "max_turns" not in read(tmp_path, {"dataDir": str(tmp_path / "other")}).values
    refused = read(tmp_path, {"dataDir": str(tmp_path / "data")}, said={"workspaceTrusted": False})
    assert "max_turns" not in refused.values
