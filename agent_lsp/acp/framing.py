"""One message a line, without I/O: bytes in, bodies or errors out. Standard library only."""

from __future__ import annotations

from agent_lsp.errors import FramingError

LIMIT_EXCEEDED = -32012
MAX_MESSAGE_BYTES = 64 * 2**20
_BLANK = b" \t\r"


class Lines:
    """Cuts a byte stream into lines: `feed` it, then `take` until there is nothing more. Blank lines are nothing.

    A line that is too long is reported once and thrown away up to its end. `max_message_bytes` may be changed between
    two `take`s.
    """

    def __init__(self, max_message_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self.max_message_bytes = max_message_bytes
        self._buffer = bytearray()
        self._scanned = 0
        self._skipping = False

    def feed(self, data: bytes) -> None:
        """Adds what was read."""
        self._buffer += data

    def take(self) -> bytes | FramingError | None:
        """The next body, or the next error to answer, or None until more is fed."""
        while (end := self._buffer.find(b"\n", self._scanned)) >= 0:
            line = bytes(self._buffer[:end]).strip(_BLANK)
            del self._buffer[: end + 1]
            self._scanned, skipped, self._skipping = 0, self._skipping, False
            if skipped or not line:
                continue
            return line if len(line) <= self.max_message_bytes else self._too_large()
        self._scanned = len(self._buffer)
        if not self._skipping and self._scanned <= self.max_message_bytes:
            return None
        reported, self._skipping = self._skipping, True
        self._buffer.clear()
        self._scanned = 0
        return None if reported else self._too_large()

    def _too_large(self) -> FramingError:
        return FramingError(f"the message is larger than {self.max_message_bytes} bytes", LIMIT_EXCEEDED)
