"""From the input of a request to messages: texts, images, and files with a selection."""

from __future__ import annotations

import re
from pathlib import Path

from agent_lsp.errors import InvalidParams
from agent_lsp.messages import markers
from agent_lsp.messages.content import ImageUrl, Text, UserContent
from agent_lsp.policy.paths import PathRules
from agent_lsp.server.methods import ImagePart, Input, InputPart, Position, Range, ResourcePart, TextPart
from agent_lsp.server.uris import path_of

_IMAGE_DATA = re.compile(r"data:image/[\w.+-]+;base64,[A-Za-z0-9+/=\s]+")
_MOST_BYTES = 1024 * 1024
_UNIT_BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}


def read_input(given: Input, workspace: Path, paths: PathRules, position_encoding: str) -> tuple[UserContent, ...]:
    """The messages of an input, one a part; empty texts are left out, so nothing may be left.

    Raises InvalidParams for an image that is none, and for a resource that cannot or must not be read.
    """
    if isinstance(given, str):
        return (Text(role="user", text=given),) if given else ()
    read = [_part(part, f"input[{index}]", workspace, paths, position_encoding) for index, part in enumerate(given)]
    return tuple(one for one in read if one)


def _part(part: InputPart, field: str, workspace: Path, paths: PathRules, encoding: str) -> UserContent | None:
    match part:
        case TextPart():
            return Text(role="user", text=part.text) if part.text else None
        case ImagePart():
            return ImageUrl(image_url=_image(part, field))
        case ResourcePart():
            return _resource(part, f"{field}.uri", workspace, paths, encoding)


def _image(part: ImagePart, field: str) -> str:
    if part.data is not None and _IMAGE_DATA.fullmatch(part.data):
        return part.data
    if part.data is None and part.url and part.url.startswith(("http://", "https://")):
        return part.url
    name, what = ("data", "a base64 data URL of an image") if part.data is not None else ("url", "a web address")
    raise _wrong(f"{field}.{name}", f"must be {what}")


def _resource(part: ResourcePart, field: str, workspace: Path, paths: PathRules, encoding: str) -> Text:
    path = path_of(part.uri, field)
    if paths.forbids(path):
        raise _wrong(field, f"{path} is off limits for the agent")
    try:
        if not path.is_file():  # to open a pipe would be to wait for its other end
            raise _wrong(field, "does not exist" if not path.exists() else "is not a file")
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise _wrong(field, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > _MOST_BYTES:
        raise _wrong(
            field, f"is larger than {_MOST_BYTES} bytes; attach a part of it, or name it for the agent to read"
        )
    if b"\0" in data:
        raise _wrong(field, "is a binary file")
    text = data.decode("utf-8-sig", "replace")
    name = str(path.relative_to(workspace)) if path.is_relative_to(workspace) else str(path)
    if part.range is None:
        return Text(role="user", text=markers.attached_file(name, text))
    lines = f"{name}:{part.range.start.line + 1}-{part.range.end.line + 1}"
    return Text(role="user", text=markers.attached_file(lines, selection(text, part.range, encoding)))


def selection(text: str, range: Range, encoding: str) -> str:
    """The exact text of a range; positions beyond the end of a line or of the text mean that end."""
    start, end = _offset(text, range.start, encoding), _offset(text, range.end, encoding)
    return text[start:end]


def _offset(text: str, position: Position, encoding: str) -> int:
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n|$)", text)
    before = sum(map(len, lines[: position.line]))
    if position.line >= len(lines):
        return len(text)
    line = lines[position.line].rstrip("\r\n")
    units = line.encode(f"{encoding}-le" if encoding != "utf-8" else encoding, "surrogatepass")
    return before + len(
        units[: position.character * _UNIT_BYTES[encoding]].decode(
            f"{encoding}-le" if encoding != "utf-8" else encoding, "ignore"
        )
    )


def _wrong(field: str, message: str) -> InvalidParams:
    return InvalidParams(f"invalid params: {field}", [(field, message)])
