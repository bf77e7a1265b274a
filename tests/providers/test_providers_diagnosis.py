"""What somebody is told who cannot reach a model: each of these really happens, on loopback."""

import asyncio
import socket
import ssl
from contextlib import asynccontextmanager

import pytest
import trustme

from agent_lsp.engine.ports import Request
from agent_lsp.messages.content import Text
from agent_lsp.providers import http
from agent_lsp.providers.build import build
from agent_lsp.providers.certificates import context
from agent_lsp.providers.diagnosis import diagnose
from agent_lsp.providers.endpoint import Endpoint

KEY = "sk-0123456789"
REFUSAL = b'{"error": {"message": "Incorrect API key provided: sk-0123456789.", "code": "invalid_api_key"}}'
PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


@asynccontextmanager
async def answering(status, body=b"", tls=None):
    """A server that answers every request, a CONNECT too, with `status`; its port."""

    async def serve(reader, writer):
        try:
            await reader.read(65_536)
            writer.write(b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n\r\n%s" % (status, len(body), body))
            await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1]


@pytest.fixture
def nobody():
    """A port of this machine at which nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


async def told(base_url):
    """The outcome of a request to a model there."""
    llm = build(Endpoint("acme", "openai-chat", base_url, "m", api_key=KEY))
    request = Request("", (), (), (Text(role="user", text="hi"),))
    try:
        return [part async for part in llm.stream(request)][-1]
    finally:
        await http.close()


@pytest.mark.asyncio
async def test_a_refused_key_says_whose_it_is_and_where_to_look():
    async with answering(401, REFUSAL) as port:
        outcome = await told(f"http://127.0.0.1:{port}/v1")
    assert outcome.status == "auth" and KEY not in outcome.message
    assert "check the key of acme" in outcome.message and "agent-lsp doctor" in outcome.message


@pytest.mark.asyncio
async def test_a_server_that_does_not_run_is_to_be_started(nobody):
    outcome = await told(f"http://127.0.0.1:{nobody}/v1")
    assert outcome.status == "timeout"
    said = f"nothing answers at 127.0.0.1:{nobody}: start the model server, or correct base_url"
    assert outcome.message.endswith(said)


@pytest.mark.asyncio
async def test_a_host_that_nobody_knows_may_mean_that_there_is_no_network():
    outcome = await told("https://models.invalid/v1")
    assert outcome.status == "timeout"
    assert "no address is known for models.invalid" in outcome.message and "online" in outcome.message


@pytest.mark.asyncio
async def test_https_to_a_server_that_speaks_none():
    async with answering(200) as port:
        outcome = await told(f"https://127.0.0.1:{port}/v1")
    assert "answers, but not in TLS: is https right?" in outcome.message


class Company:
    def __init__(self, folder):
        authority = trustme.CA()
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(self.tls)
        self.root = folder / "company.pem"
        authority.cert_pem.write_to_path(self.root)


@pytest.fixture
def company(tmp_path):
    """A certificate authority of which this machine knows nothing."""
    return Company(tmp_path)


@pytest.mark.asyncio
async def test_an_unknown_authority_is_named_as_such_at_once_and_says_what_to_set(company):
    async with answering(401, REFUSAL, company.tls) as port:
        outcome = await told(f"https://127.0.0.1:{port}/v1")
    assert outcome.status == "failed" and outcome.permanent, "waiting does not make a certificate trusted"
    assert f"127.0.0.1:{port} is not trusted" in outcome.message and "SSL_CERT_FILE" in outcome.message


@pytest.mark.asyncio
async def test_the_companys_root_in_the_environment_is_enough(company, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(company.root))
    async with answering(401, REFUSAL, company.tls) as port:
        assert (await told(f"https://127.0.0.1:{port}/v1")).status == "auth"


@pytest.mark.asyncio
async def test_a_root_that_cannot_be_read_is_said(company, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(company.root.with_name("moved.pem")))
    async with answering(401, REFUSAL, company.tls) as port:
        outcome = await told(f"https://127.0.0.1:{port}/v1")
    assert outcome.message.endswith(f"SSL_CERT_FILE names a file that cannot be read: {company.root.parent}/moved.pem")


@pytest.mark.asyncio
async def test_a_proxy_that_does_not_run_is_blamed_and_not_the_provider(monkeypatch, nobody):
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret@127.0.0.1:{nobody}")
    outcome = await told("https://models.invalid/v1")
    assert outcome.status == "timeout" and "secret" not in outcome.message
    assert f"nothing answers at the proxy 127.0.0.1:{nobody}: correct HTTPS_PROXY, or unset it" in outcome.message


@pytest.mark.asyncio
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_that_wants_a_login_says_how_to_give_it(monkeypatch, scheme):
    async with answering(407, b"<html><title>Login</title></html>") as port:
        monkeypatch.setenv(f"{scheme.upper()}_PROXY", f"http://127.0.0.1:{port}")
        outcome = await told(f"{scheme}://models.invalid/v1")
    assert outcome.status == "failed" and outcome.permanent
    assert "http://NAME:PASSWORD@HOST:PORT" in outcome.message


@pytest.mark.asyncio
async def test_a_proxy_that_is_out_of_order_for_a_moment_is_asked_again(monkeypatch):
    async with answering(502) as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
        outcome = await told("https://models.invalid/v1")
    assert outcome.status == "timeout" and f"the proxy 127.0.0.1:{port} refuses: 502" in outcome.message


@pytest.mark.asyncio
async def test_no_proxy_is_asked_about_this_machine(monkeypatch, nobody):
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{nobody}")
    async with answering(401, REFUSAL) as port:
        assert (await told(f"http://127.0.0.1:{port}/v1")).status == "auth"


def test_certificates_are_really_verified():
    made = context()
    assert made.verify_mode is ssl.CERT_REQUIRED and made.check_hostname


@pytest.mark.asyncio
async def test_a_machine_without_a_store_trusts_the_list_that_comes_along(company, monkeypatch):
    monkeypatch.setattr("agent_lsp.providers.certificates.has_store", lambda: False)
    monkeypatch.setattr("certifi.where", lambda: str(company.root))
    async with answering(401, REFUSAL, company.tls) as port:
        assert (await told(f"https://127.0.0.1:{port}/v1")).status == "auth"


def test_of_an_error_that_says_it_all_nothing_is_made_up():
    assert diagnose(ValueError("odd"), "https://models.example", is_loopback=False) is None
