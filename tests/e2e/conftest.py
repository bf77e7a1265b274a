"""A workspace, a model that follows a script, and servers started on both."""

import os

import pytest
import pytest_asyncio

from tests.e2e.launch import WAYS
from tests.e2e.model_server import ModelServer
from tests.e2e.peer import EVERYTHING, Peer

KEY = "sk-planted-in-the-options"


@pytest_asyncio.fixture
async def model():
    async with ModelServer() as server:
        yield server


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "notes.txt").write_text("first line\nsecond line\n")
    return folder


@pytest.fixture
def environ(tmp_path):
    """A home of its own, and no key of the person who runs the tests."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {
        name: os.environ[name]
        for name in ("PATH", "LANG", "PYTHONPATH", "COVERAGE_PROCESS_START")
        if name in os.environ
    }
    return kept | {"HOME": str(home), "SHELL": "/bin/sh", "PYTHONWARNINGS": "always"}


@pytest.fixture
def options(model, tmp_path):
    """What an editor would send as `initializationOptions.agent`."""
    known = {"contextWindow": 100_000, "maxOutputTokens": 4_000, "vision": True, "toolCalling": True}
    return {
        "dataDir": str(tmp_path / "data"),
        "config": str(tmp_path / "no-such-file.toml"),
        "defaultModel": "chat/big",
        "titles": False,
        "providers": {
            "chat": {"api": "openai-chat", "baseUrl": f"{model.url}/v1", "apiKey": KEY, "models": {"big": known}},
            "claude": {"api": "anthropic", "baseUrl": model.url, "apiKey": KEY, "models": {"big": known}},
        },
        "reconnect": {"maxRetries": 2, "baseMs": 10, "capMs": 50},
    }


@pytest_asyncio.fixture
async def launch(workspace, environ):
    """launch(way="stdio", *arguments, **variables) → a server that ends with the test."""
    servers = []

    async def start(*arguments, way="stdio", **variables):
        servers.append(await WAYS[way](workspace, environ | variables, *arguments))
        return servers[-1]

    yield start
    for server in servers:
        await server.end()
        await server.status()


@pytest_asyncio.fixture
async def connect(launch):
    """connect(...) → a peer whose server has not been greeted yet."""
    peers = []

    async def start(*arguments, **variables):
        peers.append(Peer(await launch(*arguments, **variables)))
        return peers[-1]

    yield start
    for peer in peers:
        await peer.end()


@pytest_asyncio.fixture
async def greet(connect, options):
    """greet(changed_option=…) → a peer after the handshake, as a plugin would be."""

    async def start(
        *arguments, agent=EVERYTHING, capabilities=None, params=None, way="stdio", variables=None, **changed
    ):
        peer = await connect(*arguments, way=way, **(variables or {}))
        await peer.initialize(options | changed, agent, capabilities, **(params or {}))
        return peer

    return start


@pytest_asyncio.fixture
async def peer(greet):
    return await greet()
