"""The stream of a session as its client sees it, live and when an old session is loaded: one and the same way.

Live, what the person has said is not told again: their client shows it. Replayed, it is.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.acp.calls import Calls, Tell, image_block
from agent_lsp.acp.outbox import ChunkKind
from agent_lsp.messages import markers
from agent_lsp.messages.content import (
    ImageUrl,
    PartialText,
    PartialThinking,
    PartialToolCallOutput,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
)
from agent_lsp.messages.envelope import Message, ModelMessage
from agent_lsp.messages.events import (
    ApprovalDecision,
    CompactionBegin,
    CompactionEnd,
    ContextSeed,
    Event,
    RunBegin,
    SessionUpdate,
    TokenUsage,
)

if TYPE_CHECKING:
    from agent_lsp.policy.access import Proposals

Chunk = Callable[[str, ChunkKind, str, str], None]
"""Sends a piece of text: session id, kind, message id, text."""

_OF_THE_ENGINE = ("context_summary", "turn_aborted", "turn_retried", "output_limit")
_ATTACHED = "[attached "
_SAYS: ChunkKind = "agent_message_chunk"
_THINKS: ChunkKind = "agent_thought_chunk"


class Speech:
    """Where what the agent says goes: pieces of one message have its id in common."""

    def __init__(self, session_id: str, chunk: Chunk) -> None:
        self._session_id, self._chunk = session_id, chunk
        self._message_id = ""

    def begin(self) -> None:
        """Another message begins."""
        self._message_id = uuid.uuid4().hex

    def piece(self, kind: ChunkKind, text: str) -> None:
        """A piece of the message."""
        if text:
            self._chunk(self._session_id, kind, self._message_id, text)

    def whole(self, kind: ChunkKind, text: str) -> None:
        """A message in one piece."""
        self.begin()
        self.piece(kind, text)


class Projection:
    """Takes the messages of one session, in order. `live`: as they happen."""

    def __init__(self, tell: Tell, speech: Speech, proposals: Proposals, root: Path, *, live: bool) -> None:
        self._tell, self._speech, self._live = tell, speech, live
        self.calls = Calls(tell, proposals, root)
        self._is_streamed = False
        self._compacting = self._compacted = False
        self._seeds = 0

    def see(self, message: Message, run_id: str | None) -> None:
        """The next message."""
        if isinstance(message, ModelMessage):
            if self._is_kept(message):
                return
            payload, origin = message.payload, message.origin
            match payload:
                case ToolCall():
                    self.calls.announce(payload, origin, run_id)
                case PartialToolCallOutput():
                    self.calls.streamed(payload, origin)
                case ToolCallOutput():
                    self.calls.ended(payload, origin)
                case _ if origin is None and not self._compacting:
                    self._said(message)
                case _:
                    pass
        elif message.type == "event_msg":
            self._happened(message.payload, message.origin)

    def _is_kept(self, message: ModelMessage) -> bool:
        """Whether a message of an old trace was there before: a compacted context begins with what it kept."""
        if self._live or not self._seeds or message.origin is not None:
            return False
        self._seeds -= 1
        return self._compacted

    def _said(self, message: ModelMessage) -> None:
        match message.payload:
            case PartialText(role="assistant") | PartialThinking() as piece:
                if piece.event_type == "start":
                    self._speech.begin()
                    self._is_streamed = True
                elif isinstance(piece, PartialText):
                    self._speech.piece(_SAYS, piece.text)
                else:
                    self._speech.piece(_THINKS, piece.thinking)
            case Text(role="assistant", text=text):
                self._complete(_SAYS, text)
            case Thinking(thinking=text):
                self._complete(_THINKS, text)
            case Text() | ImageUrl() as given if not self._live:
                self._given(given)
            case _:
                pass

    def _complete(self, kind: ChunkKind, text: str) -> None:
        """A message is complete; what was streamed of it is all of it."""
        streamed, self._is_streamed = self._is_streamed, False
        if not streamed:
            self._speech.whole(kind, text)

    def _given(self, message: Text | ImageUrl) -> None:
        """What the person has said, long ago. What the engine has said in their place is none of it."""
        block = image_block(message.image_url) if isinstance(message, ImageUrl) else None
        if isinstance(message, Text) and (words := _words_of(message)):
            block = {"type": "text", "text": words}
        if block:
            self._tell({"sessionUpdate": "user_message_chunk", "content": block, "messageId": uuid.uuid4().hex})

    def _happened(self, event: Event, origin: tuple[str, ...] | None) -> None:
        match event:
            case ApprovalDecision(decision="allow", tool_call_id=call):
                self.calls.allowed(call, origin)
            case _ if origin is not None:
                pass
            case CompactionBegin():
                self._compacting = True
            case CompactionEnd(status=status):
                self._compacting = False
                self._compacted = self._compacted or status == "completed"
            case RunBegin():
                self._compacting = False
            case ContextSeed(count=count):
                self._seeds = count
            case TokenUsage(context_window=int(size), request=tokens) if not self._compacting:
                self._tell({"sessionUpdate": "usage_update", "used": tokens.total, "size": size})
            case SessionUpdate(title=str(title)):
                self._tell({"sessionUpdate": "session_info_update", "title": title})
            case _:
                pass


def _words_of(message: Text) -> str:
    """The person's own words; of a file that they have attached only its name."""
    if message.sender not in (None, "user") or any(markers.is_block(message.text, tag) for tag in _OF_THE_ENGINE):
        return ""
    if markers.is_block(message.text, "user_steering"):
        return "\n".join(markers.bodies(message.text, "user_steering"))
    return message.text.partition("\n")[0] if message.text.startswith(_ATTACHED) else message.text
