"""A context as the body of a Messages request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from agent_lsp.loop.planned_llm import DECISION_TOOL
from agent_lsp.messages.content import Content, ImageUrl, InlineData, Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.events import ToolSpec
from agent_lsp.providers.anthropic.stream import ADAPTER
from agent_lsp.providers.encoding import (
    NOT_SHOWN,
    Latest,
    PerCommit,
    encode,
    fitting_id,
    own_fidelity,
    runs,
    split_data_url,
)
from agent_lsp.providers.shape import as_dict
from agent_lsp.providers.thinking import Style, Wording, claude_style, wording
from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.engine.ports import Request
    from agent_lsp.providers.endpoint import Endpoint

_MARK = b',"cache_control":{"type":"ephemeral"}'
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_CLAUDE_MAX_TOKENS, _SAFE_MAX_TOKENS = 32_000, 8_192
_SMALLEST_BUDGET_TOKENS = 1_024


@frozen
class Encoded:
    """Messages as JSON, joined by commas. `mark_at` is where a cache mark would go: in the user's last block."""

    json: bytes
    mark_at: int | None

    def marked(self) -> bytes:
        """The JSON with the mark in it."""
        return self.json if self.mark_at is None else self.json[: self.mark_at] + _MARK + self.json[self.mark_at :]


