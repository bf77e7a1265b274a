"""HTTP/1.1 without I/O: a request's head as bytes, an answer's head out of bytes, and where its body ends.

Raises what httpx raises: RemoteProtocolError for an answer that is none, LocalProtocolError for a request.
"""

from __future__ import annotations

import re

import httpx

from agent_lsp.slotted import frozen

_LONGEST_LINE_BYTES = 16 * 1024
_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-5]\d\d)(?: .*)?")
_NOT_IN_HEADER = re.compile(rb"[\x00-\x08\n-\x1f\x7f]")
_LENGTH = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")
_NEXT_LENGTH = re.compile(rb"\r\n" + _LENGTH.pattern)
_BODILESS = (204, 304)

Headers = list[tuple[bytes, bytes]]


@frozen
class Answer:
    """The head of an answer, and what came with it of the body. `stays`: the server goes on listening."""

    status: int
    headers: Headers
    stays: bool
    rest: bytes


class Chunked:
    """`transfer-encoding: chunked`: what has come of the chunks, joined. A `fault` ends it, after what came before."""

    def __init__(self, first: bytes) -> None:
        self.is_over = False
        self._rest = first
        self._left = 0
        self._has_line_end = self._in_trailers = False
        self.fault: httpx.RemoteProtocolError | None = None

    def feed(self, data: bytes) -> bytes:
        """What the bytes add to the body, up to a fault."""
        data, at, found = self._rest + data, 0, list[bytes]()
        while not (self.is_over or self.fault):
            if self._left:
                piece = data[at : at + self._left]
                found.append(piece)
                at += len(piece)
                self._left -= len(piece)
            if self._left or (end := self._line(data, at)) == at:
                break
            at = end
        self._rest = data[at:]
        if len(self._rest) > _LONGEST_LINE_BYTES:
            self.fault = httpx.RemoteProtocolError("a chunk without a length")
        return b"".join(found)

    def _line(self, data: bytes, at: int) -> int:
        """Takes what is between two chunks; where it ends, `at` if that has not come yet."""
        if self._in_trailers:
            end = data.find(b"\n", at) + 1
            self.is_over = end > 0 and not data[at:end].strip(b"\r\n")
            return end or at
        length = (_NEXT_LENGTH if self._has_line_end else _LENGTH).match(data, at)
        if length is None:
            if data.find(b"\n", at + 2 * self._has_line_end) >= 0:
                self.fault = httpx.RemoteProtocolError("a chunk without a length")
            return at
        self._left = int(length[1], 16)
        self._has_line_end, self._in_trailers = True, self._left == 0
        return length.end()


class Counted:
    """A body of known length."""

    fault = None

    def __init__(self, first: bytes, length: int) -> None:
        self._first, self._left = first, length
        self.is_over = length == 0

    def feed(self, data: bytes) -> bytes:
        """What the bytes add to the body."""
        data, self._first = self._first + data, b""
        self._left -= len(data)
        self.is_over = self._left <= 0
        return data[: self._left] if self._left < 0 else data


class ToTheEnd:
    """A body that ends with its connection."""

    is_over, fault = False, None

    def __init__(self, first: bytes) -> None:
        self._first = first

    def feed(self, data: bytes) -> bytes:
        """All of them."""
        data, self._first = self._first + data, b""
        return data


def head_of(request: httpx.Request) -> bytes:
    """The request up to its body. Raises LocalProtocolError."""
    lines = [b"%b %b HTTP/1.1" % (request.method.encode("ascii"), request.url.raw_path)]
    for name, value in request.headers.raw:
        if _NOT_IN_HEADER.search(value) or _NOT_IN_HEADER.search(name):
            raise httpx.LocalProtocolError("a header has a character that HTTP does not allow")
        lines.append(b"%b: %b" % (name, value))
    return b"\r\n".join([*lines, b"\r\n"])


def read_head(head: bytes, rest: bytes) -> Answer:
    """The answer that begins with these lines, whose last end is cut off; `rest` is what came behind them."""
    first, *lines = (line.rstrip(b"\r") for line in head.split(b"\n"))
    status = _STATUS.fullmatch(first)
    if status is None:
        raise httpx.RemoteProtocolError("the answer is not HTTP/1.1")
    headers: Headers = []
    for line in lines:
        name, colon, value = line.partition(b":")
        if line[:1] in (b" ", b"\t") and headers:  # an old way to go on with the line before
            headers[-1] = headers[-1][0], headers[-1][1] + b" " + line.strip()
        elif not colon or not name or name != name.strip():
            raise httpx.RemoteProtocolError("a line of the headers is none")
        else:
            headers.append((name, value.strip()))
    said = _values(headers, b"connection")
    stays = b"close" not in said and (status[1] == b"1" or b"keep-alive" in said)
    return Answer(int(status[2]), headers, stays, rest)


def framing_of(answer: Answer) -> Chunked | Counted | ToTheEnd:
    """How the end of the body is told. Raises RemoteProtocolError."""
    if answer.status in _BODILESS:
        return Counted(answer.rest, 0)
    if codings := _values(answer.headers, b"transfer-encoding"):
        if codings != [b"chunked"]:
            raise httpx.RemoteProtocolError("the answer comes in a coding that is not known")
        return Chunked(answer.rest)
    lengths = set(_values(answer.headers, b"content-length"))
    if not lengths:
        return ToTheEnd(answer.rest)
    length = lengths.pop()
    if lengths or not length.isdigit():
        raise httpx.RemoteProtocolError("the length of the answer is none")
    return Counted(answer.rest, int(length))


def _values(headers: Headers, name: bytes) -> list[bytes]:
    """The comma-separated values of all headers of that name, in lower case."""
    joined = b",".join(value for given, value in headers if given.lower() == name)
    return [value for one in joined.lower().split(b",") if (value := one.strip())]
