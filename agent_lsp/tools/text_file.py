"""Bytes of a file as text and back, so that what is not edited stays the same byte for byte."""

from __future__ import annotations

import codecs
from typing import Literal

from agent_lsp.slotted import frozen

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SNIFFED_BYTES = 8192
_GUESSED_BYTES = 64 * 1024
_STATEFUL = ("iso2022", "utf_7", "hz")  # an edit could change the meaning of the bytes behind it
_CONTROL = bytes(set(range(32)) - {7, 8, 9, 10, 12, 13, 27})


@frozen
class Codec:
    """How the text of one file is written: an encoding that gives back exactly the bytes it was read from."""

    encoding: str = "utf-8"
    bom: bytes = b""
    errors: Literal["strict", "surrogateescape"] = "strict"

    def encode(self, text: str) -> bytes:
        """The bytes of the file. Raises UnicodeEncodeError where the encoding has no such character."""
        return self.bom + text.encode(self.encoding, self.errors)


UTF8 = Codec()


def decode(raw: bytes) -> tuple[str, Codec] | None:
    """The text without its BOM, and how to write it again; None for a file that is not text.

    In a file that is in no known encoding, bytes that are not UTF-8 become lone surrogates, which are written as those
    bytes.
    """
    for bom, encoding in _BOMS:
        if raw.startswith(bom):
            return _exactly(raw, Codec(encoding, bom)) or _escaped(raw, bom)
    if b"\0" in raw[:_SNIFFED_BYTES]:
        return None
    try:
        return raw.decode(), UTF8
    except UnicodeDecodeError:
        return None if _looks_binary(raw[:_SNIFFED_BYTES]) else _guess(raw)


def _guess(raw: bytes) -> tuple[str, Codec] | None:
    from charset_normalizer import from_bytes

    best = from_bytes(raw[:_GUESSED_BYTES]).best()
    if best is not None and not best.encoding.startswith(_STATEFUL) and (exact := _exactly(raw, Codec(best.encoding))):
        return exact
    return _escaped(raw)


def _escaped(raw: bytes, bom: bytes = b"") -> tuple[str, Codec] | None:
    if bom not in (b"", codecs.BOM_UTF8):
        return None
    return raw[len(bom) :].decode("utf-8", "surrogateescape"), Codec("utf-8", bom, "surrogateescape")


def _exactly(raw: bytes, codec: Codec) -> tuple[str, Codec] | None:
    try:
        text = raw[len(codec.bom) :].decode(codec.encoding)
        return (text, codec) if codec.encode(text) == raw else None
    except UnicodeError:
        return None


def _looks_binary(sample: bytes) -> bool:
    return len(sample) - len(sample.translate(None, _CONTROL)) > len(sample) // 20


def line_end(text: str) -> str:
    """The line end to write in this text: CRLF if most of its lines end so, else LF."""
    crlf = text.count("\r\n")
    return "\r\n" if crlf * 2 > text.count("\n") else "\n"


def is_crlf_throughout(text: str) -> bool:
    """Whether the text has line ends and all of them are CRLF."""
    crlf = text.count("\r\n")
    return 0 < crlf == text.count("\n")
