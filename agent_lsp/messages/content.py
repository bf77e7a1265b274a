"""What is in the model's context: the payloads of `model_msg`, and their fragments.

Every payload is frozen and discriminated on `type`. Optional fields are left out of the JSON when they are not set.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

StopReason = Literal["completed", "failed", "aborted", "timeout", "malformed", "auth"]
EventType = Literal["start", "delta", "stop"]
Sender = Literal["user", "parent_agent", "harness"]
Fidelity = dict[str, Any]


class Payload(BaseModel):
    """Base of every payload: frozen, unknown fields ignored (a newer writer may add some)."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class Text(Payload):
    """A text of the model or of the user. `sender` tells who wrote a user-role text; absent means the person."""

    type: Literal["text"] = "text"
    role: Literal["user", "assistant"]
    text: str
    sender: Sender | None = None
    stop_reason: StopReason | None = None
    fidelity: Fidelity | None = None


class Thinking(Payload):
    """Reasoning of the model; empty with a `fidelity` where the provider hides it."""

    type: Literal["thinking"] = "thinking"
    role: Literal["assistant"] = "assistant"
    thinking: str
    stop_reason: StopReason | None = None
    fidelity: Fidelity | None = None


class ToolCall(Payload):
    """A call of a tool. `arguments` is the JSON text as the model wrote it (blank means `{}`)."""

    type: Literal["tool_call"] = "tool_call"
    role: Literal["assistant"] = "assistant"
    name: str
    arguments: str
    tool_call_id: str
    stop_reason: StopReason | None = None
    fidelity: Fidelity | None = None


class ToolCallOutput(Payload):
    """The one output of a call. `images` are data URLs. `stop_reason` only when the call did not end well."""

    type: Literal["tool_call_output"] = "tool_call_output"
    role: Literal["user"] = "user"
    tool_call_id: str
    output: str
    images: tuple[str, ...] | None = None
    stop_reason: StopReason | None = None
    fidelity: Fidelity | None = None


class ImageUrl(Payload):
    """An image of the user, by web address or data URL."""

    type: Literal["image_url"] = "image_url"
    role: Literal["user"] = "user"
    image_url: str
    fidelity: Fidelity | None = None


class InlineData(Payload):
    """Other binary content: `data` is base64."""

    type: Literal["inline_data"] = "inline_data"
    role: Literal["user", "assistant"]
    data: str
    mime_type: str
    fidelity: Fidelity | None = None


class PartialText(Payload):
    """A fragment of a text; `start` and `stop` carry no body."""

    type: Literal["partial_text"] = "partial_text"
    role: Literal["user", "assistant"] = "assistant"
    event_type: EventType
    text: str = ""


class PartialThinking(Payload):
    """A fragment of a thinking segment."""

    type: Literal["partial_thinking"] = "partial_thinking"
    role: Literal["assistant"] = "assistant"
    event_type: EventType
    thinking: str = ""


class PartialToolCall(Payload):
    """A fragment of a call's arguments."""

    type: Literal["partial_tool_call"] = "partial_tool_call"
    role: Literal["assistant"] = "assistant"
    event_type: EventType
    name: str
    arguments: str = ""
    tool_call_id: str


class PartialToolCallOutput(Payload):
    """A fragment of a call's output."""

    type: Literal["partial_tool_call_output"] = "partial_tool_call_output"
    role: Literal["user"] = "user"
    event_type: EventType
    output: str = ""
    images: tuple[str, ...] | None = None
    tool_call_id: str


Content = Text | Thinking | ToolCall | ToolCallOutput | ImageUrl | InlineData
Partial = PartialText | PartialThinking | PartialToolCall | PartialToolCallOutput
UserContent = Text | ImageUrl | InlineData
ModelPayload = Annotated[Content | Partial, Field(discriminator="type")]

CONTENT_TYPES = (Text, Thinking, ToolCall, ToolCallOutput, ImageUrl, InlineData)
PARTIAL_TYPES = (PartialText, PartialThinking, PartialToolCall, PartialToolCallOutput)
