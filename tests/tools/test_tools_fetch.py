"""web_fetch: what is asked, what is not, and what becomes of the answer."""

from __future__ import annotations

import gzip
import zlib

import httpx
import pytest

from agent_lsp.providers.fetch import MOST_BYTES, WebFetcher, is_public
from agent_lsp.tools.page_text import Unreadable, page_text
from agent_lsp.tools.web_fetch import Page

PUBLIC = "93.184.216.34"


class Web:
    """A web in memory. `names` are its addresses, `pages` its answers by path; `asked` are the requests it got."""

    def __init__(self, names, pages):
        self.names, self.pages, self.asked = names, pages, []

    async def find(self, host, port):
        found = self.names.get(host, OSError(8, "no such name"))
        if isinstance(found, OSError):
            raise found
        return [found.pop(0)] if isinstance(found, list) and len(found) > 1 else list(found)

    def answer(self, request):
        self.asked.append(request)
        found = self.pages[request.url.path]
        if isinstance(found, Exception):
            raise found
        return found

    def fetcher(self, **more):
        return WebFetcher(find=self.find, transport=httpx.MockTransport(self.answer), **more)


def page(body=b"hello", kind="text/plain", status=200, **headers):
    return httpx.Response(status, headers={"content-type": kind, **headers}, stream=Stream(body))


class Stream(httpx.AsyncByteStream):
    def __init__(self, body):
        self.body = body

    async def __aiter__(self):
        for at in range(0, len(self.body), 65536):
            yield self.body[at : at + 65536]


def to(where):
    return httpx.Response(302, headers={"location": where})


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.0.0.1", "172.16.5.5", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1",
        "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "::7f00:1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:7f00:1::", "nonsense", "",
    ],
)  # fmt: skip
def test_what_is_not_on_the_public_internet_is_known_in_every_disguise(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", [PUBLIC, "1.1.1.1", "2606:4700::1111", "64:ff9b::101:101"])
def test_public_addresses_are_public(address):
    assert is_public(address)


@pytest.mark.asyncio
async def test_the_connection_goes_to_the_address_that_was_looked_at_and_asks_for_the_name():
    web = Web({"a.example": [PUBLIC]}, {"/x": page()})
    found = await web.fetcher().fetch("https://a.example/x?y=1#z")
    (request,) = web.asked
    assert found.body == b"hello" and found.url == "https://a.example/x?y=1#z"
    assert str(request.url) == f"https://{PUBLIC}/x?y=1" and request.headers["host"] == "a.example"
    assert request.extensions["sni_hostname"] == "a.example" and "authorization" not in request.headers


@pytest.mark.asyncio
@pytest.mark.parametrize("where", ["http://in.example/x", "http://127.0.0.1/x", "http://[::1]:80/x", "http://0x7f.1/x"])
async def test_private_places_are_refused_before_anything_is_sent(where):
    web = Web({"in.example": ["10.1.2.3"], "127.0.0.1": ["127.0.0.1"], "::1": ["::1"], "0x7f.1": ["127.0.0.1"]}, {})
    refused = await web.fetcher().fetch(where)
    assert isinstance(refused, str) and "public web" in refused and not web.asked


@pytest.mark.asyncio
async def test_one_private_address_among_public_ones_spoils_the_name():
    web = Web({"a.example": (PUBLIC, "127.0.0.1")}, {"/": page()})
    assert isinstance(await web.fetcher().fetch("http://a.example/"), str) and not web.asked


@pytest.mark.asyncio
async def test_a_name_that_leads_elsewhere_a_moment_later_leads_nowhere():
    web = Web({"a.example": [PUBLIC, "127.0.0.1", "127.0.0.1"]}, {"/": page()})
    assert (await web.fetcher().fetch("http://a.example/")).status == 200
    assert [one.url.host for one in web.asked] == [PUBLIC]
    assert isinstance(await web.fetcher().fetch("http://a.example/"), str) and len(web.asked) == 1


@pytest.mark.asyncio
async def test_each_redirect_is_looked_at_anew():
    names = {"a.example": [PUBLIC], "b.example": ["1.1.1.1"], "in.example": ["192.168.0.1"]}
    web = Web(
        names,
        {"/ok": to("//b.example/end"), "/end": page(), "/in": to("http://in.example/"), "/file": to("file:///etc")},
    )
    fetch = web.fetcher().fetch
    assert (await fetch("https://a.example/ok")).url == "https://b.example/end"
    assert "public web" in await fetch("http://a.example/in")
    assert "only http" in await fetch("http://a.example/file")
    assert {one.url.host for one in web.asked} == {PUBLIC, "1.1.1.1"}


@pytest.mark.asyncio
async def test_endless_redirects_end():
    web = Web({"a.example": [PUBLIC]}, {"/": to("/")})
    assert "redirects" in await web.fetcher().fetch("http://a.example/") and len(web.asked) == 6


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "url", ["ftp://a.example/", "file:///etc/passwd", "a.example", "http://", "http://u:p@a.example/", "http://[", "\0"]
)
async def test_what_is_no_plain_web_address_is_refused(url):
    assert isinstance(await Web({}, {}).fetcher().fetch(url), str)


