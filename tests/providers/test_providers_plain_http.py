"""The transport for servers on this machine, held against what httpx's own does with the same bytes."""

import asyncio

import httpx
import pytest
import pytest_asyncio

from agent_lsp.providers.plain_http import PlainTransport
from tests.providers.wire_server import HANG, chunk, serving

pytestmark = pytest.mark.asyncio
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"
COUNTED = OK + b"content-length: 5\r\n\r\n"


@pytest_asyncio.fixture(params=["ours", "httpx's"])
async def client(request):
    async with httpx.AsyncClient(transport=PlainTransport() if request.param == "ours" else None) as client:
        yield client


async def said(client, server, **given):
    """(status, body) of an answer, or the kind of the exception."""
    try:
        async with client.stream("POST", server.url, json={}, **given) as answer:
            body = b"".join([piece async for piece in answer.aiter_raw()])
            return answer.status_code, body
    except httpx.HTTPError as error:
        return type(error)


ANSWERS = {
    "counted": ([COUNTED + b"hello"], (200, b"hello")),
    "counted, in pieces": ([COUNTED, b"he", b"llo"], (200, b"hello")),
    "counted, too short": ([COUNTED + b"he", None], httpx.RemoteProtocolError),
    "two lengths that agree": ([OK + b"content-length: 5, 5\r\n\r\nhello"], (200, b"hello")),
    "two lengths that do not": (
        [OK + b"content-length: 5\r\ncontent-length: 6\r\n\r\nhello"],
        httpx.RemoteProtocolError,
    ),
    "a length that is none": ([OK + b"content-length: -5\r\n\r\nhello"], httpx.RemoteProtocolError),
    "empty": ([OK + b"content-length: 0\r\n\r\n"], (200, b"")),
    "no content": ([b"HTTP/1.1 204 No Content\r\n\r\n"], (204, b"")),
    "to the end of the connection": ([OK + b"\r\nhello", None], (200, b"hello")),
    "an older version": ([b"HTTP/1.0 200 OK\r\n\r\nhello", None], (200, b"hello")),
    "chunked": ([CHUNKED + chunk(b"hel") + chunk(b"lo") + b"0\r\n\r\n"], (200, b"hello")),
    "chunked, capital": (
        [OK + b"Transfer-Encoding: Chunked\r\n\r\n" + chunk(b"hello") + b"0\r\n\r\n"],
        (200, b"hello"),
    ),
    "chunks with extensions": ([CHUNKED + b"5;a=b\r\nhello\r\n0;z\r\n\r\n"], (200, b"hello")),
    "trailers": ([CHUNKED + chunk(b"hello") + b"0\r\nx: y\r\n\r\n"], (200, b"hello")),
    "a chunk without a length": ([CHUNKED + b"\r\nhello\r\n"], httpx.RemoteProtocolError),
    "a length that is no number": ([CHUNKED + b"+5\r\nhello\r\n"], httpx.RemoteProtocolError),
    "a chunk that is longer than it says": ([CHUNKED + b"2\r\nhello\r\n0\r\n\r\n"], httpx.RemoteProtocolError),
    "chunked, cut in a chunk": ([CHUNKED + b"5\r\nhe", None], httpx.RemoteProtocolError),
    "chunked, cut before the end": ([CHUNKED + chunk(b"hello"), None], httpx.RemoteProtocolError),
    "an unknown coding": ([OK + b"transfer-encoding: gzip\r\n\r\nhello", None], httpx.RemoteProtocolError),
    "nothing at all": ([None], httpx.RemoteProtocolError),
    "cut in the headers": ([OK + b"content-len", None], httpx.RemoteProtocolError),
    "another protocol": ([b"SSH-2.0-OpenSSH_9.2\r\n\r\n"], httpx.RemoteProtocolError),
    "a header without a colon": ([OK + b"what\r\n\r\n"], httpx.RemoteProtocolError),
    "headers that do not end": ([OK + b"a: " + b"x" * 300_000, HANG], httpx.RemoteProtocolError),
    "continue first": ([b"HTTP/1.1 100 Continue\r\n\r\n" + COUNTED + b"hello"], (200, b"hello")),
    "bare line feeds": ([b"HTTP/1.1 200 OK\ncontent-length: 5\n\nhello"], (200, b"hello")),
    "a header on two lines": ([OK + b"a: b\r\n  c\r\ncontent-length: 5\r\n\r\nhello"], (200, b"hello")),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_an_answer_is_what_it_is_to_httpx(client, name):
    pieces, expected = ANSWERS[name]
    async with serving() as server:
        server.answers = [pieces]
        assert await said(client, server) == expected


async def test_a_connection_is_used_again_once_its_answer_was_read(client):
    async with serving() as server:
        server.answers = [[CHUNKED + chunk(b"a") + b"0\r\n\r\n"], [COUNTED + b"hello"], [COUNTED + b"again"]]
        for body in (b"a", b"hello", b"again"):
            assert await said(client, server) == (200, body)
        assert server.connections == 1


@pytest.mark.parametrize("head", [b"connection: close\r\n", b"Connection: x, CLOSE\r\n"])
async def test_a_connection_that_ends_is_not_used_again(client, head):
    async with serving() as server:
        server.answers = [[OK + head + b"content-length: 5\r\n\r\nhello"]] * 2
        assert [await said(client, server) for _ in range(2)] == [(200, b"hello")] * 2
        assert server.connections == 2


async def test_a_connection_that_the_server_has_closed_meanwhile_is_not_used_again(client):
    async with serving() as server:
        server.answers = [[COUNTED + b"hello", None], [COUNTED + b"again"]]
        assert await said(client, server) == (200, b"hello")
        await server.closed.wait()
        await asyncio.sleep(0)  # the loop reads that it has ended
        assert await said(client, server) == (200, b"again")


async def test_what_comes_unasked_is_not_taken_for_an_answer():
    async with serving() as server, httpx.AsyncClient(transport=PlainTransport()) as client:
        server.answers = [[COUNTED + b"hello" + COUNTED + b"bogus"], [COUNTED + b"right"]]
        assert await said(client, server) == (200, b"hello")
        assert await said(client, server) == (200, b"right")


async def test_leaving_an_answer_lets_go_of_its_connection_at_once(client):
    async with serving() as server:
        server.answers = [[CHUNKED + chunk(b"a"), HANG]]
        async with client.stream("POST", server.url, json={}) as answer:
            assert await anext(answer.aiter_raw()) == b"a"
        await asyncio.wait_for(server.gone.wait(), 5)


@pytest.mark.parametrize("answer", [[HANG], [CHUNKED + chunk(b"a"), HANG]], ids=["before it", "in it"])
async def test_silence_ends_an_answer(client, answer):
    async with serving() as server:
        server.answers = [answer]
        assert await said(client, server, timeout=httpx.Timeout(5, read=0.05)) is httpx.ReadTimeout
        await asyncio.wait_for(server.gone.wait(), 5)


async def test_cancelling_lets_go_of_the_connection(client):
    async with serving() as server:
        server.answers = [[HANG]]
        task = asyncio.create_task(said(client, server))
        await server.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.gone.wait(), 5)


