"""From the input of a request to messages: texts, images, and files with a selection."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from agent_lsp.errors import InvalidParams
from agent_lsp.messages import markers
from agent_lsp.messages.content import ImageUrl, Text, UserContent
from agent_lsp.server.shapes import ImagePart, Input, InputPart, Position, Range, ResourcePart, TextPart
from agent_lsp.server.uris import path_of

if TYPE_CHECKING:
    from agent_lsp.policy.paths import PathRules

_IMAGE_DATA = re.compile(r"data:image/[\w.+-]+;base64,[A-Za-z0-9+/=\s]+")
_MOST_BYTES = 1024 * 1024
_OF_SERVER = "mcp://"
_FILES = ("file:", "/")
_UNIT_BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}

Shown = Callable[[str], str | None]
"""The text of the document that is open under a URI, None if there is none."""


def _nothing_is_open(_: str) -> None:
    return None


def read_input(
    given: Input,
    workspace: Path,
    paths: PathRules,
    position_encoding: str,
    shown: Shown = _nothing_is_open,
    mcp_servers: Container[str] = (),
) -> tuple[UserContent, ...]:
    """The messages of an input, one a part; empty texts are left out, so nothing may be left.

    Raises InvalidParams for an image that is none, and for a resource that cannot or must not be read.
    """
    if isinstance(given, str):
        return (Text(role="user", text=given),) if given else ()
    resources = _Resources(workspace, paths, position_encoding, shown)
    read = [
        _of_server(part.uri, f"input[{index}].uri", mcp_servers)
        if isinstance(part, ResourcePart) and part.uri.startswith(_OF_SERVER)
        else _part(part, f"input[{index}]", resources)
        for index, part in enumerate(given)
    ]
    return tuple(one for one in read if one)


def attached_files(given: Input) -> Iterator[Path]:
    """The files that an input attaches, once it was read without an error."""
    for part in given if isinstance(given, list) else ():
        if isinstance(part, ResourcePart) and part.uri.startswith(_FILES):
            yield path_of(part.uri, "uri")


def _part(part: InputPart, field: str, resources: _Resources) -> UserContent | None:
    match part:
        case TextPart():
            return Text(role="user", text=part.text) if part.text else None
        case ImagePart():
            return ImageUrl(image_url=_image(part, field))
        case ResourcePart():
            return resources.read(part, f"{field}.uri")


def _of_server(uri: str, field: str, servers: Container[str]) -> Text:
    """`mcp://SERVER/URI`, each percent-encoded: named to the model, which has a tool of the server to read it with."""
    server, _, resource = uri.removeprefix(_OF_SERVER).partition("/")
    if unquote(server) not in servers:
        raise _wrong(field, f"names no MCP server of the session: {server}")
    if not resource:
        raise _wrong(field, "names no resource of the server")
    return Text(role="user", text=markers.attached_resource(unquote(resource), unquote(server)))


def _image(part: ImagePart, field: str) -> str:
    if part.data is not None and _IMAGE_DATA.fullmatch(part.data):
        return part.data
    if part.data is None and part.url and part.url.startswith(("http://", "https://")):
        return part.url
    name, what = ("data", "a base64 data URL of an image") if part.data is not None else ("url", "a web address")
    raise _wrong(f"{field}.{name}", f"must be {what}")


class _Resources:
    """Reads attached files and documents."""

    def __init__(self, workspace: Path, paths: PathRules, encoding: str, shown: Shown) -> None:
        self._workspace, self._paths, self._encoding, self._shown = workspace, paths, encoding, shown

    def read(self, part: ResourcePart, field: str) -> Text:
        """The text as the editor shows it, else as it is on the disk, below a line that names it."""
        text = self._shown(part.uri)
        if text is None or part.uri.startswith(_FILES):
            name, text = self._file(path_of(part.uri, field), field, text)
        else:
            name = part.uri
        if part.range is None:
            return Text(role="user", text=markers.attached_file(name, text))
        lines = f"{name}:{part.range.start.line + 1}-{part.range.end.line + 1}"
        return Text(role="user", text=markers.attached_file(lines, selection(text, part.range, self._encoding)))

    def _file(self, path: Path, field: str, text: str | None) -> tuple[str, str]:
        """The file as it is named to the model, and its text, unless the editor has it."""
        if self._paths.forbids(path):
            raise _wrong(field, f"{path} is off limits for the agent")
        name = str(path.relative_to(self._workspace)) if path.is_relative_to(self._workspace) else str(path)
        return name, _on_disk(path, field) if text is None else text


def _on_disk(path: Path, field: str) -> str:
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
    return data.decode("utf-8-sig", "replace")


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
