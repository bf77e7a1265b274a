"""Telemetry in a whole process: off it is not even imported, on it reaches a collector and holds nothing up."""

import asyncio
import gzip
import subprocess
import sys
from contextlib import asynccontextmanager

import pytest

from agent_lsp import Session
from agent_lsp.app.telemetry import Telemetry
from agent_lsp.config.settings import Settings

PROMPT = "a prompt of which nobody is told"


@pytest.fixture
def settings(tmp_path):
    return {"data_dir": str(tmp_path / "data"), "config": str(tmp_path / "none.toml")}


@asynccontextmanager
async def collector(answers=True):
    """An OTLP collector over HTTP: the port, and what was posted to it by path."""
    posted, hanging = [], asyncio.Event()

    async def serve(reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
                body = await reader.readexactly(length)
                posted.append(
                    (
                        head.split()[1].decode(),
                        gzip.decompress(body) if b"content-encoding: gzip" in head.lower() else body,
                    )
                )
                if not answers:
                    await hanging.wait()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], posted
    finally:
        hanging.set()
        server.close()


async def run(workspace, settings):
    async with Session.open(workspace, model="rehearsal/rehearsal", settings=settings) as session:
        assert (await session.run(PROMPT)).status == "completed"
        return session.id


@pytest.mark.asyncio
async def test_spans_and_metrics_reach_a_collector_without_content(tmp_path, settings):
    async with collector() as (port, posted):
        settings["telemetry"] = {"enabled": True, "endpoint": f"http://127.0.0.1:{port}"}
        session_id = await run(tmp_path, settings)
    bodies = dict(posted)
    assert set(bodies) == {"/v1/traces", "/v1/metrics"}
    assert b"invoke_agent agent-lsp" in bodies["/v1/traces"] and session_id.encode() in bodies["/v1/traces"]
    assert b"gen_ai.client.token.usage" in bodies["/v1/metrics"]
    assert PROMPT.encode() not in b"".join(bodies.values())


@pytest.mark.asyncio
async def test_a_collector_that_never_answers_holds_nobody_up(tmp_path, settings):
    async with collector(answers=False) as (port, posted):
        settings["telemetry"] = {"enabled": True, "endpoint": f"http://127.0.0.1:{port}"}
        began = asyncio.get_running_loop().time()
        await run(tmp_path, settings)
        assert asyncio.get_running_loop().time() - began < 8
        assert posted


def test_off_it_is_not_imported_and_the_ports_are_the_very_same():
    script = (
        "import asyncio, sys, tempfile\n"
        "from agent_lsp import Session\n"
        "async def main():\n"
        "    with tempfile.TemporaryDirectory() as folder:\n"
        "        settings = {'data_dir': folder + '/d', 'config': folder + '/none.toml'}\n"
        "        async with Session.open(folder, model='rehearsal/rehearsal', settings=settings) as session:\n"
        "            await session.run('hi')\n"
        "asyncio.run(main())\n"
        "print([name for name in sys.modules if 'opentelemetry' in name or name.startswith('agent_lsp.telemetry')])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    ports = object()
    assert Telemetry(Settings(), pytest.fail).observed(ports, None, None) is ports


def test_without_the_package_it_says_once_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "agent_lsp.telemetry.export", None)
    said = []
    telemetry = Telemetry(Settings.model_validate({"telemetry": {"enabled": True}}), said.append)
    ports = object()
    assert telemetry.observed(ports, None, None) is ports and telemetry.observed(ports, None, None) is ports
    assert len(said) == 1 and "pip install 'agent-lsp[otel]'" in said[0]


@pytest.mark.parametrize(
    ("endpoint", "is_told"), [(None, True), ("https://otel.example", True), ("http://127.0.0.1:1", False)]
)
def test_offline_means_that_nobody_elsewhere_is_told(endpoint, is_told):
    said = []
    values = {"offline": True, "telemetry": {"enabled": True, "endpoint": endpoint}}
    Telemetry(Settings.model_validate(values), said.append)
    assert bool(said) == is_told


def test_a_variable_that_means_nothing_turns_it_off_and_is_said(monkeypatch):
    monkeypatch.setenv("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "soon")
    said = []
    telemetry = Telemetry(Settings.model_validate({"telemetry": {"enabled": True}}), said.append)
    ports = object()
    assert telemetry.observed(ports, None, None) is ports and telemetry.observed(ports, None, None) is ports
    assert len(said) == 1 and "cannot be set up" in said[0] and "soon" in said[0]
