"""The full text of an output that was too long for the model, in a file that the model can read."""

from __future__ import annotations

import os
import secrets
from collections import deque
from pathlib import Path

LIMIT_BYTES = 8 * 2**20
_HEAD_BYTES = LIMIT_BYTES // 2


class Archive:
    """Head and tail of a text of any length, in bounded memory. A disk that refuses is remembered, never raised."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"output-{secrets.token_hex(4)}.txt"
        self.error: str | None = None
        self._head_left = _HEAD_BYTES
        self._tail, self._tail_bytes, self._dropped = deque[bytes](), 0, 0
        self._descriptor = -1
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            self.error = error.strerror

    def write(self, text: str) -> None:
        """Adds to the end."""
        data = text.encode()
        head, rest = data[: self._head_left], data[self._head_left :]
        self._head_left -= len(head)
        self._put(head)
        if rest:
            self._tail.append(rest)
            self._tail_bytes += len(rest)
        while self._tail_bytes > LIMIT_BYTES - _HEAD_BYTES:
            excess = self._tail_bytes - (LIMIT_BYTES - _HEAD_BYTES)
            oldest = self._tail.popleft()
            if len(oldest) > excess:
                self._tail.appendleft(oldest[excess:])
            dropped = min(len(oldest), excess)
            self._tail_bytes -= dropped
            self._dropped += dropped

    def close(self) -> None:
        """Writes the tail; nothing can be added any more."""
        if self._dropped:
            self._put(f"\n[{self._dropped} bytes left out]\n".encode())
        self._put(b"".join(self._tail))
        self._tail.clear()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _put(self, data: bytes) -> None:
        view = memoryview(data)
        while view and self.error is None:
            try:
                view = view[os.write(self._descriptor, view) :]
            except OSError as error:
                self.error = error.strerror
