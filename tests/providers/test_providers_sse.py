import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.providers.sse import SseDecoder


def decoded(*chunks):
    decoder = SseDecoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return events + decoder.close()


CASES = {
    "LF": (b"data: a\n\ndata: b\n\n", [("", b"a"), ("", b"b")]),
    "CRLF": (b"data: a\r\n\r\ndata: b\r\n\r\n", [("", b"a"), ("", b"b")]),
    "a lone CR": (b"data: a\r\rdata: b\r\r", [("", b"a"), ("", b"b")]),
    "mixed line ends": (b"data: a\r\n\ndata: b\n\r", [("", b"a"), ("", b"b")]),
    "no blank after the colon": (b"data:a\n\n", [("", b"a")]),
    "only one blank goes": (b"data:  a\n\n", [("", b" a")]),
    "data lines are joined by LF": (b'data: {\ndata: "a": 1}\n\n', [("", b'{\n"a": 1}')]),
    "named events": (b"event: x\ndata: a\n\ndata: b\n\n", [("x", b"a"), ("", b"b")]),
    "comments and other fields": (b": ping\n\nid: 1\nretry: 5\nfoo\ndata: a\n\n", [("", b"a")]),
    "empty data is no event": (b"event: x\n\ndata:\n\ndata: \n\n", []),
    "a BOM at the start": (b"\xef\xbb\xbfdata: a\n\n", [("", b"a")]),
    "the end of the body ends the line": (b"data: a\n\ndata: b", [("", b"a"), ("", b"b")]),
    "other line separators are data": (
        "data: a\u2028b\u0085c\x0bd\x0c\n\n".encode(),
        [("", "a\u2028b\u0085c\x0bd\x0c".encode())],
    ),
    "nothing": (b"", []),
}


@pytest.mark.parametrize("name", CASES)
def test_rules(name):
    body, events = CASES[name]
    assert decoded(body) == events
    assert decoded(*(body[at : at + 1] for at in range(len(body)))) == events


def test_an_event_comes_with_its_last_byte():
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\r\n\r") == [("", b"a")]
    assert decoder.feed(b"\ndata: b\n\n") == [("", b"b")]


LINES = st.lists(
    st.sampled_from(
        [b"data: x", b"data:y", b"data", b"event: e", b": c", b"", b"\xef\xbb\xbfdata: z", "data: ü€".encode()]
    )
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(body=st.builds(lambda lines, end: end.join(lines), LINES, ENDS) | st.binary(max_size=60), data=st.data())
@settings(deadline=None)
def test_chunks_make_no_difference(body, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=8)))
    chunks = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert decoded(*chunks) == decoded(body)
