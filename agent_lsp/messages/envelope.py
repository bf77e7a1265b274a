"""The envelope that travels everywhere: through the engine, in `agent/message` and in the trace, in the same bytes."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from agent_lsp.messages.clock import timestamp
from agent_lsp.messages.content import Content, ModelPayload, Partial, Payload
from agent_lsp.messages.events import Event, EventPayload, Mode

FORMAT = 1
"""Version of the texts that the engine composes from a trace (carry-over, `[turn_retried]`)."""


class SessionMeta(Payload):
    """First line of every trace file: the session as it was created."""

    type: Literal["session_meta"] = "session_meta"
    session_id: str
    parent_id: str | None = None
    provider: str
    model_id: str
    model_context_window: int | None = None
    system_prompt: str
    workspace: str
    mode: Mode = "native"
    created_at: str
    source: Literal["subagent", "fork"] | None = None
    tags: tuple[str, ...] | None = None
    format: int = FORMAT


class _Envelope(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    timestamp: str
    """ISO 8601, UTC, milliseconds."""


class ModelMessage(_Envelope):
    """A payload of the model's context, or a fragment of one."""

    type: Literal["model_msg"] = "model_msg"
    payload: ModelPayload
    origin: tuple[str, ...] | None = None
    """Ids of the child sessions it comes from, outer to inner; absent on a session's own messages."""


class EventMessage(_Envelope):
    """Something that happened around the context."""

    type: Literal["event_msg"] = "event_msg"
    payload: EventPayload
    origin: tuple[str, ...] | None = None


class MetaMessage(_Envelope):
    """The session itself."""

    type: Literal["session_meta"] = "session_meta"
    payload: SessionMeta
    origin: tuple[str, ...] | None = None


Message = ModelMessage | EventMessage | MetaMessage
MESSAGE: TypeAdapter[Message] = TypeAdapter(
    Annotated[Message, Field(discriminator="type")], config=ConfigDict(defer_build=True)
)
"""Reads and writes any message: `MESSAGE.validate_json(line)`."""

_MODEL_TYPES = frozenset(
    f"{partial}{kind}" for kind in ("text", "thinking", "tool_call", "tool_call_output") for partial in ("", "partial_")
) | {"image_url", "inline_data"}


def envelope(
    payload: Content | Partial | Event | SessionMeta, at: str | None = None, origin: tuple[str, ...] | None = None
) -> Message:
    """Wraps a payload in the envelope of its kind, stamped now unless `at` is given."""
    stamp = at or timestamp()
    if payload.type in _MODEL_TYPES:
        return ModelMessage(timestamp=stamp, payload=payload, origin=origin)  # pyright: ignore[reportArgumentType] - narrowed by type
    if isinstance(payload, SessionMeta):
        return MetaMessage(timestamp=stamp, payload=payload, origin=origin)
    return EventMessage(timestamp=stamp, payload=payload, origin=origin)  # pyright: ignore[reportArgumentType] - the rest are events


def encode(message: Message) -> bytes:
    """The message as one line of JSON, without its line end: unset fields left out, `fidelity` kept as it is."""
    return message.__pydantic_serializer__.to_json(message, exclude_none=True)
