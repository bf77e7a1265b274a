"""Holds arguments of a call against the JSON Schema of a server, which nobody has vouched for.

Nothing in such a schema may hold us up: no pattern is matched, no address looked up, and a schema that leads in circles
or explodes is left to the server to apply.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from pydantic import RootModel

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MOST_SCHEMA_BYTES = 64 * 1024
_MOST_ERRORS = 20
_MOST_STEPS = 2_000
_LONGEST_MESSAGE = 300
_SKIPPED = ("pattern", "patternProperties", "format", "unevaluatedProperties", "unevaluatedItems", "$dynamicRef")


class McpArguments(RootModel[dict[str, Any]]):
    """The arguments of a call, as they go to the server."""


class _TooMuch(Exception):
    """The schema takes longer to apply than it is worth."""


def is_usable(schema: Mapping[str, Any]) -> bool:
    """Whether a model can be told of the schema: an object's, and of a bearable size."""
    try:
        size = len(json.dumps(schema))
    except (ValueError, RecursionError):
        return False
    return size <= MOST_SCHEMA_BYTES and schema.get("type", "object") == "object"


def parser(schema: Mapping[str, Any]) -> Callable[[str], McpArguments | str]:
    """What makes arguments of a call's text, or a text that names each field that does not fit.

    A schema that is none is not applied; that is found out with the first call.
    """
    is_schema = cache(lambda: _is_schema(schema))

    def parse(text: str) -> McpArguments | str:
        try:
            given: Any = json.loads(text) if text.strip() else {}
        except ValueError as error:
            return f"- arguments: {error}"
        if not isinstance(given, dict):
            return "- arguments: must be an object"
        lenient = _lenient(cast("dict[str, Any]", given), schema)
        wrong = _wrong_fields(lenient, schema) if is_schema() else []
        return "\n".join(wrong) if wrong else McpArguments(lenient)

    return parse


def _lenient(given: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Reads what models tend to write: numbers and booleans as strings, `null` for what they leave out."""
    properties, required = schema.get("properties"), schema.get("required")
    known = cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}
    needed = cast("list[Any]", required) if isinstance(required, list) else []
    read: dict[str, Any] = {}
    for name, value in given.items():
        wanted = _types(known.get(name))
        is_left_out = value is None and wanted and "null" not in wanted and name not in needed
        if not is_left_out:
            read[name] = _read(value, wanted)
    return read


def _types(schema: Any) -> frozenset[str]:
    """The types that the schema of one field names itself."""
    told: Any = cast("dict[str, Any]", schema).get("type") if isinstance(schema, dict) else None
    names = cast("list[Any]", told) if isinstance(told, list) else [told]
    return frozenset(name for name in names if isinstance(name, str))


def _read(value: Any, wanted: frozenset[str]) -> Any:
    if not isinstance(value, str) or "string" in wanted:
        return value
    try:
        read = json.loads(value)
    except ValueError:
        return value
    if isinstance(read, bool):
        return read if "boolean" in wanted else value
    return read if isinstance(read, int | float) and wanted & {"integer", "number"} else value


def _wrong_fields(given: dict[str, Any], schema: Mapping[str, Any]) -> list[str]:
    from jsonschema.exceptions import UnknownType, ValidationError
    from referencing.exceptions import Unresolvable

    told: list[str] = []
    try:
        for error in _validator(schema).iter_errors(given):
            assert isinstance(error, ValidationError)
            told.append(f"- {_place(error)}: {_short(error.message)}")
            if len(told) == _MOST_ERRORS:
                break
    except (_TooMuch, RecursionError, Unresolvable, UnknownType):
        return told  # the server will say what it thinks of the arguments
    return told


def _is_schema(schema: Mapping[str, Any]) -> bool:
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)  # pyright: ignore[reportUnknownMemberType]
    except (SchemaError, RecursionError):
        return False
    return True


def _place(error: Any) -> str:
    """The field that does not fit: for one that is missing, its own name and not its parent's."""
    path = [str(part) for part in error.absolute_path]
    if error.validator == "required":
        path += [name for name in error.validator_value if name not in error.instance and f"{name!r}" in error.message]
    return ".".join(path) or "arguments"


def _short(message: str) -> str:
    return message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]}…"


def _validator(schema: Mapping[str, Any]) -> Validator:
    from referencing import Registry

    nothing_to_look_up: Registry[Any] = Registry()
    return _bounded_class()(schema, registry=nothing_to_look_up)


def _bounded_class() -> Any:
    """A validator class with a count of its own, so that no schema can take for ever."""
    from jsonschema import Draft202012Validator, validators

    extend = cast("Callable[..., Any]", validators.extend)  # pyright: ignore[reportUnknownMemberType]
    steps = 0

    def counted(keyword: Any) -> Any:
        def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
            nonlocal steps
            steps += 1
            if steps > _MOST_STEPS:
                raise _TooMuch
            yield from keyword(validator, value, instance, schema) or ()

        return check

    original = dict(Draft202012Validator.VALIDATORS)
    kept: dict[str, Any] = {name: counted(keyword) for name, keyword in original.items() if name not in _SKIPPED}
    kept |= dict.fromkeys(_SKIPPED, _nothing)
    kept["additionalProperties"] = counted(_additional(original["additionalProperties"]))
    return extend(Draft202012Validator, kept)


def _additional(original: Any) -> Any:
    """Which properties are additional is a matter of patterns where there are any."""

    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterable[Any]:
        return () if "patternProperties" in schema else original(validator, value, instance, schema) or ()

    return check


def _nothing(*_: Any) -> Iterable[Any]:
    return ()
