"""A context as the body of a generateContent request."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pydantic_core import from_json

from agent_lsp.messages.content import Content, ImageUrl, InlineData, Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.events import ToolSpec
from agent_lsp.providers.encoding import NOT_SHOWN, Latest, encode, own_fidelity, runs, split_data_url
from agent_lsp.providers.gemini.schema import to_openapi
from agent_lsp.providers.gemini.stream import ADAPTER
from agent_lsp.providers.shape import as_dict, as_list, as_text
from agent_lsp.providers.thinking import Style, Wording, gemini_style, wording
from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.engine.ports import Commit, Request
    from agent_lsp.providers.endpoint import Endpoint

JSON_SCHEMA = "parametersJsonSchema"
REPLY_JSON_SCHEMA, REPLY_SCHEMA = "responseJsonSchema", "responseSchema"
"""Where the schema of the reply stands, and where an older server looks for it in its own words."""

UNSIGNED = "skip_thought_signature_validator"
"""What the provider takes in the place of a signature for a call that it did not make itself."""

_OPENING = b'{"role":"user","parts":[{"text":"(earlier)"}]},'
_NEWEST = re.compile(r"gemini-([3-9]|\d\d)")

Json = dict[str, Any]


@frozen
class Made:
    """What the result of a call has to repeat: the tool's name, and the id if the provider gave one."""

    name: str
    call_id: str | None


@frozen
class Encoded:
    """Contents as JSON, joined by commas, and the calls that are in them."""

    json: bytes
    made: Mapping[str, Made]


class GeminiEncoder:
    """Encodes the requests to one endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._style: Style = gemini_style(endpoint.model)
        self._is_newest = bool(_NEWEST.search(endpoint.model))
        self._kept: WeakKeyDictionary[Commit, Encoded] = WeakKeyDictionary()
        self._tools = {
            field: Latest[tuple[ToolSpec, ...], bytes](declare)
            for field, declare in ((JSON_SCHEMA, _tools), ("parameters", _plain_tools))
        }

    def body(self, request: Request, refused: frozenset[str], *, with_signatures: bool = True) -> bytes:
        """The body, less what the server is known to refuse. A longer context extends a shorter one's contents."""
        tools = self._tools["parameters" if JSON_SCHEMA in refused else JSON_SCHEMA]
        settings: Json = {**self.wording(request, refused), **reply_format(request, refused)}
        if self._endpoint.max_output_tokens:
            settings["maxOutputTokens"] = self._endpoint.max_output_tokens
        contents = b",".join(filter(None, self._contents(request, with_signatures)))
        if contents.startswith(b'{"role":"model"'):  # the first word has to be the user's
            contents = _OPENING + contents
        fields = [
            *([b'"systemInstruction":' + encode({"parts": [{"text": request.system}]})] if request.system else []),
            *([b'"tools":' + tools(request.tools)] if request.tools else []),
            b'"contents":[' + contents + b"]",
            *([b'"generationConfig":' + encode(settings)] if settings else []),
        ]
        return b"{" + b",".join(fields) + b"}"

    def wording(self, request: Request, refused: frozenset[str]) -> Wording:
        """How this request asks for thinking."""
        return wording(self._style, request.thinking_level, refused)

    def _contents(self, request: Request, with_signatures: bool) -> Iterator[bytes]:
        """Everything in order. A result needs the name of its call, which was made in an earlier commit."""
        made: dict[str, Made] = {}
        for commit in request.history:
            kept = self._kept.get(commit) if with_signatures else None
            if kept is None:
                kept = self._encoded(commit.messages, made, with_signatures)
                if with_signatures:
                    self._kept[commit] = kept
            made |= kept.made
            yield kept.json
        yield self._encoded(request.input, made, with_signatures).json

    def _encoded(self, messages: Sequence[Content], earlier: Mapping[str, Made], with_signatures: bool) -> Encoded:
        contents: list[bytes] = []
        made: dict[str, Made] = {}
        for is_model, run in runs(messages):
            if is_model:
                made |= {one.tool_call_id: self._made(one) for one in run if isinstance(one, ToolCall)}
                contents.append(_content(b"model", self._model(run, with_signatures)))
            else:
                known = {**earlier, **made}
                outputs = [one for one in run if isinstance(one, ToolCallOutput)]
                contents.append(_content(b"user", [encode(self._response(one, known)) for one in outputs]))
                shown = [url for one in outputs for url in one.images or ()] if not self._is_newest else []
                parts = [*map(self._image, shown), *(part for one in run for part in self._parts(one))]
                contents.append(_content(b"user", map(encode, parts)))
        return Encoded(b",".join(filter(None, contents)), made)

    # --- the model's side ---------------------------------------------------------------------------------------------

    def _model(self, run: list[Content], with_signatures: bool) -> list[bytes]:
        """The parts in their order. Thinking alone is no turn."""
        if not any(isinstance(one, ToolCall) or (isinstance(one, Text) and one.text) for one in run):
            return []
        parts: list[bytes] = []
        is_first = True
        for one in run:
            own = self._own(one) if with_signatures else {}
            if isinstance(one, ToolCall):
                signature = as_text(own.get("signature")) or (UNSIGNED if is_first and self._is_newest else "")
                parts.append(_call(one, self._made(one).call_id, signature))
                is_first = False
            elif isinstance(one, Text):
                parts += map(encode, _words(one.text, own, {}))
            elif isinstance(one, Thinking) and (part := own.get("part")):
                parts.append(encode(part))
            elif isinstance(one, Thinking) and own.get("parts"):
                parts += map(encode, _words(one.thinking, own, {"thought": True}))
        return parts

    def _own(self, message: Content) -> Json:
        """The fidelity that this very provider's replies left."""
        mark = own_fidelity(message.fidelity, ADAPTER)
        return mark if mark.get("provider") == self._endpoint.provider else {}

    def _made(self, call: ToolCall) -> Made:
        """Not every server knows ids: they go back only where they came from there."""
        return Made(call.name, as_text(self._own(call).get("id")) or None)

    # --- the user's side ----------------------------------------------------------------------------------------------

    def _response(self, output: ToolCallOutput, known: Mapping[str, Made]) -> Json:
        call = known.get(output.tool_call_id) or Made("unknown", None)
        failed = output.stop_reason not in (None, "completed")
        response: Json = {"name": call.name, "response": {"error" if failed else "output": output.output}}
        if call.call_id:
            response = {"id": call.call_id, **response}
        if output.images and self._is_newest:
            images = [self._image(url) for url in output.images]
            inline = [image for image in images if "inlineData" in image]
            response |= {"parts": inline} if inline else {}
            notes = [image["text"] for image in images if "text" in image]
            if notes:
                response["response"]["images"] = "\n".join(notes)
        return {"functionResponse": response}

    def _parts(self, message: Content) -> list[Json]:
        match message:
            case Text():
                return [{"text": message.text}] if message.text else []
            case ImageUrl():
                return [self._image(message.image_url)]
            case InlineData(mime_type=kind, data=data):
                if kind.startswith("image/"):
                    return [self._image(f"data:{kind};base64,{data}")]
                return [{"inlineData": {"mimeType": kind, "data": data}}]
            case _:
                return []

    def _image(self, url: str) -> Json:
        if not self._endpoint.vision:
            return {"text": NOT_SHOWN.format(why="the model takes none")}
        if data := split_data_url(url):
            return {"inlineData": {"mimeType": data[0], "data": data[1]}}
        kind = mimetypes.guess_type(url.partition("?")[0])[0] or "image/jpeg"
        return {"fileData": {"mimeType": kind, "fileUri": url}}