async def test_nobody_there_says_that_it_was_refused(client):
    async with serving() as server:
        url = server.url
    with pytest.raises(httpx.ConnectError) as caught:
        await client.post(url)
    causes, error = [], caught.value
    while error:
        causes.append(type(error))
        error = error.__cause__ or error.__context__
    assert ConnectionRefusedError in causes


@pytest.mark.parametrize("header", [{"x": "a\r\nb: c"}, {"x": "a\0"}, {"x\n": "a"}])
async def test_a_header_that_would_be_another_line_is_not_sent(client, header):
    async with serving() as server:
        with pytest.raises(httpx.LocalProtocolError):
            await client.post(server.url, headers=header)
        assert server.connections == 0 or not server.heads


async def test_a_request_is_the_one_that_httpx_sends():
    heads = []
    for transport in (PlainTransport(), None):
        async with serving() as server, httpx.AsyncClient(transport=transport) as client:
            server.answers = [[COUNTED + b"hello"]]
            await client.post(server.url + "/a%20b?c=d", json={"a": 1}, headers={"X-Key": "k"})
            heads.append(server.heads[0].replace(str(server.port), "PORT"))
            assert server.bodies == [{"a": 1}]
    assert heads[0].split("\r\n")[0] == heads[1].split("\r\n")[0]
    assert sorted(heads[0].split("\r\n")) == sorted(heads[1].split("\r\n"))


async def test_a_server_is_held_back_by_whoever_does_not_read():
    async with serving() as server, httpx.AsyncClient(transport=PlainTransport()) as client:
        block = chunk(b"x" * 60_000)
        server.answers = [[CHUNKED, *[block] * 400, b"0\r\n\r\n"]]
        async with client.stream("POST", server.url, json={}) as answer:
            pieces = answer.aiter_raw()
            held = len(await anext(pieces))
            for _ in range(200):
                await asyncio.sleep(0)
            piece = await anext(pieces)
            assert len(piece) < 2_000_000
            held += len(piece)
            async for piece in pieces:
                held += len(piece)
        assert held == 400 * 60_000


async def test_a_name_with_several_addresses_is_tried_at_each():
    async with serving() as server, httpx.AsyncClient(transport=PlainTransport()) as client:
        server.answers = [[COUNTED + b"hello"]]
        server.url = f"http://localhost:{server.port}"  # often ::1 first, where nobody listens
        assert await said(client, server) == (200, b"hello")
