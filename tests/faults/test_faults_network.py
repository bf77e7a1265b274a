"""Names that do not resolve, connections that are half open, certificates that are none: an outcome each, no hang."""

import asyncio
import socket
import ssl
import time

import pytest

from agent_lsp.engine.ports import Outcome, Request
from agent_lsp.messages.content import Text
from agent_lsp.providers.build import build
from agent_lsp.providers.endpoint import Endpoint

pytestmark = pytest.mark.asyncio
APIS = ("openai-chat", "anthropic", "openai-responses", "gemini")
GO = Request("the rules", (), (), (Text(role="user", text="go"),))
SILENT_S = 0.3
BASE = {"openai-chat": "/v1", "openai-responses": "/v1", "anthropic": "", "gemini": ""}


def model(api, url):
    timeouts = {"request_timeout_s": SILENT_S, "content_timeout_s": 5}
    return build(Endpoint("p", api, url + BASE[api], "m", api_key="sk-secret", **timeouts))


async def outcome(llm):
    async with asyncio.timeout(20):
        parts = [part async for part in llm.stream(GO)]
    assert isinstance(parts[-1], Outcome) and sum(isinstance(one, Outcome) for one in parts) == 1
    assert "sk-secret" not in (parts[-1].message or "")
    return parts[-1]


class Listening:
    """A server that reads what comes, says some bytes and then nothing more, and keeps the connection."""

    def __init__(self, says=b"", tls=None):
        self.says, self.tls, self.streams = says, tls, []

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_):
        self._server.close()
        for writer in self.streams:
            writer.transport.abort()

    async def _accept(self, reader, writer):
        self.streams.append(writer)
        writer.write(self.says)
        while await reader.read(65536):
            pass


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "says",
    [
        b"",
        b"HTTP/1.1 200",
        HEAD,
        HEAD + b"6\r\ndata: ",
        HEAD + b"ffffffff\r\nx",
        b"HTTP/1.1 503 Busy\r\ncontent-length: 99\r\n\r\n{",
    ],
    ids=["nothing", "half a status", "only headers", "half a chunk", "a chunk without end", "half a refusal"],
)
async def test_a_connection_that_is_half_open_is_given_up_in_time(api, says):
    async with Listening(says) as server:
        began = time.monotonic()
        ended = await outcome(model(api, f"http://127.0.0.1:{server.port}"))
        assert ended.status == "timeout" and not ended.permanent
        assert time.monotonic() - began < 15


@pytest.mark.parametrize("api", APIS)
async def test_what_is_no_http_is_an_outcome(api):
    async with Listening(b"SSH-2.0-OpenSSH_9.9\r\n" * 400) as server:
        assert (await outcome(model(api, f"http://127.0.0.1:{server.port}"))).status in (
            "timeout",
            "malformed",
            "failed",
        )


@pytest.mark.parametrize("code", [socket.EAI_NONAME, socket.EAI_AGAIN])
async def test_a_name_that_does_not_resolve_is_an_outcome_that_names_the_host(code, monkeypatch):
    def refuse(*_, **__):
        raise socket.gaierror(code, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    ended = await outcome(model("openai-chat", "https://model.example"))
    assert ended.status in ("timeout", "failed") and "model.example" in ended.message


async def test_a_server_without_tls_behind_https_is_an_outcome():
    async with Listening(b"HTTP/1.1 400 Bad Request\r\n\r\n") as server:
        ended = await outcome(model("openai-chat", f"https://127.0.0.1:{server.port}"))
        assert ended.status in ("timeout", "failed") and ended.message


async def test_a_server_that_speaks_no_common_tls_is_an_outcome():
    nothing_in_common = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)  # it has no certificate at all
    async with Listening(b"", nothing_in_common) as server:
        ended = await outcome(model("openai-chat", f"https://127.0.0.1:{server.port}"))
        assert ended.status in ("timeout", "failed") and ended.message


async def test_a_port_where_nobody_listens_is_an_outcome_at_once():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert (await outcome(model("anthropic", f"http://127.0.0.1:{port}"))).status == "timeout"


async def test_after_any_of_it_the_next_request_works():
    """A broken connection is not used again."""
    answer = (
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 91\r\n\r\n"
        b'{"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "it works fine"}}]}'
    )
    answer = answer.replace(b"91", str(len(answer.partition(b"\r\n\r\n")[2])).encode())
    async with Listening(HEAD) as server:
        llm = model("openai-chat", f"http://127.0.0.1:{server.port}")
        assert (await outcome(llm)).status == "timeout"
        server.says = answer
        assert (await outcome(llm)).status == "completed"
