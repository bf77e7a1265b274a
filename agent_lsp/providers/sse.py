"""Server-sent events out of bytes that come in any chunks.

Lines end at LF, CRLF and a lone CR, and nowhere else: other line separators are legal inside JSON. What comes out never
depends on where the bytes were cut.
"""

from __future__ import annotations

Event = tuple[str, bytes]
"""The event's name ("" if it has none) and its data."""

_BOM = b"\xef\xbb\xbf"


class SseDecoder:
    """Feed it bytes, get the events that they complete. `close` gives what an unterminated end still holds."""

    __slots__ = ("_after_cr", "_at_start", "_data", "_held", "_name")

    def __init__(self) -> None:
        self._held: list[bytes] = []  # the pieces of a line that has not ended
        self._data: list[bytes] = []
        self._name = ""
        self._after_cr = False
        self._at_start = True

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that `chunk` completes, in order."""
        if self._at_start or self._after_cr:
            chunk = self._edge(chunk)
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if not lines:
            if rest:
                self._held.append(rest)
            return []
        if self._held:
            lines[0] = b"".join(self._held) + lines[0]
        self._held = [rest] if rest else []
        return self._read(lines)

    def close(self) -> list[Event]:
        """The events that the end of the body completes: a last line and a last event need no line end."""
        last, self._held, self._at_start = b"".join(self._held), [], False
        return self._read([last, b""])

    def _edge(self, chunk: bytes) -> bytes:
        """Drops a BOM at the start, and the LF whose CR ended the chunk before."""
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if self._at_start:
            chunk = b"".join(self._held) + chunk
            self._held = []
            if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
                self._held = [chunk] if chunk else []
                return b""
            self._at_start = False
            chunk = chunk.removeprefix(_BOM)
        return chunk

    def _read(self, lines: list[bytes]) -> list[Event]:
        events: list[Event] = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[6:] if line.startswith(b" ", 5) else line[5:])
            elif not line:
                data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
                if data:
                    events.append((self._name, data))
                self._data, self._name = [], ""
            elif line.startswith(b"event:"):
                self._name = line[6:].strip().decode("utf-8", "replace")
        return events