class MessagesEncoder:
    """Encodes the requests to one endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._style: Style = claude_style(endpoint.model)
        self._commit = PerCommit(self._encoded)
        self._tools = Latest[tuple[ToolSpec, ...], bytes](_tools)
        self._max_tokens = endpoint.max_output_tokens or (
            _CLAUDE_MAX_TOKENS if "claude-" in endpoint.model else _SAFE_MAX_TOKENS
        )

    def body(self, request: Request, refused: frozenset[str], *, with_thoughts: bool = True) -> bytes:
        """The body, less what the server is known to refuse. Without its cache marks it extends a shorter context's.

        The last commit is marked like the input: the request before ended there, so that its prefix is found again
        however many blocks the turn since then took. `with_thoughts` False leaves earlier thinking out.
        """
        fields = [
            b'"model":' + encode(self._endpoint.model),
            encode({"max_tokens": self._max_tokens, "stream": True, **self.thinking(request, refused)})[1:-1],
            *([b'"tools":' + self._tools(request.tools)] if request.tools else self._decision(request, refused)),
            *([b'"system":[' + _marked(_text(request.system)) + b"]"] if request.system else []),
            b'"messages":[' + b",".join(filter(None, self._messages(request, with_thoughts))) + b"]",
        ]
        return b"{" + b",".join(fields) + b"}"

    def _decision(self, request: Request, refused: frozenset[str]) -> list[bytes]:
        """A single tool that has to be called holds the reply to a schema; a model that thinks cannot be made to."""
        if not request.response_schema or "response_schema" in refused or self.thinking(request, refused):
            return []
        tool = {"name": DECISION_TOOL, "description": "Decides.", "input_schema": request.response_schema}
        return [encode({"tools": [tool], "tool_choice": {"type": "tool", "name": DECISION_TOOL}})[1:-1]]

    def thinking(self, request: Request, refused: frozenset[str]) -> Wording:
        """How this request asks for thinking; a budget leaves room for the reply."""
        words = wording(self._style, request.thinking_level, refused)
        budget = as_dict(words.get("thinking")).get("budget_tokens")
        if not isinstance(budget, int):
            return words
        budget = min(budget, self._max_tokens * 3 // 4)
        return {"thinking": {"type": "enabled", "budget_tokens": budget}} if budget >= _SMALLEST_BUDGET_TOKENS else {}

    def _messages(self, request: Request, with_thoughts: bool) -> Iterable[bytes]:
        if with_thoughts:
            *earlier, last = [*map(self._commit, request.history), self._encoded(request.input)]
        else:
            *earlier, last = [
                *(self._encoded(commit.messages, with_thoughts=False) for commit in request.history),
                self._encoded(request.input),
            ]
        yield from (one.json for one in earlier[:-1])
        yield from (one.marked() for one in earlier[-1:])
        yield last.marked()

    def _encoded(self, messages: Sequence[Content], *, with_thoughts: bool = True) -> Encoded:
        parts: list[bytes] = []
        length, mark_at = 0, None
        for is_model, run in runs(messages):
            blocks = self._model_blocks(run, with_thoughts) if is_model else self._user_blocks(run)
            if not blocks:
                continue
            role = b"assistant" if is_model else b"user"
            message = b'{"role":"' + role + b'","content":[' + b",".join(blocks) + b"]}"
            length += len(message) + bool(parts)
            if not is_model:
                mark_at = length - len(b"}]}")
            parts.append(message)
        return Encoded(b",".join(parts), mark_at)

    # --- the model's side ---------------------------------------------------------------------------------------------

    def _model_blocks(self, run: list[Content], with_thoughts: bool) -> list[bytes]:
        """The blocks in their order. Thinking alone is no turn, and neither is nothing."""
        blocks: list[bytes] = []
        is_turn = False
        for one in run:
            if isinstance(one, Text) and one.text.strip():
                blocks.append(_text(one.text))
            elif isinstance(one, ToolCall):
                blocks.append(_call(one))
            elif isinstance(one, Thinking) and with_thoughts and (block := _thinking(one)):
                blocks.append(block)
                continue
            else:
                continue
            is_turn = True
        return blocks if is_turn else []

    # --- the user's side ----------------------------------------------------------------------------------------------

    def _user_blocks(self, run: list[Content]) -> list[bytes]:
        """All results first, as the API wants them, then everything else."""
        outputs = [self._output(one) for one in run if isinstance(one, ToolCallOutput)]
        others = [self._user_block(one) for one in run if not isinstance(one, ToolCallOutput)]
        return [*outputs, *filter(None, others)]

    def _output(self, output: ToolCallOutput) -> bytes:
        content = [_text(output.output)] if output.output.strip() else []
        content += [self._image(url) for url in output.images or ()]
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": _id(output.tool_call_id)}
        if output.stop_reason not in (None, "completed"):
            result["is_error"] = True
        body = b',"content":[' + b",".join(content) + b"]" if content else b""
        return encode(result)[:-1] + body + b"}"

    def _user_block(self, message: Content) -> bytes:
        if isinstance(message, Text):
            return _text(message.text) if message.text.strip() else b""
        if isinstance(message, ImageUrl):
            return self._image(message.image_url)
        if isinstance(message, InlineData):
            return self._data(message)
        return b""

    def _image(self, url: str) -> bytes:
        if not self._endpoint.vision:
            return _text(NOT_SHOWN.format(why="the model takes none"))
        data = split_data_url(url)
        source = {"type": "base64", "media_type": data[0], "data": data[1]} if data else {"type": "url", "url": url}
        return encode({"type": "image", "source": source})

    def _data(self, message: InlineData) -> bytes:
        source = {"type": "base64", "media_type": message.mime_type, "data": message.data}
        if message.mime_type.startswith("image/"):
            return self._image(f"data:{message.mime_type};base64,{message.data}")
        if message.mime_type == "application/pdf":
            return encode({"type": "document", "source": source})
        return _text(f"[attached data not shown: {message.mime_type}]")


def _text(text: str) -> bytes:
    return encode({"type": "text", "text": text})


def _marked(block: bytes) -> bytes:
    return block[:-1] + _MARK + b"}"


def _thinking(thought: Thinking) -> bytes | None:
    """Thinking goes back byte for byte with its signature, or not at all."""
    own = own_fidelity(thought.fidelity, ADAPTER)
    if block := own.get("block"):
        return encode(block)
    signature = own.get("signature")
    return encode({"type": "thinking", "thinking": thought.thinking, "signature": signature}) if signature else None


def _call(call: ToolCall) -> bytes:
    """The arguments stand as the model wrote them: written anew they would not be the same bytes."""
    raw = call.arguments.strip() or "{}"
    try:
        is_object = isinstance(from_json(raw, allow_inf_nan=False), dict)
    except ValueError:
        is_object = False
    head = encode({"type": "tool_use", "id": _id(call.tool_call_id), "name": call.name})
    return head[:-1] + b',"input":' + (raw.encode() if is_object else b"{}") + b"}"


def _id(call_id: str) -> str:
    return fitting_id(call_id, _ID, 30, "toolu_")


def _tools(tools: tuple[ToolSpec, ...]) -> bytes:
    encoded = [
        encode({"name": tool.name, "description": tool.description, "input_schema": tool.parameters}) for tool in tools
    ]
    return b"[" + b",".join([*encoded[:-1], _marked(encoded[-1])]) + b"]"