def reply_format(request: Request, refused: frozenset[str]) -> Json:
    """What holds the reply to the request's schema, in the newest words that the server is not known to refuse."""
    schema = as_dict(request.response_schema)
    if schema and REPLY_JSON_SCHEMA not in refused:
        return {"responseMimeType": "application/json", REPLY_JSON_SCHEMA: schema}
    if REPLY_SCHEMA not in refused and (plain := to_openapi(schema)):
        return {"responseMimeType": "application/json", REPLY_SCHEMA: plain}
    return {}


def _content(role: bytes, parts: Sequence[bytes] | Iterator[bytes]) -> bytes:
    joined = b",".join(parts)
    return b'{"role":"' + role + b'","parts":[' + joined + b"]}" if joined else b""


def _words(text: str, own: Json, more: Json) -> list[Json]:
    """The text, cut into the parts in which it came where any was signed."""
    given = [[*as_list(one), "", ""][:2] for one in as_list(own.get("parts"))]
    parts: list[tuple[Any, str]] = [(length, as_text(signature)) for length, signature in given]
    if sum(length for length, _ in parts if isinstance(length, int)) != len(text):
        parts = [(len(text), next((signature for _, signature in parts if signature), ""))]
    rendered: list[Json] = []
    at = 0
    for length, signature in parts:
        piece, at = text[at : at + length], at + length
        if piece or signature:
            rendered.append({"text": piece, **more, **({"thoughtSignature": signature} if signature else {})})
    return rendered


def _call(call: ToolCall, call_id: str | None, signature: str) -> bytes:
    """The arguments stand as they were kept: written anew they might not be the same bytes."""
    raw = call.arguments.strip() or "{}"
    try:
        is_object = isinstance(from_json(raw, allow_inf_nan=False), dict)
    except ValueError:
        is_object = False
    head = encode({**({"id": call_id} if call_id else {}), "name": call.name})
    function = head[:-1] + b',"args":' + (raw.encode() if is_object else b"{}") + b"}"
    signed = b',"thoughtSignature":' + encode(signature) if signature else b""
    return b'{"functionCall":' + function + signed + b"}"


def _tools(tools: tuple[ToolSpec, ...]) -> bytes:
    return _declared([_named(tool) | {JSON_SCHEMA: as_dict(tool.parameters)} for tool in tools])


def _plain_tools(tools: tuple[ToolSpec, ...]) -> bytes:
    schemas = [to_openapi(as_dict(tool.parameters)) for tool in tools]
    named = zip(map(_named, tools), schemas, strict=True)
    return _declared([tool | ({"parameters": schema} if schema else {}) for tool, schema in named])


def _named(tool: ToolSpec) -> Json:
    return {"name": tool.name, "description": tool.description}


def _declared(functions: list[Json]) -> bytes:
    return encode([{"functionDeclarations": functions}])
