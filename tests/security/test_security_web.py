"""web_fetch with the resolver of this machine: no spelling of a place at home is asked anything."""

import httpx
import pytest

from agent_lsp.providers.fetch import WebFetcher

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://0/",
        "http://localhost/",
        "http://LOCALHOST./",
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[0:0:0:0:0:ffff:7f00:1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[fe80::1%25lo]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://192.168.0.1/",
        "http://100.64.0.1/",
        "http://①②⑦.⓪.⓪.①/",
        "http://127。0。0。1/",
        "http://user:password@127.0.0.1/",
        "http://public.example@127.0.0.1/",
        "http://127.0.0.1:11434/api/tags",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "http:///etc/passwd",
        "http://",
        "//127.0.0.1/",
        "http://\r\nhost: x/",
        "https://127.0.0.1\\@example.org/",
    ],
)
@pytest.mark.parametrize("redirected", [False, True])
async def test_no_place_at_home_is_asked(url, redirected):
    asked = []

    def answer(request):
        asked.append(str(request.url))
        return httpx.Response(302, headers={"location": url})

    async def find(host, port):
        if host == "public.example":
            return ["93.184.216.34"]
        return await resolve(host, port)

    from agent_lsp.providers.fetch import resolve

    fetcher = WebFetcher(find=find, transport=httpx.MockTransport(answer))
    try:
        found = await fetcher.fetch("http://public.example/" if redirected else url)
    except UnicodeEncodeError:
        found = ""  # a header of the fake that cannot be
    assert isinstance(found, str)
    assert [one for one in asked if not one.startswith("http://93.184.216.34")] == []
