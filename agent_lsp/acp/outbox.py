"""What waits to be sent to an ACP client: a chunk that continues the last one in the queue is merged into it."""

from __future__ import annotations

from typing import Literal

from agent_lsp.wire import jsonrpc
from agent_lsp.wire.outgoing import HIGH_WATER_BYTES, Outgoing, Wire

_CHUNK_BYTES = 64 * 2**10
_AROUND_BYTES = 200  # roughly, around the text of a chunk

ChunkKind = Literal["agent_message_chunk", "agent_thought_chunk"]


class _Chunk:
    """An update that grows as long as it waits at the end of the queue."""

    __slots__ = ("key", "pieces", "size")

    def __init__(self, key: tuple[str, ChunkKind, str]) -> None:
        self.key, self.pieces, self.size = key, list[str](), _AROUND_BYTES

    def body(self) -> bytes:
        """The notification."""
        session_id, kind, message_id = self.key
        update = {
            "sessionUpdate": kind,
            "content": {"type": "text", "text": "".join(self.pieces)},
            "messageId": message_id,
        }
        return jsonrpc.notification("session/update", jsonrpc.dumps({"sessionId": session_id, "update": update}))


class Outbox(Outgoing[_Chunk]):
    """The queue of one connection; `high_water_bytes`: see `drain`."""

    def __init__(self, wire: Wire, high_water_bytes: int = HIGH_WATER_BYTES) -> None:
        super().__init__(wire, _line, high_water_bytes)

    def chunk(self, session_id: str, kind: ChunkKind, message_id: str, text: str) -> None:
        """Queues a piece of a message."""
        if self._dead:
            return
        key: tuple[str, ChunkKind, str] = (session_id, kind, message_id)
        last = self._queue[-1] if self._queue else None
        if not isinstance(last, _Chunk) or last.key != key or last.size > _CHUNK_BYTES:
            last = _Chunk(key)
            self._put(last)
        last.pieces.append(text)
        self._grow(last, len(text))


def _line(body: bytes) -> bytes:
    return body + b"\n"
