"""No key is ever in what the server says, logs or keeps, wherever it came from and whoever repeats it."""

import json

import pytest

from tests.e2e.conftest import KEY
from tests.e2e.model_server import refuse, say, use
from tests.e2e.peer import Failed

pytestmark = pytest.mark.asyncio
HEADER, VARIABLE, NAMED = "planted-in-a-header-7381", "sk-planted-in-a-variable-5520", "planted-by-its-name-9114"


@pytest.fixture
def providers(options):
    chat = options["providers"]["chat"] | {"headers": {"x-more": HEADER}}
    named = {key: value for key, value in chat.items() if key != "apiKey"} | {"apiKeyEnv": "MY_OWN_KEY"}
    return options["providers"] | {"chat": chat, "named": named}


def everything_kept(tmp_path):
    return b"\n".join(path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file())


async def test_no_key_is_said_logged_or_kept(greet, model, providers, workspace, tmp_path):
    secrets = (KEY, HEADER, VARIABLE, NAMED)
    (workspace / "keys.txt").write_text("\n".join(secrets))
    log = tmp_path / "data" / "agent.log"
    peer = await greet(
        *("--log-level", "debug", "--log-file", str(log)),
        providers=providers,
        approvalMode="allow-all",
        egressLog=True,
        variables={"OPENAI_API_KEY": VARIABLE, "MY_OWN_KEY": NAMED},
    )
    reading = [use("read_file", {"file_path": "keys.txt"}), use("exec_command", {"cmd": "env; cat keys.txt"})]
    echoes = [refuse(status, f"bad key {KEY} with {HEADER}") for status in (400, 503, 401)]
    model.script(reading, [say("Read.")], *echoes)
    first = await peer.ask("agent/run", {"input": "go"})
    await peer.ask("agent/run", {"input": "go"})
    model.script([say("Named.")])
    await peer.ask("agent/run", {"input": "go", "model": "named/big"})
    for method in ("agent/models", "agent/tools", "agent/session/list"):
        await peer.ask(method)
    await peer.ask("agent/session/history", {"sessionId": first["sessionId"]})
    with pytest.raises(Failed):
        await peer.ask("agent/session/new", {"model": "nobody/none"})
    await peer.leave()

    sent = [asked.headers for asked in model.asked]
    assert sent[0]["authorization"] == f"Bearer {KEY}"
    assert sent[0]["x-more"] == HEADER
    assert sent[-1]["authorization"] == f"Bearer {NAMED}"
    said = json.dumps(peer.log, ensure_ascii=False).encode()
    asked = json.dumps([one.body for one in model.asked]).encode()
    for secret in map(str.encode, secrets):
        assert secret not in said
        assert secret not in bytes(peer.server.errors)
        assert secret not in everything_kept(tmp_path)
        assert secret not in asked
    assert log.stat().st_size and (tmp_path / "data" / "egress.log").stat().st_size


async def test_a_wrong_setting_is_refused_without_the_key_beside_it(connect, options):
    peer = await connect()
    wrong = options | {"providers": {"chat": {"api": "openai-chat", "apiKey": KEY, "baseUrl": 7, "models": KEY}}}
    with pytest.raises(Failed) as caught:
        await peer.initialize(wrong)
    assert caught.value.code == -32602
    assert KEY not in str(caught.value)
    assert KEY.encode() not in bytes(peer.server.errors)


async def test_a_key_that_was_put_right_counts_from_the_next_run_on(greet, model, options, tmp_path):
    file = tmp_path / "config.toml"
    provider = {key: value for key, value in options["providers"]["chat"].items() if key != "apiKey"}
    peer = await greet(config=str(file), providers={"chat": provider})
    model.script([say("Hello.")], refuse(401, "no"), [say("At last.")])
    for turns, key in enumerate(("sk-one-of-three-keys", "sk-two-of-three-keys", "sk-all-of-three-keys"), 1):
        file.write_text(f'[providers.chat]\napi_key = "{key}"\n')
        file.chmod(0o600)
        peer.notify("workspace/didChangeConfiguration", {"settings": {"agent": {"maxTurns": turns}}})
        result = await peer.ask("agent/run", {"input": "go"})
        assert model.asked[-1].headers["authorization"] == f"Bearer {key}"

    assert result["text"] == "At last."
    assert "auth_required" in peer.states()
    assert peer.states()[-1] == "idle"
    assert "of-three-keys" not in json.dumps(peer.log)
