"""One message a line, however the bytes are cut."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.acp.framing import Lines
from agent_lsp.errors import FramingError


def taken(lines):
    found = []
    while (item := lines.take()) is not None:
        found.append(item)
    return found


@settings(deadline=None)
@given(st.lists(st.sampled_from([b"{}", b"[1]", b"x y", b"\xff"])), st.lists(st.integers(1, 5)))
def test_what_comes_out_does_not_depend_on_how_the_bytes_were_cut(bodies, cuts):
    data = b"\r\n \n".join([*bodies, b""])
    lines, found = Lines(), []
    for size in [*cuts, len(data) + 1]:
        lines.feed(data[:size])
        data = data[size:]
        found += taken(lines)
    assert found == bodies


@pytest.mark.parametrize("piece", [1, 3, 100])
def test_a_line_that_is_too_long_is_reported_once_and_skipped(piece):
    lines, found = Lines(max_message_bytes=10), []
    data = b"x" * 45 + b"\n{}\n"
    for at in range(0, len(data), piece):
        lines.feed(data[at : at + piece])
        found += taken(lines)
    assert [type(one) for one in found] == [FramingError, bytes]


def test_a_line_that_has_not_ended_is_no_message_yet():
    lines = Lines()
    lines.feed(b'{"a": 1}')
    assert lines.take() is None
