"""A context as the body of a Responses request. Nothing is kept at the provider: each request has all of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agent_lsp.messages.content import Content, ImageUrl, InlineData, Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.events import ToolSpec
from agent_lsp.providers.encoding import NOT_SHOWN, Joined, Latest, encode, fitting_id, listed, own_fidelity, runs
from agent_lsp.providers.openai_responses.stream import ADAPTER
from agent_lsp.providers.shape import as_dict
from agent_lsp.providers.thinking import Style, Wording, openai_style, wording

if TYPE_CHECKING:
    from agent_lsp.engine.ports import Request
    from agent_lsp.providers.endpoint import Endpoint

_UP_TO_64 = re.compile(r".{1,64}", re.DOTALL)
_ENCRYPTED = "reasoning.encrypted_content"

Json = dict[str, Any]


class ResponsesEncoder:
    """Encodes the requests to one endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._style: Style = openai_style(endpoint.model)
        self._history = Joined(self._encoded)
        self._tools = Latest[tuple[ToolSpec, ...], bytes](_tools)

    def body(self, request: Request, refused: frozenset[str], *, with_thoughts: bool = True) -> bytes:
        """The body, less what the server is known to refuse. A longer context extends a shorter one's input."""
        if with_thoughts:
            items = [self._history(request.history), self._encoded(request.input)]
        else:
            everything = (*(commit.messages for commit in request.history), request.input)
            items = [self._encoded(messages, with_thoughts=False) for messages in everything]
        head = (b'{"model":', encode(self._endpoint.model))
        instructions = (b',"instructions":', encode(request.system)) if request.system else ()
        tools = (b',"tools":', self._tools(request.tools)) if request.tools else ()
        settings = (b",", encode(self._settings(request, refused))[1:])
        return b"".join((*head, *instructions, *tools, b',"input":[', *listed(items), b"]", *settings))

    def wording(self, request: Request, refused: frozenset[str]) -> Wording:
        """How this request asks for reasoning, the summary aside."""
        return wording(self._style, request.thinking_level, refused)

    def optional(self, request: Request, refused: frozenset[str]) -> Json:
        """The settings that a server may refuse, under the names by which they are given up."""
        settings: Json = {"store": False}
        if self._style != "silent":
            settings["include"] = [_ENCRYPTED]
        if self._endpoint.max_output_tokens:
            settings["max_output_tokens"] = self._endpoint.max_output_tokens
        if request.session_id:
            settings["prompt_cache_key"] = request.session_id[:64]
        if request.response_schema:
            schema = {"name": "decision", "schema": request.response_schema, "strict": False}
            settings["text"] = {"format": {"type": "json_schema", **schema}}
        return {name: value for name, value in settings.items() if name not in refused}

    def _settings(self, request: Request, refused: frozenset[str]) -> Json:
        settings: Json = {"stream": True, **self.optional(request, refused)}
        reasoning: Json = dict(as_dict(self.wording(request, refused).get("reasoning")))
        if reasoning.get("effort") not in (None, "none") and "summary" not in refused:
            reasoning["summary"] = "auto"
        return settings | ({"reasoning": reasoning} if reasoning else {})

    def _encoded(self, messages: Sequence[Content], *, with_thoughts: bool = True) -> bytes:
        rendered: list[Json] = []
        for is_model, run in runs(messages):
            rendered += self._model(run, with_thoughts) if is_model else self._user(run)
        return b",".join(map(encode, rendered))

    # --- the model's side ---------------------------------------------------------------------------------------------

    def _model(self, run: list[Content], with_thoughts: bool) -> list[Json]:
        """The items in their order. Reasoning alone is no turn.

        Items that know each other by their ids go back with all of them, or with none: one that misses its companion
        is refused.
        """
        if not any(isinstance(one, ToolCall) or (isinstance(one, Text) and one.text) for one in run):
            return []
        items = [(one, as_dict(self._own(one).get("item"))) for one in run]
        known = [bool(item.get("id")) and _is_readable(item) for one, item in items if not _is_blank(one)]
        named = with_thoughts and all(known)
        rendered: list[Json] = []
        for one, item in items:
            kept = item if named else {name: value for name, value in item.items() if name not in ("id", "status")}
            if isinstance(one, Text) and one.text:
                said: Json = {"type": "output_text", "text": one.text, "annotations": []}
                rendered.append({"type": "message", "role": "assistant", **kept, "content": [said]})
            elif isinstance(one, ToolCall):
                call = {"type": "function_call", "name": one.name, **kept, "call_id": _id(one.tool_call_id)}
                rendered.append(call | {"arguments": one.arguments if one.arguments.strip() else "{}"})
            elif isinstance(one, Thinking) and item and with_thoughts and _is_readable(item):
                rendered.append(kept)
        return rendered

    def _own(self, message: Content) -> Json:
        """The fidelity that this very provider's replies left."""
        mark = own_fidelity(message.fidelity, ADAPTER)
        return mark if mark.get("provider") == self._endpoint.provider else {}

    # --- the user's side ----------------------------------------------------------------------------------------------

    def _user(self, run: list[Content]) -> list[Json]:
        """The results of tools, then one message with everything else."""
        outputs = [self._output(one) for one in run if isinstance(one, ToolCallOutput)]
        parts = [part for one in run for part in self._parts(one)]
        if not parts:
            return outputs
        is_plain = len(parts) == 1 and parts[0]["type"] == "input_text"
        return [*outputs, {"role": "user", "content": parts[0]["text"] if is_plain else parts}]

    def _output(self, output: ToolCallOutput) -> Json:
        shown: str | list[Json] = output.output
        if output.images:
            shown = [*([_text(output.output)] if output.output else []), *map(self._image, output.images)]
        return {"type": "function_call_output", "call_id": _id(output.tool_call_id), "output": shown}

    def _parts(self, message: Content) -> list[Json]:
        match message:
            case Text():
                return [_text(message.text)] if message.text else []
            case ImageUrl():
                return [self._image(message.image_url)]
            case InlineData(mime_type=kind, data=data):
                url = f"data:{kind};base64,{data}"
                if kind.startswith("image/"):
                    return [self._image(url)]
                if kind == "application/pdf":
                    return [{"type": "input_file", "filename": "attached.pdf", "file_data": url}]
                return [_text(f"[attached data not shown: {kind}]")]
            case _:
                return []

    def _image(self, url: str) -> Json:
        if not self._endpoint.vision:
            return _text(NOT_SHOWN.format(why="the model takes none"))
        return {"type": "input_image", "image_url": url}


def _is_readable(item: Json) -> bool:
    """Whether the provider, which kept nothing, can still make something of the item: reasoning has to be in it."""
    return item.get("type") != "reasoning" or bool(item.get("encrypted_content") or item.get("content"))


def _is_blank(message: Content) -> bool:
    return isinstance(message, Text) and not message.text


def _text(text: str) -> Json:
    return {"type": "input_text", "text": text}


def _id(call_id: str) -> str:
    return fitting_id(call_id, _UP_TO_64, 40, "call_")


def _tools(tools: tuple[ToolSpec, ...]) -> bytes:
    return encode(
        [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "strict": False,
            }
            for tool in tools
        ]
    )
