from __future__ import annotations

import codecs

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_lsp.tools.text_file import decode, is_crlf_throughout, line_end


@settings(deadline=None)
@given(st.binary(max_size=300))
@example(b"a\nb\r\nc\rd\xff\n")
@example("naïve café déjà vu\n".encode("latin-1") * 20)
@example(codecs.BOM_UTF8 + b"\xff")
@example(codecs.BOM_UTF16_LE + b"a")
def test_what_is_read_is_written_back_byte_for_byte(raw):
    decoded = decode(raw)
    if decoded is not None:
        text, codec = decoded
        assert codec.encode(text) == raw


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-8"])
def test_a_bom_tells_the_encoding_and_is_no_text(encoding):
    bom = "\ufeff".encode(encoding)
    text, codec = decode(bom + "größe\r\n".encode(encoding))
    assert text == "größe\r\n" and codec.encode("x") == bom + "x".encode(encoding)


@pytest.mark.parametrize("raw", [bytes(range(256)), b"text\0text", b"\x01\x02\xff\xfe\x03\x04" * 20])
def test_binary_files_have_no_text(raw):
    assert decode(raw) is None


def test_text_in_a_legacy_encoding_is_readable():
    text, _ = decode(("Der Käse wäre größer, und die Straße führt über Öhringen nach Süden.\n" * 5).encode("cp1252"))
    assert "Straße" in text


@pytest.mark.parametrize(
    ("text", "ending", "throughout"),
    [
        ("a\r\nb\r\n", "\r\n", True),
        ("a\nb", "\n", False),
        ("a\r\nb\n", "\n", False),
        ("", "\n", False),
        ("a\r\n", "\r\n", True),
    ],
)
def test_line_ends_are_told(text, ending, throughout):
    assert (line_end(text), is_crlf_throughout(text)) == (ending, throughout)
