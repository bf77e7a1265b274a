"""The JSON Schema of the protocol: every shape once under `$defs`, and each method pointing at those it uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from pydantic.json_schema import models_json_schema

from agent_lsp.messages.envelope import EventMessage, MetaMessage, ModelMessage
from agent_lsp.server.method_names import PROTOCOL_VERSION
from agent_lsp.server.methods import Params
from agent_lsp.server.reference import CLIENT_NOTIFICATIONS, NOTIFICATIONS, REQUESTS, SERVER_REQUESTS, Exchange, Notice

if TYPE_CHECKING:
    from pydantic import BaseModel

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MESSAGES = (ModelMessage, EventMessage, MetaMessage)

Schema = dict[str, Any]


def protocol_schema() -> Schema:
    """All of it. A client may send null for what it leaves out; what the server leaves out it does not send."""
    models = sorted({*_MESSAGES, *_models()}, key=lambda model: model.__name__)
    references, whole = models_json_schema([(model, "validation") for model in models], by_alias=True)
    shapes: dict[str, Schema] = whole["$defs"]
    taken = {model.__name__ for model in _below(Params)}
    for name, shape in shapes.items():
        _tidy(shape, may_be_null=name in taken)
    shapes = _name_messages(shapes)
    shapes["OmniMessage"] = {
        "description": "A message of a session's stream, as traces have it too.",
        "oneOf": [references[model, "validation"] for model in _MESSAGES],
    }

    def at(model: type[BaseModel]) -> Schema:
        return references[model, "validation"]

    def exchanges(table: Mapping[str, Exchange]) -> Schema:
        return {
            name: {"description": one.purpose, "params": at(one.params), "result": at(one.result)}
            for name, one in table.items()
        }

    def notices(table: Mapping[str, Notice]) -> Schema:
        return {name: {"description": one.purpose, "params": at(one.params)} for name, one in table.items()}

    return {
        "$schema": DIALECT,
        "title": "agent-lsp protocol",
        "version": PROTOCOL_VERSION,
        "requests": exchanges(REQUESTS),
        "serverRequests": exchanges(SERVER_REQUESTS),
        "notifications": notices(NOTIFICATIONS),
        "clientNotifications": notices(CLIENT_NOTIFICATIONS),
        "$defs": dict(sorted(shapes.items())),
    }


def _models() -> Iterable[type[BaseModel]]:
    for one in (*REQUESTS.values(), *SERVER_REQUESTS.values()):
        yield from (one.params, one.result)
    for notice in (*NOTIFICATIONS.values(), *CLIENT_NOTIFICATIONS.values()):
        yield notice.params


def _below(model: type[BaseModel]) -> Iterable[type[BaseModel]]:
    for one in model.__subclasses__():
        yield one
        yield from _below(one)


def _tidy(shape: Schema, *, may_be_null: bool) -> None:
    """Has a shape say what is sent: no null for what is left out, always the constant that tells it apart."""
    for name, given in shape.get("properties", {}).items():
        given.pop("title", None)
        kept = [one for one in given.get("anyOf", ()) if one != {"type": "null"}]
        if kept and given.get("default", ...) is None and not may_be_null:
            del given["anyOf"], given["default"]
            given |= kept[0] if len(kept) == 1 else {"anyOf": kept}
        if "const" in given or not may_be_null:
            is_always_there = given.pop("default", None) is not None
            if is_always_there:
                shape.setdefault("required", []).append(name)


def _name_messages(value: Any) -> Any:
    """The value with `OmniMessage` wherever all three envelopes are offered."""
    if isinstance(value, list):
        return [_name_messages(one) for one in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    given = cast("Schema", value)
    offered: list[Any] = given.get("oneOf", [])
    if {one.get("$ref") for one in offered} == {f"#/$defs/{model.__name__}" for model in _MESSAGES}:
        return {"$ref": "#/$defs/OmniMessage"}
    return {name: _name_messages(one) for name, one in given.items()}
