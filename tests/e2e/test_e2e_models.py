"""Models out of the box: a server on this machine, a key in the keyring, and trying one out."""

import asyncio
import json
import ssl
from urllib.parse import urlsplit

import pytest
import trustme

from tests.e2e.launch import AGENT_LSP
from tests.e2e.model_server import ModelServer, refuse, say, use

pytestmark = pytest.mark.asyncio
KEY, NEW_KEY = "sk-kept-in-a-ring-4471", "sk-kept-in-a-ring-8802"
REHEARSAL = {"provider": "rehearsal", "model": "rehearsal"}
FOUND = {"provider": "ollama", "model": "qwen3:8b"}
PORTS = """
from agent_lsp.config import builtin
builtin.LOCAL_PORTS.clear()
builtin.LOCAL_PORTS.update(ollama={port})
"""
RING = """
import json
from pathlib import Path
from keyring.backend import KeyringBackend

FILE = Path(__file__).with_name("ring.json")
Path(__file__).with_name("opened").touch()

class Ring(KeyringBackend):
    priority = 9

    def _kept(self):
        return json.loads(FILE.read_text()) if FILE.exists() else {}

    def get_password(self, service, username):
        return self._kept().get(f"{service}/{username}")

    def set_password(self, service, username, password):
        FILE.write_text(json.dumps(self._kept() | {f"{service}/{username}": password}))

    def delete_password(self, service, username):
        kept = self._kept()
        del kept[f"{service}/{username}"]
        FILE.write_text(json.dumps(kept))
"""


@pytest.fixture
def early(tmp_path):
    """A folder of modules that the server finds first."""
    folder = tmp_path / "early"
    folder.mkdir()
    return folder


@pytest.fixture
def at_port(early):
    """at_port(port) → variables of a server for which a model server of this machine is expected there."""

    def variables(port):
        (early / "sitecustomize.py").write_text(PORTS.format(port=port))
        return {"PYTHONPATH": str(early)}

    return variables


@pytest.fixture
def ring(early):
    """Variables of a server, and of the command line, with a keyring in a file."""
    (early / "file_ring.py").write_text(RING)
    return {"PYTHONPATH": str(early), "PYTHON_KEYRING_BACKEND": "file_ring.Ring"}


@pytest.fixture
def config(tmp_path, model):
    file = tmp_path / "mine.toml"
    lines = ["[providers.far]", 'api = "openai-chat"', f'base_url = "{model.url}/v1"', 'api_key_env = "FAR_KEY"']
    file.write_text("\n".join([*lines, "[providers.far.models.big]", ""]))
    return file


