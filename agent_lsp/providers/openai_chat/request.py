"""A context as the body of a Chat Completions request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from agent_lsp.messages.content import Content, ImageUrl, InlineData, Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.events import ToolSpec
from agent_lsp.providers.encoding import NOT_SHOWN, Joined, Latest, encode, fitting_id, listed, own_fidelity, runs
from agent_lsp.providers.openai_chat.stream import ADAPTER
from agent_lsp.providers.shape import as_list, as_text
from agent_lsp.providers.thinking import wording

if TYPE_CHECKING:
    from agent_lsp.engine.ports import Request
    from agent_lsp.providers.endpoint import Endpoint
    from agent_lsp.providers.openai_chat.dialect import Dialect

_NINE = re.compile(r"[A-Za-z0-9]{9}")
_UP_TO_64 = re.compile(r".{1,64}", re.DOTALL)

Json = dict[str, Any]


class ChatEncoder:
    """Encodes the requests to one endpoint."""

    def __init__(self, endpoint: Endpoint, dialect: Dialect) -> None:
        self._endpoint, self._dialect = endpoint, dialect
        self._history = Joined(self._encoded)
        self._tools = Latest[tuple[ToolSpec, ...], bytes](_tools)

    def body(self, request: Request, refused: frozenset[str]) -> bytes:
        """The body, less what the server is known to refuse. A longer context extends a shorter one's bytes."""
        head = (b'{"model":', encode(self._endpoint.model), b',"messages":[')
        tools = (b',"tools":', self._tools(request.tools)) if request.tools else ()
        settings = (b",", encode(self._settings(request, refused))[1:])
        return b"".join((*head, *listed(self._messages(request)), b"]", *tools, *settings))

    def _messages(self, request: Request) -> Iterator[bytes | bytearray]:
        """Everything in order. Marks for the cache go where this request and the one before it end."""
        if not any(part in self._endpoint.model for part in self._dialect.cache_marks):
            yield from [encode({"role": "system", "content": request.system})] if request.system else []
            yield self._history(request.history)
            yield self._encoded(request.input)
            return
        yield from [encode(_marked({"role": "system", "content": request.system}))] if request.system else []
        yield self._history(request.history[:-1])
        for messages in (*(commit.messages for commit in request.history[-1:]), request.input):
            rendered = self._rendered(messages)
            asked = [at for at, one in enumerate(rendered) if one["role"] in ("user", "tool")]
            for at in asked[-1:]:
                rendered[at] = _marked(rendered[at])
            yield b",".join(map(encode, rendered))

    def max_tokens_field(self, refused: frozenset[str]) -> str | None:
        """The field that limits the reply; the other one where the usual one is refused."""
        if self._endpoint.max_output_tokens is None:
            return None
        fields = (self._dialect.max_tokens, "max_tokens", "max_completion_tokens")
        return next((field for field in fields if field not in refused), None)

    def _settings(self, request: Request, refused: frozenset[str]) -> Json:
        settings: Json = {"stream": True}
        if self._dialect.stream_options and "stream_options" not in refused:
            settings["stream_options"] = {"include_usage": True}
        if field := self.max_tokens_field(refused):
            settings[field] = self._endpoint.max_output_tokens
        if self._dialect.cache_key and request.session_id and "prompt_cache_key" not in refused:
            settings["prompt_cache_key"] = request.session_id[:64]
        if request.response_schema and "response_format" not in refused:
            schema = {"name": "decision", "schema": request.response_schema}
            settings["response_format"] = {"type": "json_schema", "json_schema": schema}
        return {**settings, **wording(self._dialect.thinking, request.thinking_level, refused)}

    def _encoded(self, messages: Sequence[Content]) -> bytes:
        return b",".join(map(encode, self._rendered(messages)))

    def _rendered(self, messages: Sequence[Content]) -> list[Json]:
        rendered: list[Json] = []
        for is_model, run in runs(messages):
            rendered += self._assistant(run) if is_model else self._user(run)
        return rendered

    # --- the model's side ---------------------------------------------------------------------------------------------

    def _assistant(self, run: list[Content]) -> list[Json]:
        """One message; none where nothing is left to say."""
        text = "".join(one.text for one in run if isinstance(one, Text))
        calls = [self._call(one) for one in run if isinstance(one, ToolCall)]
        if not text and not calls:
            return []
        if calls and self._dialect.unsigned_extra:
            calls[0].setdefault("extra_content", self._dialect.unsigned_extra)
        message: Json = {"role": "assistant", "content": text}
        message |= self._thinking([one for one in run if isinstance(one, Thinking)])
        return [message | ({"tool_calls": calls} if calls else {})]

    def _thinking(self, thoughts: list[Thinking]) -> Json:
        """Earlier thinking, in the field in which this server sent it."""
        own = [mark for one in thoughts if (mark := self._own(one))]
        field = as_text(own[0].get("field")) if own else self._dialect.thinking_field
        kept = thoughts if self._dialect.thinking_field else [one for one in thoughts if self._own(one)]
        words = "".join(one.thinking for one in kept)
        details = [detail for mark in own for detail in as_list(mark.get("details"))]
        echo: Json = {field: words} if field and words else {}
        return echo | ({"reasoning_details": details} if details else {})

    def _call(self, call: ToolCall) -> Json:
        rendered: Json = {
            "id": self._id(call.tool_call_id),
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments if call.arguments.strip() else "{}"},
        }
        extra = self._own(call).get("extra_content")
        return rendered | ({"extra_content": extra} if extra else {})

    def _own(self, message: Thinking | ToolCall) -> Json:
        """The fidelity that this very provider's replies left."""
        mark = own_fidelity(message.fidelity, ADAPTER)
        return mark if mark.get("provider") == self._endpoint.provider else {}

    def _id(self, call_id: str) -> str:
        if self._dialect.nine_character_ids:
            return fitting_id(call_id, _NINE, 9)
        return fitting_id(call_id, _UP_TO_64, 40, "call_")

    # --- the user's side ----------------------------------------------------------------------------------------------

    def _user(self, run: list[Content]) -> list[Json]:
        """The results of tools, one message each, then everything else."""
        outputs = [one for one in run if isinstance(one, ToolCallOutput)]
        parts: list[Json] = []
        if self._shows_tool_images:
            parts += [_image(url) for one in outputs for url in one.images or ()]
        for one in run:
            parts += self._parts(one)
        return [*map(self._output, outputs), *self._user_messages(parts)]

    @property
    def _shows_tool_images(self) -> bool:
        return self._endpoint.vision and self._dialect.user_after_tool

    def _output(self, output: ToolCallOutput) -> Json:
        """A tool message holds text only: its images follow in the user's message, or it says that they do not."""
        lines = [output.output]
        if not self._shows_tool_images:
            why = "the provider takes none after a tool's result" if self._endpoint.vision else "the model takes none"
            lines += [NOT_SHOWN.format(why=why) for _ in output.images or ()]
        return {"role": "tool", "tool_call_id": self._id(output.tool_call_id), "content": "\n".join(lines)}

    def _parts(self, message: Content) -> list[Json]:
        if isinstance(message, Text):
            return [_text(message.text)] if message.text else []
        if isinstance(message, ImageUrl | InlineData):
            url = (
                message.image_url
                if isinstance(message, ImageUrl)
                else f"data:{message.mime_type};base64,{message.data}"
            )
            if isinstance(message, InlineData) and not message.mime_type.startswith("image/"):
                return [_text(f"[attached data not shown: {message.mime_type}]")]
            return [_image(url)] if self._endpoint.vision else [_text(NOT_SHOWN.format(why="the model takes none"))]
        return []

    def _user_messages(self, parts: list[Json]) -> list[Json]:
        """One message with all parts, or one each where the server knows plain texts only."""
        if self._dialect.text_parts and len(parts) > 1:
            return [{"role": "user", "content": parts}]
        return [{"role": "user", "content": part["text"] if part["type"] == "text" else [part]} for part in parts]


def _marked(message: Json) -> Json:
    """The message with a mark on the last part of its content."""
    content: str | list[Json] = message["content"]
    *parts, last = [_text(content)] if isinstance(content, str) else content
    if last.get("text") == "":
        return message  # nothing can be marked there
    return {**message, "content": [*parts, {**last, "cache_control": {"type": "ephemeral"}}]}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _image(url: str) -> Json:
    return {"type": "image_url", "image_url": {"url": url}}


def _tools(tools: tuple[ToolSpec, ...]) -> bytes:
    return encode(
        [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            }
            for tool in tools
        ]
    )
