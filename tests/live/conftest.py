"""The real server and a client, set up with nothing but the model that the environment names."""

import json
import os
from types import SimpleNamespace

import pytest
import pytest_asyncio

from tests.e2e.launch import over_stdio
from tests.e2e.peer import Peer
from tests.live.named import API, API_KEY, BASE_URL, MODEL


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def started(tmp_path, workspace):
    """Where a program of the test is started: a home of its own, and no setting of the person who runs the tests."""
    home = tmp_path / "home"
    home.mkdir()
    environ = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return SimpleNamespace(cwd=workspace, env=environ | {"HOME": str(home), "SHELL": "/bin/sh"})


@pytest.fixture
def config(tmp_path):
    """The user's configuration: one provider, one model."""
    provider = {"api": API or "openai-chat", "base_url": BASE_URL, "api_key": API_KEY}
    lines = [
        f"default_model = {json.dumps(f'live/{MODEL}')}",
        "titles = false",
        "[providers.live]",
        *(f"{name} = {json.dumps(value)}" for name, value in provider.items() if value),
        f"[providers.live.models.{json.dumps(MODEL)}]",
    ]
    file = tmp_path / "config.toml"
    file.write_text("\n".join([*lines, ""]))
    return file


@pytest_asyncio.fixture
async def peer(started, config, tmp_path):
    """A client after the handshake, which allows every call. What was said has to be whole when it leaves."""
    peer = Peer(await over_stdio(started.cwd, started.env))
    peer.handlers["agent/approve"] = lambda _: {"decision": "allow"}
    await peer.initialize({"config": str(config), "dataDir": str(tmp_path / "data")})
    yield peer
    assert await peer.leave() == 0
    await peer.end()
    peer.stream.check_all_closed()