@pytest.fixture
def command(environ, workspace):
    """command(*arguments, typed=…, **variables) → exit status, what was printed on both outputs."""

    async def carry_out(*arguments, typed="", **variables):
        process = await asyncio.create_subprocess_exec(
            AGENT_LSP,
            *arguments,
            cwd=workspace,
            env=environ | variables,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        printed, _ = await process.communicate(typed.encode())
        return process.returncode, printed.decode()

    return carry_out


def port_of(model):
    return urlsplit(model.url).port


async def test_with_nothing_configured_the_server_of_this_machine_answers_the_first_run(greet, model, at_port):
    model.models = ("nomic-embed-text", "qwen3:8b")
    model.script([say("Hello from here.")])
    peer = await greet(defaultModel=None, providers={}, offline=True, variables=at_port(port_of(model)))
    told = peer.log[0]["result"]["capabilities"]["experimental"]["agent"]
    assert (told["defaultModel"], [one["provider"] for one in told["models"]]) == (REHEARSAL, ["rehearsal"])

    assert (await peer.ask("agent/run", {"input": "go"}))["text"] == "Hello from here."
    assert model.asked[0].body["model"] == "qwen3:8b"
    assert peer.told("agent/modelsChanged") == [{}]
    models = await peer.ask("agent/models")
    assert models["defaultModel"] == FOUND
    assert [one["model"] for one in models["models"]] == ["qwen3:8b", "rehearsal"]
    assert await peer.leave() == 0
    assert bytes(peer.server.errors) == b""


async def test_a_server_that_never_answers_holds_nothing_up(greet, at_port):
    async def silent(reader, writer):
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    peer = await greet(defaultModel=None, providers={}, variables=at_port(server.sockets[0].getsockname()[1]))
    new, run = peer.prepare("agent/session/new", {}), peer.prepare("agent/run", {"input": "hello"})
    peer.write(new[0], run[0])
    session = await asyncio.wait_for(new[1], 10)
    assert session["model"] == REHEARSAL
    peer.notify("exit")
    await peer.until_gone()
    server.close()


async def test_a_provider_is_asked_by_https_as_any_other_though_a_start_brings_no_tls(greet, options, tmp_path):
    authority, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    async with ModelServer(tls) as model:
        model.script([say("Safe", " and sound.")])
        chat = options["providers"]["chat"] | {"baseUrl": f"{model.url}/v1"}
        variables = {"SSL_CERT_FILE": str(tmp_path / "authority.pem")}
        peer = await greet(providers={"chat": chat}, variables=variables)
        result = await peer.ask("agent/run", {"input": "go"})
        await peer.leave()
    assert (result["status"], result["text"]) == ("completed", "Safe and sound.")
    assert bytes(peer.server.errors) == b""


async def test_the_command_line_lists_what_is_found(command, model, at_port):
    model.models = ("qwen3:8b",)
    status, printed = await command("models", **at_port(port_of(model)))
    assert status == 0, printed
    assert ["*", "ollama/qwen3:8b", "?", "no", "yes", "yes"] in [line.split() for line in printed.splitlines()]


async def test_a_key_that_was_kept_by_login_is_used_masked_and_never_shown(
    greet, command, model, config, ring, workspace, tmp_path
):
    assert (await command("login", "far", "--config", str(config), typed=f"{KEY}\n", **ring))[0] == 0
    (workspace / "keys.txt").write_text(KEY)
    model.script([use("read_file", {"file_path": "keys.txt"})], [say("Read.")])
    peer = await greet("--log-level", "debug", config=str(config), defaultModel="far/big", providers={}, variables=ring)
    result = await peer.ask("agent/run", {"input": "go"})
    models = (await peer.ask("agent/models"))["models"]
    await peer.leave()

    assert result["text"] == "Read."
    assert {asked.headers["authorization"] for asked in model.asked} == {f"Bearer {KEY}"}
    assert [one["hasCredential"] for one in models if one["provider"] == "far"] == [True]
    kept = b"".join(path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file())
    assert KEY not in json.dumps([peer.log, model.asked[-1].body])
    assert KEY.encode() not in bytes(peer.server.errors) + kept


async def test_the_keyring_is_not_opened_while_nothing_needs_it(greet, model, ring, early):
    model.script([say("Hello.")])
    peer = await greet(variables=ring)
    await peer.ask("agent/run", {"input": "go"})
    assert not (early / "opened").exists()
    for _ in range(2):  # the first answer does not wait for it
        await peer.ask("agent/models")
    assert (early / "opened").exists()


async def test_a_new_key_counts_when_the_model_is_tried_out_and_with_the_next_run(greet, command, model, config, ring):
    await command("login", "far", "--config", str(config), typed=KEY, **ring)
    peer = await greet(config=str(config), defaultModel="far/big", providers={}, variables=ring)
    model.script(refuse(401, "no"), refuse(401, "no"), [say("OK")], [say("At last.")])
    assert (await peer.ask("agent/run", {"input": "go"}))["status"] == "auth"
    tried = await peer.ask("agent/models/test", {"model": "far/big"})
    assert (tried["ok"], tried["status"], peer.states()[-1]) == (False, "auth", "auth_required")

    await command("login", "far", "--config", str(config), typed=NEW_KEY, **ring)
    tried = await peer.ask("agent/models/test", {"model": {"provider": "far", "model": "big"}})
    assert (tried["ok"], peer.states()[-1]) == (True, "idle")
    assert (await peer.ask("agent/run", {"input": "go"}))["text"] == "At last."
    keys = [asked.headers["authorization"].removeprefix("Bearer ") for asked in model.asked]
    assert keys == [KEY, KEY, NEW_KEY, NEW_KEY]


async def test_the_command_line_tries_a_model_out_with_the_status_of_a_run(command, model, config, ring):
    model.script(refuse(401, "no such key"), [say("OK")])
    arguments = ("models", "--test", "far/big", "--config", str(config))
    assert (await command(*arguments, **ring))[0] == 3
    assert (await command(*arguments, **ring, FAR_KEY=KEY))[0] == 3
    status, printed = await command(*arguments, **ring, FAR_KEY=KEY)
    assert (status, "✓ far/big answers" in printed) == (0, True)


async def test_each_request_is_noted_where_that_is_wanted(greet, model, tmp_path):
    model.script([say("Hello.")], [say("OK")])
    peer = await greet(egressLog=True)
    await peer.ask("agent/run", {"input": "go"})
    await peer.ask("agent/models/test", {"model": "chat/big"})
    file = tmp_path / "data" / "egress.log"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(one["host"], one["provider"], one["model"]) for one in lines] == [("127.0.0.1", "chat", "big")] * 2
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
