"""What a server returns, as text and images that a model can be given."""

from __future__ import annotations

import json
from collections.abc import Iterable

import mcp_types as types

from agent_lsp.tools.mcp.remote import Answer

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_MOST_PICTURES = 20
_NEEDS_INPUT = "agent/needsInput"


def answer(result: types.CallToolResult) -> Answer:
    """The result of a call. Its structured form counts where it has no other."""
    texts, images = list[str](), list[str]()
    for block in result.content:
        _add(block, texts, images)
    if not texts and not images and result.structured_content is not None:
        texts.append(json.dumps(result.structured_content, ensure_ascii=False, indent=2))
    needs_input = (result.meta or {}).get(_NEEDS_INPUT) is True
    return Answer("\n".join(texts), tuple(images), result.is_error, needs_input)


def resource_answer(result: types.ReadResourceResult) -> Answer:
    """The contents of a resource."""
    texts, images = list[str](), list[str]()
    for contents in result.contents:
        _add_contents(contents, texts, images)
    return Answer("\n".join(texts), tuple(images))


def _add(block: types.ContentBlock, texts: list[str], images: list[str]) -> None:
    match block:
        case types.TextContent():
            texts.append(block.text)
        case types.ImageContent():
            _add_binary(block.data, block.mime_type, texts, images)
        case types.AudioContent():
            texts.append(_left_out(block.mime_type))
        case types.ResourceLink():
            texts.append(" ".join(_given(f"[resource: {block.uri}]", block.name, block.description)))
        case types.EmbeddedResource():
            texts.append(f"[resource: {block.resource.uri}]")
            _add_contents(block.resource, texts, images)


def _add_contents(
    contents: types.TextResourceContents | types.BlobResourceContents, texts: list[str], images: list[str]
) -> None:
    if isinstance(contents, types.TextResourceContents):
        texts.append(contents.text)
    else:
        _add_binary(contents.blob, contents.mime_type or "application/octet-stream", texts, images)


def _add_binary(data: str, mime_type: str, texts: list[str], images: list[str]) -> None:
    if mime_type in _PICTURES and len(images) < _MOST_PICTURES and _is_base64(data):
        images.append(f"data:{mime_type};base64,{data}")
    else:
        texts.append(_left_out(mime_type))


def _left_out(mime_type: str) -> str:
    return f"[{mime_type[:100]} left out]"


def _is_base64(data: str) -> bool:
    stripped = data.rstrip("=")
    return len(data) % 4 == 0 and data.isascii() and stripped.replace("+", "").replace("/", "").isalnum()


def _given(*texts: str | None) -> Iterable[str]:
    return (one for one in texts if one)
