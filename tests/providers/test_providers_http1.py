"""HTTP/1.1 as bytes: no answer is read otherwise because of where its bytes were cut."""

import httpx
from hypothesis import given
from hypothesis import strategies as st

from agent_lsp.providers.http1 import Answer, Chunked, framing_of, read_head
from tests.providers.wire_server import chunk

PIECES = st.lists(st.binary(max_size=40), max_size=6)


@given(pieces=PIECES.map(lambda given: [one for one in given if one]), data=st.data())
def test_chunks_say_the_same_wherever_their_bytes_are_cut(pieces, data):
    whole = b"".join(map(chunk, pieces)) + b"0\r\n\r\nmore"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    framing, body = Chunked(b""), b""
    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        body += framing.feed(whole[start:end])
    assert framing.is_over
    assert body == b"".join(pieces)


@given(st.binary(max_size=200))
def test_no_bytes_break_it_otherwise_than_httpx_breaks(noise):
    try:
        framing = framing_of(read_head(b"HTTP/1.1 200 OK\r\n" + noise, b""))
        framing.feed(noise)
        Chunked(b"").feed(noise)
    except httpx.RemoteProtocolError:
        pass


def test_what_came_before_a_fault_is_given_first():
    framing = framing_of(Answer(200, [(b"transfer-encoding", b"chunked")], True, chunk(b"hello") + b"oops\r\n"))
    assert framing.feed(b"") == b"hello"
    assert isinstance(framing.fault, httpx.RemoteProtocolError)
    assert not framing.is_over
