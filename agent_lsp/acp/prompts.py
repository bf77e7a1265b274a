"""From the blocks of a prompt to messages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from agent_lsp.acp.calls import image_block
from agent_lsp.acp.methods import AudioBlock, Block, ImageBlock, LinkBlock, Resource, ResourceBlock, TextBlock
from agent_lsp.acp.refusals import refuse
from agent_lsp.messages import markers
from agent_lsp.messages.content import ImageUrl, Text, UserContent
from agent_lsp.tools.editor import Snapshot

if TYPE_CHECKING:
    from agent_lsp.sessions.open_session import OpenSession

_MOST_CHARS = 1024 * 1024


def read_prompt(blocks: list[Block], opened: OpenSession) -> tuple[UserContent, ...]:
    """The messages of a prompt, one a block; empty texts are left out, so nothing may be left.

    Raises InvalidParams for what cannot be read by the model, or must not be.
    """
    read = [_message(block, f"prompt[{at}]", opened) for at, block in enumerate(blocks)]
    return tuple(one for one in read if one)


def _message(block: Block, field: str, opened: OpenSession) -> UserContent | None:
    match block:
        case TextBlock(text=text):
            return Text(role="user", text=text) if text else None
        case ImageBlock():
            return _image(block.mime_type, block.data, field)
        case AudioBlock():
            raise refuse(field, "is audio, which is not understood")
        case LinkBlock():
            return _linked(block, f"{field}.uri", opened)
        case ResourceBlock():
            return _embedded(block.resource, f"{field}.resource", opened)


def _image(mime_type: str, data: str, field: str) -> ImageUrl:
    url = f"data:{mime_type};base64,{data}"
    if not mime_type.startswith("image/") or image_block(url) is None:
        raise refuse(field, "is no image in base64")
    return ImageUrl(image_url=url)


def _linked(link: LinkBlock, field: str, opened: OpenSession) -> Text:
    """A file with its text, as far as it has one; anything else only by its name."""
    path = _file_of(link.uri)
    if path is None:
        return Text(role="user", text=f"[{link.name or link.uri}]({link.uri})")
    if opened.paths.forbids(path):
        raise refuse(field, f"{path} is off limits for the agent")
    found = opened.files.editor.peek(path)
    if not isinstance(found, Snapshot) or len(found.text) > _MOST_CHARS:
        return Text(role="user", text=f"[{link.name or path.name}]({path})")
    opened.files.attach(path)
    return Text(role="user", text=markers.attached_file(_shown(path, opened), found.text))


def _embedded(resource: Resource, field: str, opened: OpenSession) -> UserContent:
    if resource.text is None:
        return _image(resource.mime_type or "", resource.blob or "", field)
    path = _file_of(resource.uri)
    name = _shown(path, opened) if path else resource.uri
    return Text(role="user", text=markers.attached_file(name, resource.text))


def _shown(path: Path, opened: OpenSession) -> str:
    return str(path.relative_to(opened.workspace)) if path.is_relative_to(opened.workspace) else str(path)


def _file_of(uri: str) -> Path | None:
    """The file of a `file:` URI or of an absolute path; None for everything else."""
    if uri.startswith("/"):
        return Path(uri)
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or "\0" in (path := unquote(parts.path)):
        return None
    return Path(path)
