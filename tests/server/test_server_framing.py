from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.errors import FramingError
from agent_lsp.server.framing import Decoder, frame

GOOD = frame(b"good")


def decoded(data: bytes, cuts: list[int] | None = None, limit: int = 1000) -> list[bytes | int]:
    """The bodies and the codes of the errors, the data fed in pieces."""
    decoder = Decoder(limit)
    found: list[bytes | int] = []
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts or [])})
    for start, end in pairwise(edges):
        decoder.feed(data[start:end])
        while (item := decoder.take()) is not None:
            found.append(item.code if isinstance(item, FramingError) else item)
    return found


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 4\r\n",
        b"content-length: 4\r\n",
        b"CONTENT-LENGTH:4\r\n",
        b"Content-Length :\t 4 \r\n",
        b"X-Trace: 1: 2\r\nContent-Length: 4\r\n",
        b"X-Empty:\r\ncontent-length: 4\r\nContent-Type: x; charset=utf-8\r\n",
        b"Content-Length: 4\r\nContent-Length: 4\r\n",
        b"Content-Length: 0004\r\n",
        b"\r\n\r\nContent-Length: 4\r\n",
        b"Content-Length: 4\n",
    ],
)
def test_headers_are_read_as_header_lines(header: bytes) -> None:
    assert decoded(header + header[-2:].lstrip(b"4 ") + b"good" + GOOD) == [b"good", b"good"]


@pytest.mark.parametrize(
    "block",
    [
        b"X-Only: 1",
        b"Content-Length: abc",
        b"Content-Length: -5",
        b"Content-Length: +5",
        b"Content-Length:",
        b"Content-Length: 1e3",
        b"Content-Length: \xb2",
        b"Content-Length: 3\r\nContent-Length: 4",
        b"Content-Length: 3\r\nContent-Length: x",
        b"GET / HTTP/1.1\r\nHost: x",
        b"\xff\xfe\x00",
    ],
)
def test_a_block_without_a_valid_length_is_one_error_and_reading_goes_on(block: bytes) -> None:
    assert decoded(block + b"\r\n\r\n" + GOOD) == [-32700, b"good"]


def test_each_block_without_a_valid_length_is_answered() -> None:
    assert decoded(b"X-A: 1\r\n\r\nX-B: 2\r\n\r\n" + GOOD) == [-32700, -32700, b"good"]


@pytest.mark.parametrize(
    "body", [b'{"jsonrpc": "2.0"}', b"\r\n{}\r\n\r\n\r\n", b"x\r\n\r\ny\n\nz", b"Content-Le", b"1"]
)
def test_the_body_of_a_refused_block_is_skipped_in_silence(body: bytes) -> None:
    assert decoded(b"Content-Length: many\r\n\r\n" + body + GOOD + GOOD) == [-32700, b"good", b"good"]


def test_a_body_longer_than_its_length_costs_an_error_and_no_other_message() -> None:
    assert decoded(b'Content-Length: 2\r\n\r\n{} "rest"' + GOOD) == [b"{}", -32700, b"good"]


def test_a_message_above_the_limit_is_answered_at_once_and_thrown_away() -> None:
    inner = frame(b"not a message")
    assert decoded(b"Content-Length: 2000\r\n\r\n") == [-32012]
    assert decoded(frame(inner + b"x" * 2000) + GOOD) == [-32012, b"good"]


def test_an_absurd_length_is_answered_without_waiting_for_it() -> None:
    assert decoded(b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n{") == [-32012]


def test_an_empty_body_is_a_body() -> None:
    assert decoded(b"Content-Length: 0\r\n\r\n" + GOOD) == [b"", b"good"]


def test_endless_headers_are_one_error_and_not_kept() -> None:
    decoder = Decoder()
    decoder.feed(b"x" * 200_000)
    assert isinstance(decoder.take(), FramingError)
    assert decoder.take() is None
    assert len(decoder._buffer) < 64 * 1024
    decoder.feed(GOOD)
    assert decoder.take() == b"good"


def test_the_limit_may_change_between_two_messages() -> None:
    decoder = Decoder(1000)
    decoder.feed(GOOD + frame(b"x" * 500))
    assert decoder.take() == b"good"
    decoder.max_message_bytes = 100
    assert isinstance(decoder.take(), FramingError)


PIECES = st.one_of(
    st.binary(max_size=30).map(frame),
    st.binary(max_size=30),
    st.sampled_from(
        [b"\r\n", b"\n", b"\r", b"Content-Length: ", b"7", b":", b"\r\n\r\n", b"X: y", b"Content-Length: 99999"]
    ),
    st.binary(min_size=1001, max_size=1100).map(frame),
    st.just(b"z" * 40_000),
)


@settings(deadline=None, max_examples=300)
@given(st.lists(PIECES, max_size=12), st.lists(st.integers(min_value=0), max_size=30))
def test_what_comes_out_does_not_depend_on_how_the_bytes_are_cut(pieces: list[bytes], cuts: list[int]) -> None:
    data = b"".join(pieces)
    assert decoded(data, cuts) == decoded(data)


@settings(deadline=None)
@given(st.lists(st.binary(max_size=200), max_size=10))
def test_every_framed_body_comes_back_one_byte_at_a_time(bodies: list[bytes]) -> None:
    data = b"".join(map(frame, bodies))
    assert decoded(data, list(range(len(data)))) == bodies


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_after_any_junk_a_message_after_a_blank_line_arrives(junk: bytes) -> None:
    junk = junk.replace(b":", b";")
    assert decoded(junk + b"\r\n\r\n" + GOOD + GOOD)[-1] == b"good"
