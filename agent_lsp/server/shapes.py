"""What inputs are made of on the wire: places in documents, and the parts of a message."""

from typing import Annotated, Literal

from pydantic import Field

from agent_lsp.server.methods import Params


class Position(Params):
    """A place in a text; `character` counts in the negotiated encoding."""

    line: Annotated[int, Field(ge=0)]
    character: Annotated[int, Field(ge=0)]


class Range(Params):
    """From `start` up to, not including, `end`."""

    start: Position
    end: Position


class TextPart(Params):
    """Words of the user."""

    type: Literal["text"]
    text: str


class ImagePart(Params):
    """An image: `data` is a data URL, `url` a web address."""

    type: Literal["image"]
    data: str | None = None
    url: str | None = None


class ResourcePart(Params):
    """A file, or a selection of it, whose text is attached."""

    type: Literal["resource"]
    uri: str
    range: Range | None = None


InputPart = Annotated[TextPart | ImagePart | ResourcePart, Field(discriminator="type")]
Input = str | list[InputPart]
