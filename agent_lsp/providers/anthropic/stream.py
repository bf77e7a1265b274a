"""Events of the Messages API into a reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json

from agent_lsp.messages.events import Finish, TokenCounts
from agent_lsp.providers.reply import REFUSED, Call, Reply, arguments_are_whole
from agent_lsp.providers.shape import as_count, as_dict, as_id, as_list, as_text
from agent_lsp.slotted import field, mutable

if TYPE_CHECKING:
    from agent_lsp.messages.content import Fidelity

ADAPTER = "anthropic"
"""Whose fidelity it is."""

_FINISH: Mapping[str, Finish] = {
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "pause_turn": "pause",
}


@mutable
class _Block:
    """A block of the reply as it was announced, and what has come of it."""

    start: dict[str, Any]
    call: Call | None = None
    signature: str = ""
    pieces: list[str] = field(default_factory=list[str])


class MessagesReader:
    """Reads one reply. Blocks are told apart by their index, which may have gaps."""

    def __init__(self) -> None:
        self.reply = Reply()
        self._message_id: str | None = None
        self._blocks: dict[int, _Block] = {}
        self._stop_reason: str | None = None
        self._usage: dict[str, int] = {}
        self._handlers: Mapping[str, Callable[[dict[str, Any]], None]] = {
            "content_block_delta": self._delta,
            "content_block_start": self._start,
            "content_block_stop": self._stop,
            "message_start": self._message_start,
            "message_delta": self._message_delta,
            "message_stop": lambda _: self._complete(),
        }

    @property
    def is_settled(self) -> bool:
        """Whether a stop reason came."""
        return self._stop_reason is not None

    def event(self, name: str, value: dict[str, Any]) -> None:
        """One event; kinds that are not known are no concern of ours."""
        handler = self._handlers.get(as_text(value.get("type")) or name)
        if handler:
            handler(value)

    def document(self, value: dict[str, Any]) -> None:
        """A whole message."""
        content = value.get("content")
        if value.get("type") != "message" or not isinstance(content, list):
            self.reply.malformed("the answer is JSON, but no message")
            return
        self._message_start({"message": value})
        for index, block in enumerate(as_list(content)):
            self._start({"index": index, "content_block": block})
            self._stop({"index": index})
        self._message_delta({"delta": value})
        self._complete()

    def done(self) -> None:
        """Not of this dialect; some converters send it all the same."""
        self.close()

    def close(self) -> None:
        """The end of the body: a stop reason is enough of an end mark."""
        if self._stop_reason is None:
            self.reply.malformed("the stream ended before the reply did")
        else:
            self._complete()

    def _complete(self) -> None:
        finish = _FINISH.get(self._stop_reason or "", "stop")
        self.reply.complete(finish, _token_counts(self._usage))

    def _message_start(self, value: dict[str, Any]) -> None:
        message = as_dict(value.get("message"))
        message_id = as_id(message.get("id"))
        if self._message_id and message_id and message_id != self._message_id:
            self.reply.malformed("two replies are mixed in one stream")
            return
        self._message_id = self._message_id or message_id
        self._count(message.get("usage"))

    def _message_delta(self, value: dict[str, Any]) -> None:
        delta = as_dict(value.get("delta"))
        self._count(value.get("usage"))
        self._stop_reason = as_text(delta.get("stop_reason")) or self._stop_reason
        explanation = as_dict(delta.get("stop_details")).get("explanation")
        if self._stop_reason == "refusal" and explanation and not self.reply.has_words:
            self.reply.text(f"{REFUSED} {explanation}")

    def _start(self, value: dict[str, Any]) -> None:
        given, reply = as_dict(value.get("content_block")), self.reply
        block = self._blocks[_index(value)] = _Block(given)
        reply.end_segment()
        match given.get("type"):
            case "text":
                reply.text(as_text(given.get("text")))
            case "thinking":
                reply.thinking(as_text(given.get("thinking")))
                self._sign(block, given.get("signature"))
            case "tool_use":
                block.call = reply.begin(as_text(given.get("name")), as_id(given.get("id")))
            case _:  # redacted thinking, or the provider's own doings: nothing to show, but wanted back
                reply.thinking("")
                reply.fidelity = _kept(block)

    def _delta(self, value: dict[str, Any]) -> None:
        delta = as_dict(value.get("delta"))
        match delta.get("type"):
            case "text_delta":
                self.reply.text(as_text(delta.get("text")))
            case "input_json_delta":
                self._input(self._block(value), as_text(delta.get("partial_json")))
            case "thinking_delta":
                self.reply.thinking(as_text(delta.get("thinking")))
            case "signature_delta":
                self._sign(self._block(value), delta.get("signature"))
            case "compaction_delta":
                block = self._block(value)
                block.start = {**block.start, "content": delta.get("content")}
                self.reply.fidelity = _kept(block)
            case _:
                pass

    def _stop(self, value: dict[str, Any]) -> None:
        """A text may still turn out to be cut, so it stays open; what is known to be whole ends."""
        block = self._block(value)
        if block.call:
            given = block.start.get("input")
            if given and not block.call.arguments.strip():
                self.reply.arguments(block.call, to_json(given).decode())
            if arguments_are_whole(block.call.arguments):
                self.reply.end_call(block.call)
        elif block.start.get("type") == "thinking":
            if block.signature:
                self.reply.end_segment()
        elif block.start.get("type") != "text":
            self.reply.fidelity = _kept(block)
            self.reply.end_segment()

    def _block(self, value: dict[str, Any]) -> _Block:
        return self._blocks.get(_index(value)) or _Block({"type": "text"})

    def _input(self, block: _Block, piece: str) -> None:
        if block.call:
            self.reply.arguments(block.call, piece)
        else:
            block.pieces.append(piece)

    def _sign(self, block: _Block, piece: Any) -> None:
        if isinstance(piece, str) and piece:
            block.signature += piece
            self.reply.fidelity = {ADAPTER: {"signature": block.signature}}

    def _count(self, usage: Any) -> None:
        """Counts are cumulative: the last number of each field is the one that counts."""
        for name, value in as_dict(usage).items():
            if (count := as_count(value)) is not None:
                self._usage[name] = count


def _kept(block: _Block) -> Fidelity:
    """A block that goes back as it came, its input put together."""
    if joined := "".join(block.pieces):
        try:
            whole = from_json(joined)
        except ValueError:
            whole = None
        return {ADAPTER: {"block": {**block.start, "input": as_dict(whole)}}}
    return {ADAPTER: {"block": block.start}}


def _index(value: dict[str, Any]) -> int:
    index = value.get("index")
    return index if isinstance(index, int) else 0


def _token_counts(usage: Mapping[str, int]) -> TokenCounts:
    cached, output = usage.get("cache_read_input_tokens", 0), usage.get("output_tokens", 0)
    fresh = usage.get("input_tokens", 0) + usage.get("cache_creation_input_tokens", 0)
    return TokenCounts(cache_read=cached, cache_write=fresh, output=output, total=cached + fresh + output)
