"""TypeScript types of the protocol, made from its JSON Schema: an interface for each shape, a map for the methods."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from agent_lsp.server.protocol_schema import Schema

_HEAD = """\
// Types of the agent-lsp protocol, version {version}. Made by `agent-lsp schema typescript`; not to be edited.
"""
_PRIMITIVES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_PLAIN_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_MAPS = (
    ("AgentRequests", "requests", "What a client may ask."),
    ("AgentServerRequests", "serverRequests", "What a client is asked, if it has declared that it can be."),
    ("AgentNotifications", "notifications", "What a client is told."),
    ("AgentClientNotifications", "clientNotifications", "What a client may tell."),
)


def typescript(schema: Schema) -> str:
    """The whole file, ending with a line end."""
    shapes = [_shape(name, shape) for name, shape in schema["$defs"].items()]
    maps = ["\n".join(_map(name, schema[key], purpose)) for name, key, purpose in _MAPS]
    return "\n\n".join([_HEAD.format(version=schema["version"]).rstrip(), *shapes, *maps]) + "\n"


def _shape(name: str, shape: Schema) -> str:
    comment = _comment(shape.get("description"), "")
    if shape.get("type") != "object":
        return f"{comment}export type {name} = {type_of(shape)};"
    fields = shape.get("properties", {})
    required = shape.get("required", ())
    lines = [f"  {_key(field)}{'' if field in required else '?'}: {type_of(given)};" for field, given in fields.items()]
    if shape.get("additionalProperties") is True:
        lines.append("  [name: string]: unknown;")
    body = "\n".join(lines)
    return f"{comment}export interface {name} {{\n{body}\n}}" if lines else f"{comment}export type {name} = object;"


def _map(name: str, methods: Schema, purpose: str) -> Iterator[str]:
    yield f"{_comment(purpose, '')}export interface {name} {{"
    for method, one in methods.items():
        yield f"{_comment(one['description'], '  ')}  {json.dumps(method)}: {_signature(one)};"
    yield "}"


def _signature(one: Schema) -> str:
    params = type_of(one["params"])
    return f"{{ params: {params}; result: {type_of(one['result'])} }}" if "result" in one else f"{{ params: {params} }}"


def type_of(given: Schema) -> str:
    """The type of a value."""
    if "$ref" in given:
        return str(given["$ref"]).rpartition("/")[2]
    if "const" in given:
        return json.dumps(given["const"])
    if "enum" in given:
        return " | ".join(json.dumps(value) for value in given["enum"])
    for choice in ("anyOf", "oneOf"):
        if choice in given:
            return " | ".join(dict.fromkeys(type_of(cast("Schema", one)) for one in given[choice]))
    match given.get("type"):
        case "array":
            return f"{_grouped(type_of(given.get('items') or {}))}[]"
        case "object":
            return f"Record<string, {_record(given.get('additionalProperties'))}>"
        case str(name):
            return _PRIMITIVES[name]
        case _:
            return "unknown"


def _record(values: Any) -> str:
    return type_of(cast("Schema", values)) if isinstance(values, dict) else "unknown"


def _grouped(text: str) -> str:
    return f"({text})" if "|" in text else text


def _key(field: str) -> str:
    return field if _PLAIN_NAME.fullmatch(field) else json.dumps(field)


def _comment(text: str | None, indent: str) -> str:
    if not text:
        return ""
    lines = text.strip().splitlines()
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return "".join([f"{indent}/**\n", *(f"{indent} * {line}".rstrip() + "\n" for line in lines), f"{indent} */\n"])
