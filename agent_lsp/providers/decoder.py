"""An answer's body, in any chunks, into parts: events are the rule, one JSON document is tolerated, a page is not."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Protocol

from pydantic_core import from_json

from agent_lsp.providers.failure import judge, one_line, read_error
from agent_lsp.providers.shape import as_dict, as_list
from agent_lsp.providers.sse import SseDecoder

if TYPE_CHECKING:
    from agent_lsp.engine.ports import Part
    from agent_lsp.providers.reply import Reply

_BOM = b"\xef\xbb\xbf"
_MAX_SHOWN_BYTES = 2_000


class Reader(Protocol):
    """A dialect's understanding of one reply; what it finds goes into `reply`."""

    @property
    def reply(self) -> Reply:
        """The reply so far."""
        ...

    @property
    def is_settled(self) -> bool:
        """Whether the reply said how it ended, and only its accounts may still be coming."""
        ...

    def event(self, name: str, value: dict[str, Any]) -> None:
        """One event of the stream."""
        ...

    def document(self, value: dict[str, Any]) -> None:
        """A whole reply in one JSON object: the server did not stream."""
        ...

    def done(self) -> None:
        """The end mark `[DONE]`."""
        ...

    def close(self) -> None:
        """The body ended cleanly: the reply is complete, or malformed."""
        ...


class BodyDecoder:
    """Feed it the body's bytes, get parts; the last one is the outcome. Does no I/O."""

    def __init__(self, reader: Reader, secrets: Collection[str]) -> None:
        self._reader, self._reply, self._secrets = reader, reader.reply, secrets
        self._sse: SseDecoder | None = None
        self._held: list[bytes] = []  # the start, until its kind is known; then all of a body that is no stream
        self._is_past_bom = self._is_document = False

    @property
    def is_over(self) -> bool:
        """Whether the outcome is known."""
        return self._reply.outcome is not None

    @property
    def is_settled(self) -> bool:
        """Whether nothing but accounts can follow."""
        return self._reader.is_settled

    def feed(self, chunk: bytes) -> list[Part]:
        """The parts that the chunk completes."""
        sse = self._sse or (self._begin(chunk) if chunk else None)
        if sse is None:
            return []
        if self._held:
            chunk, self._held = b"".join(self._held), []
        self._read(sse.feed(chunk))
        return self._reply.take()

    def close(self) -> list[Part]:
        """What the clean end of the body completes, the outcome in any case."""
        if self._sse:
            self._read(self._sse.close())
        elif self._held:
            self._read_document(b"".join(self._held).removeprefix(_BOM))
        if not self.is_over:
            self._reader.close()
        return self._reply.take()

    def _begin(self, chunk: bytes) -> SseDecoder | None:
        """Tells a stream from a document by the first byte: no line of a stream begins with a bracket or a tag."""
        self._held.append(chunk)
        if self._is_document:
            return None
        if not self._is_past_bom:
            chunk = b"".join(self._held)
            if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
                return None
            self._is_past_bom = True
            chunk = chunk.removeprefix(_BOM)
        start = chunk.lstrip()[:1]
        self._is_document = start != b"" and start in b"{[<"
        if start and not self._is_document:
            self._sse = SseDecoder()
        return self._sse

    def _read(self, events: list[tuple[str, bytes]]) -> None:
        for name, data in events:
            if self.is_over:
                return
            if data == b"[DONE]":
                self._reader.done()
            elif data != b"null" and not data.startswith(b":"):
                self._read_event(name, data)

    def _read_event(self, name: str, data: bytes) -> None:
        try:
            value = from_json(data)
        except ValueError:
            self._reply.malformed("an event of the stream is not JSON")
            return
        if not self._is_error(name, value):
            self._reader.event(name, as_dict(value))

    def _read_document(self, body: bytes) -> None:
        try:
            value = from_json(body)
        except ValueError:
            shown = one_line(body[:_MAX_SHOWN_BYTES].decode("utf-8", "replace"), self._secrets)
            page = "a web page" if body.lstrip().startswith(b"<") else "no stream"
            self._reply.malformed(f"the answer is {page}; is the base URL right? It begins: {shown[:80]}")
            return
        first = as_dict(value) or as_dict(next(iter(as_list(value)), None))
        if not self._is_error("", first):
            self._reader.document(first)

    def _is_error(self, name: str, value: Any) -> bool:
        """Ends the reply if the event tells of an error; they look alike in every dialect."""
        given = as_dict(value)
        told = name == "error" or given.get("error") or given.get("object") == "error" or given.get("type") == "error"
        if told:
            self._reply.end(judge(read_error(value), self._secrets))
        return bool(told)
