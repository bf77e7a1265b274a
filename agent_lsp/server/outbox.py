"""What waits to be sent to a client of `agent/message`: the stream of each session, numbered and batched.

post ─────╮
message ──┴─▶ [entry … last entry] ──▶ transport (wire/outgoing.py)
                 only the last one is open: a delta may be merged into it, a message may join its notification
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, cast

from agent_lsp.messages.envelope import Message, ModelMessage, encode
from agent_lsp.server.framing import frame
from agent_lsp.wire import jsonrpc
from agent_lsp.wire.outgoing import HIGH_WATER_BYTES, Outgoing, Wire

if TYPE_CHECKING:
    from agent_lsp.messages.content import Partial, PartialToolCall, PartialToolCallOutput

_BATCH_BYTES = 64 * 2**10
_ENVELOPE_BYTES = 160  # roughly, around the text of a fragment
_BODY = {
    "partial_text": "text",
    "partial_thinking": "thinking",
    "partial_tool_call": "arguments",
    "partial_tool_call_output": "output",
}


class _Batch:
    """The messages of one notification. Its last delta is kept open, to be merged with those that follow."""

    __slots__ = ("delta", "encoded", "pieces", "run_id", "seq", "session_id", "size")

    def __init__(self, session_id: str, run_id: str | None, seq: int) -> None:
        self.session_id, self.run_id, self.seq = session_id, run_id, seq
        self.encoded: list[bytes] = []
        self.delta: ModelMessage | None = None
        self.pieces: list[str] = []
        self.size = 0

    def seal(self) -> None:
        """Ends the merging: the open delta is encoded with all of its pieces."""
        if self.delta is not None:
            delta, self.delta = self.delta, None
            self.encoded.append(_encode(delta if len(self.pieces) == 1 else _joined(delta, "".join(self.pieces))))

    def body(self) -> bytes:
        """The notification."""
        self.seal()
        head = _head(self.session_id, self.run_id)
        return b'%b,"seq":%d,"messages":[%b]}}' % (head, self.seq, b",".join(self.encoded))


class Outbox(Outgoing[_Batch]):
    """The queue of one connection. `partials`: whether the client wants fragments; `high_water_bytes`: see `drain`."""

    def __init__(self, wire: Wire, *, partials: bool = True, high_water_bytes: int = HIGH_WATER_BYTES) -> None:
        super().__init__(wire, frame, high_water_bytes)
        self._partials = partials
        self._closed: _Batch | None = None  # nothing more joins this one, though it is the last
        self._next_seq: dict[str, int] = {}

    def message(self, session_id: str, run_id: str | None, message: Message) -> None:
        """Queues the next message of a session's stream."""
        if self._dead:
            return
        field = _BODY.get(message.payload.type)
        if field is None:
            self._whole(session_id, run_id, message)
        elif self._partials:
            self._fragment(session_id, run_id, cast("ModelMessage", message), field)

    def barrier(self, session_id: str) -> int:
        """The number of the session's next message, which is merged with nothing before and begins a notification."""
        last = self._last()
        if last is not None and last.session_id == session_id:
            self._closed = last
        return self._next_seq.get(session_id, 0)

    def _whole(self, session_id: str, run_id: str | None, message: Message) -> None:
        batch = self._batch(session_id, run_id)
        encoded = _encode(message)
        batch.encoded.append(encoded)
        self._grow(batch, len(encoded))

    def _fragment(self, session_id: str, run_id: str | None, message: ModelMessage, field: str) -> None:
        payload = cast("Partial", message.payload)
        if payload.event_type != "delta":
            self._whole(session_id, run_id, message)
            return
        piece = cast("str", getattr(payload, field))
        last = self._last()
        if (
            last is not None
            and last.delta is not None
            and last.size < _BATCH_BYTES
            and last.run_id == run_id
            and last.session_id == session_id
            and _continues(last.delta, message)
        ):
            last.pieces.append(piece)
            self._grow(last, len(piece))
            return
        batch = self._batch(session_id, run_id)
        batch.delta, batch.pieces = message, [piece]
        self._grow(batch, len(piece) + _ENVELOPE_BYTES)

    def _batch(self, session_id: str, run_id: str | None) -> _Batch:
        """The open batch, sealed, for one more message, or a new one. Gives the message its number."""
        seq = self._next_seq.get(session_id, 0)
        self._next_seq[session_id] = seq + 1
        last = self._last()
        if last is not None and last.session_id == session_id and last.run_id == run_id and last.size < _BATCH_BYTES:
            last.seal()
            return last
        batch = _Batch(session_id, run_id, seq)
        self._put(batch)
        return batch

    def _last(self) -> _Batch | None:
        """The last entry, while it is open."""
        last = self._queue[-1] if self._queue else None
        return None if last is None or isinstance(last, bytes) or last is self._closed else last


def _continues(first: ModelMessage, second: ModelMessage) -> bool:
    """Whether two deltas are of the same segment. Asks only for what is there: a missing attribute costs time."""
    one, two = first.payload, second.payload
    if one.type != two.type or first.origin != second.origin:
        return False
    match two.type:
        case "partial_tool_call":
            return cast("PartialToolCall", one).tool_call_id == two.tool_call_id
        case "partial_tool_call_output":
            before = cast("PartialToolCallOutput", one)
            return before.tool_call_id == two.tool_call_id and before.images is None and two.images is None
        case _:
            return True


@lru_cache(maxsize=256)
def _head(session_id: str, run_id: str | None) -> bytes:
    run = b"" if run_id is None else b',"runId":' + jsonrpc.dumps(run_id)
    return b'{"jsonrpc":"2.0","method":"agent/message","params":{"sessionId":%b%b' % (jsonrpc.dumps(session_id), run)


def _joined(delta: ModelMessage, body: str) -> ModelMessage:
    """The delta with the body of several, stamped as the first of them."""
    payload = delta.payload
    return delta.model_copy(update={"payload": payload.model_copy(update={_BODY[payload.type]: body})})


def _encode(message: Message) -> bytes:
    try:
        return encode(message)
    except ValueError:  # a lone surrogate, which UTF-8 cannot hold
        return jsonrpc.dumps(jsonrpc.scrubbed(message.model_dump(exclude_none=True)))