@pytest.mark.asyncio
async def test_private_places_may_be_allowed_and_failures_are_told():
    web = Web(
        {"in.example": ["10.0.0.1"], "gone.example": OSError(8, "no such name")},
        {"/": page(), "/broken": httpx.ReadError("it broke"), "/down": httpx.ConnectError("nobody there")},
    )
    fetch = web.fetcher(allow_private=True).fetch
    assert (await fetch("http://in.example/")).status == 200
    assert "it broke" in await fetch("http://in.example/broken")
    assert "nobody there" in await fetch("http://in.example/down")
    assert "no such name" in await fetch("http://gone.example/")


@pytest.mark.asyncio
async def test_a_large_body_is_cut_however_it_is_packed():
    bomb = gzip.compress(b"x" * (64 * MOST_BYTES))
    web = Web(
        {"a.example": [PUBLIC]},
        {
            "/large": page(b"x" * (MOST_BYTES + 5)),
            "/bomb": page(bomb, **{"content-encoding": "gzip"}),
            "/packed": page(gzip.compress(b"hello"), **{"content-encoding": "gzip"}),
            "/odd": page(zlib.compress(b"x"), **{"content-encoding": "br"}),
            "/torn": page(b"not gzip", **{"content-encoding": "gzip"}),
        },
    )
    fetch = web.fetcher().fetch
    for path in ("large", "bomb"):
        found = await fetch(f"http://a.example/{path}")
        assert len(found.body) == MOST_BYTES and found.is_cut
    assert (await fetch("http://a.example/packed")).body == b"hello"
    assert "packed as br" in await fetch("http://a.example/odd")
    assert isinstance(await fetch("http://a.example/torn"), str)


# --- the text ---------------------------------------------------------------------------------------------------------


def test_html_becomes_markdown_without_what_nobody_sees():
    head = b"<html><head><title>T</title><script>evil()</script><style>p{}</style></head>"
    html = head + b"<body><h1>Head</h1><p>One <b>two</b> <a href='/x'>link</a></p></body></html>"
    text = page_text(html, "text/html; charset=utf-8")
    assert "# Head" in text and "**two**" in text and "[link](/x)" in text and "evil" not in text and "p{}" not in text


def test_text_stays_as_it_is_in_its_own_encoding():
    assert page_text("grün".encode("latin-1"), "text/plain; charset=ISO-8859-1") == "grün"
    assert page_text(b'{"a": 1}', "application/ld+json") == '{"a": 1}'
    assert page_text(b"x", "text/plain; charset=nonsense") == "x"
    assert "grün" in page_text("<meta charset='latin-1'><p>grün</p>".encode("latin-1"), "text/html")


@pytest.mark.parametrize(("body", "kind"), [(b"\x89PNG\0", "image/png"), (b"a\0b", ""), (b"%PDF", "application/pdf")])
def test_what_is_no_text_is_refused(body, kind):
    assert isinstance(page_text(body, kind), Unreadable)


def test_html_made_to_break_parsers_is_refused_or_read():
    page_text(b"<div>" * 100_000, "text/html")
    page_text(b"<![" * 1000, "text/html")
    page_text(b"<p>" + b"a" * 3_000_000, "text/html")


# --- the tool ---------------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_the_tool_names_where_it_ended_and_fails_with_the_servers_failure(make_session):
    async def fetch(url):
        status = 404 if "gone" in url else 200
        return (
            "nobody is there"
            if "down" in url
            else Page(f"{url}/end", status, "text/plain", b"words", is_cut="long" in url)
        )

    session = make_session(fetch=fetch)
    done = await session.use("web_fetch", url="https://a.example")
    assert done.output == "[https://a.example/end, text/plain]\nwords" and not done.failed
    gone = await session.use("web_fetch", url="https://a.example/gone")
    assert gone.failed and "[HTTP status 404]" in gone.output and "words" in gone.output
    assert "only its beginning" in (await session.use("web_fetch", url="https://a.example/long")).output
    assert (await session.use("web_fetch", url="https://a.example/down")).failed


def test_without_leave_there_is_no_such_tool(session):
    assert "web_fetch" not in session.toolset.offered()
