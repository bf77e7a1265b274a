"""What the methods take: of each only what is read, everything else in it is ignored."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

ItemT = TypeVar("ItemT")


def _empty(value: Any) -> Any:
    return [] if value == {} else value


Several = Annotated[list[ItemT], BeforeValidator(_empty)]
"""A list. An empty object counts as an empty one: in Lua the two are the same."""


class Params(BaseModel):
    """Base of all: camelCase on the wire, exact types."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", strict=True, alias_generator=to_camel, validate_by_name=True, defer_build=True
    )


# --- content ----------------------------------------------------------------------------------------------------------


class TextBlock(Params):
    """Words."""

    type: Literal["text"]
    text: str


class ImageBlock(Params):
    """A picture in base64."""

    type: Literal["image"]
    data: str
    mime_type: str


class AudioBlock(Params):
    """Sound, which is refused: no model is offered any."""

    type: Literal["audio"]


class LinkBlock(Params):
    """Something that is named and not sent along."""

    type: Literal["resource_link"]
    uri: str
    name: str = ""


class Resource(Params):
    """Something that is sent along: a text, or base64."""

    uri: str
    text: str | None = None
    blob: str | None = None
    mime_type: str | None = None


class ResourceBlock(Params):
    """A resource with what is in it."""

    type: Literal["resource"]
    resource: Resource


Block = Annotated[TextBlock | ImageBlock | AudioBlock | LinkBlock | ResourceBlock, Field(discriminator="type")]

# --- servers of tools -------------------------------------------------------------------------------------------------


class Pair(Params):
    """A variable of an environment, or a header."""

    name: str
    value: str


class StdioServer(Params):
    """A server that is started."""

    name: str
    command: str
    args: Several[str] = []
    env: Several[Pair] = []


class HttpServer(Params):
    """A server that runs already."""

    type: Literal["http"]
    name: str
    url: str
    headers: Several[Pair] = []


class SseServer(Params):
    """A server of the older kind, which is not spoken to."""

    type: Literal["sse"]
    name: str


Server = HttpServer | SseServer | StdioServer

# --- sessions ---------------------------------------------------------------------------------------------------------


class SessionParams(Params):
    """Names a session: `session/cancel`, `session/close`, `session/delete`."""

    session_id: str


class NewParams(Params):
    """`session/new`."""

    cwd: str
    mcp_servers: Several[Server] | None = None


class OldParams(NewParams):
    """`session/load`, `session/resume`, `session/fork`."""

    session_id: str


class ListParams(Params):
    """`session/list`."""

    cwd: str | None = None
    cursor: str | None = None


class PromptParams(SessionParams):
    """`session/prompt` and `_session/steering`."""

    prompt: Several[Block]


class ModeParams(SessionParams):
    """`session/set_mode`."""

    mode_id: str


class OptionParams(SessionParams):
    """`session/set_config_option`. All options are choices, so `value` is the id of one."""

    config_id: str
    value: str


class AuthenticateParams(Params):
    """`authenticate`."""

    method_id: str
