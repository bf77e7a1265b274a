"""`Content-Length` framing without I/O: bytes in, bodies or errors out. Standard library only.

A header block is read as header lines are everywhere: names in any case, blanks around the colon, unknown names
ignored, a lone line feed taken for a line end. Trouble is reported once and skipped, and what comes out never depends
on how the bytes were cut:

    BLOCK ── a valid length ──▶ BODY (n bytes) ──▶ BLOCK
      │  ╰── above the limit ─▶ SKIP (n bytes) ──▶ BLOCK      an error at once
      ╰───── no valid length ─▶ BLOCK, lost                   an error, unless these are the remains of the last one

While lost, whatever stands before the next valid header is thrown away in silence.
"""

from __future__ import annotations

import re

from agent_lsp.errors import FramingError

PARSE_ERROR, LIMIT_EXCEEDED = -32700, -32012
MAX_MESSAGE_BYTES = 64 * 2**20

_MAX_BLOCK_BYTES = 32 * 2**10
_KEPT_BYTES = 1024  # of an endless block: enough that a header across the cut is still seen whole
_BLOCK_END = re.compile(rb"\n\r?\n")
_BLANK_LINES = re.compile(rb"(?:\r?\n)*")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:[ \t]*(.*?)[ \t]*")
_HEADER_SO_FAR = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]*|[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*(?::.*)?", re.DOTALL)
_LENGTH_AFTER_JUNK = re.compile(rb".*content-length[ \t]*:[ \t]*(\d+)[ \t]*", re.IGNORECASE)
_LENGTH = b"content-length"
_DIGITS = 19  # a longer number is above any limit, and not worth converting


def frame(body: bytes) -> bytes:
    """The body with its header."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Decoder:
    """Cuts a byte stream into bodies: `feed` it, then `take` until there is nothing more.

    `max_message_bytes` may be changed between two `take`s; it holds for the headers read from then on.
    """

    def __init__(self, max_message_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self.max_message_bytes = max_message_bytes
        self._buffer = bytearray()
        self._body_bytes: int | None = None
        self._skip_bytes = 0
        self._scanned = 0
        self._lost = False
        self._returned: list[bytes | FramingError] = []

    def feed(self, data: bytes) -> None:
        """Adds what was read."""
        if self._skip_bytes:
            skipped = min(self._skip_bytes, len(data))
            self._skip_bytes -= skipped
            data = data[skipped:]
        self._buffer += data

    def take(self) -> bytes | FramingError | None:
        """The next body, or the next error to answer, or None until more is fed."""
        if self._returned:
            return self._returned.pop(0)
        while True:
            if self._body_bytes is not None:
                return self._take_body(self._body_bytes)
            block = self._take_block()
            if block is None:
                return None
            if error := self._read_block(block):
                return error

    def put_back(self, items: list[bytes | FramingError]) -> None:
        """Has `take` give these again, before anything else."""
        self._returned[:0] = items

    def _take_body(self, size: int) -> bytes | None:
        if len(self._buffer) < size:
            return None
        with memoryview(self._buffer) as view:
            body = bytes(view[:size])
        del self._buffer[:size]
        self._body_bytes = None
        return body

    def _take_block(self) -> bytes | None:
        """The next header block, without the blank line that ends it; an endless one as far as it may reach."""
        buffer = self._buffer
        if self._scanned == 0 and buffer[:1] in b"\r\n" and (blank := _BLANK_LINES.match(buffer)):
            del buffer[: blank.end()]
        if end := _BLOCK_END.search(buffer, self._scanned, _MAX_BLOCK_BYTES):
            block = bytes(buffer[: end.start()])
            del buffer[: end.end()]
            self._scanned = 0
            return block
        if len(buffer) >= _MAX_BLOCK_BYTES:
            del buffer[: _MAX_BLOCK_BYTES - _KEPT_BYTES]
            self._scanned = 0
            return b""
        self._scanned = max(0, len(buffer) - 2)
        return None

    def _read_block(self, block: bytes) -> FramingError | None:
        """Takes the length from a block; None also when the block is the remains of trouble that was reported."""
        headers, junk = _headers(block)
        values = {value for name, value in headers if name == _LENGTH}
        if self._lost and not values:  # the end of what was thrown away may stick to the name
            values = {value for name, value in headers if name.endswith(_LENGTH)}
        lengths = {_number(value) for value in values}
        if len(lengths) != 1 or None in lengths:
            reported, self._lost = self._lost and (junk or not headers), True
            if reported:
                return None
            what = "differing Content-Length headers" if len(values) > 1 else "no valid Content-Length header"
            return FramingError(what, PARSE_ERROR)
        (size,) = lengths
        assert size is not None
        reported, self._lost = self._lost or not junk, False
        if size > self.max_message_bytes:
            self._skip(size)
            return FramingError(f"the message is larger than {self.max_message_bytes} bytes", LIMIT_EXCEEDED)
        self._body_bytes = size
        return None if reported else FramingError("bytes between two messages", PARSE_ERROR)

    def _skip(self, size: int) -> None:
        here = min(size, len(self._buffer))
        del self._buffer[:here]
        self._skip_bytes = size - here


def begins_block(data: bytes) -> bool:
    """Whether the first bytes of a connection are header lines, as far as they reach (HTTP and TLS are not)."""
    *lines, rest = data[:_MAX_BLOCK_BYTES].split(b"\n")
    for line in lines:
        if line in (b"", b"\r"):
            return True
        if not _HEADER.fullmatch(line.removesuffix(b"\r")):
            return False
    return len(rest) <= _KEPT_BYTES and bool(_HEADER_SO_FAR.fullmatch(rest))


def _headers(block: bytes) -> tuple[list[tuple[bytes, bytes]], bool]:
    """The header lines that end the block, (lower-case name, value) each, and whether something else is before them."""
    headers: list[tuple[bytes, bytes]] = []
    for raw in reversed(block.split(b"\n")):
        line = raw.removesuffix(b"\r")
        if header := _HEADER.fullmatch(line):
            headers.append((header[1].lower(), header[2]))
        elif header := _LENGTH_AFTER_JUNK.fullmatch(line):
            return [*headers, (_LENGTH, header[1])], True
        else:
            return headers, True
    return headers, False


def _number(value: bytes) -> int | None:
    if not re.fullmatch(rb"[0-9]+", value):
        return None
    return int(value) if len(value) <= _DIGITS else 10**_DIGITS
