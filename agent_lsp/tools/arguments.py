"""Arguments of a call: read leniently, told strictly.

A model may write numbers and booleans as strings and `null` for what it leaves out. What does not fit is named field by
field, so that the model can mend its call.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator


class Arguments(BaseModel):
    """Arguments of a tool; `null` for a field that has a default means the default."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        given = cast("dict[str, Any]", data)
        return {key: value for key, value in given.items() if value is not None or _is_required(cls, key)}


def _is_required(model: type[BaseModel], name: str) -> bool:
    field = model.model_fields.get(name)
    return field is not None and field.is_required()


def _possible_path(value: str) -> str:
    if not value:
        raise ValueError("must not be empty")
    if "\0" in value:
        raise ValueError("must not hold a NUL character")
    return value


PathText = Annotated[str, AfterValidator(_possible_path)]
"""A path as the model wrote it, relative to the workspace or absolute."""


def parse(model: type[BaseModel], arguments: str) -> BaseModel | str:
    """The arguments as the model's type, or a text that names each field that does not fit."""
    try:
        return model.model_validate_json(arguments if arguments.strip() else "{}")
    except ValidationError as error:
        return "\n".join(f"- {_place(one['loc'])}: {one['msg']}" for one in error.errors(include_url=False))


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "arguments"


@cache
def schema(model: type[BaseModel]) -> dict[str, Any]:
    """A compact JSON Schema of the arguments: no titles, no null variants or defaults, nothing by reference."""
    full = model.model_json_schema()
    definitions = cast("dict[str, Any]", full.pop("$defs", {}))
    compact = cast("dict[str, Any]", _compact(full, definitions))
    compact.pop("description", None)
    compact.setdefault("properties", {})
    return compact


def _compact(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_compact(one, definitions) for one in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    given = cast("dict[str, Any]", node)
    if "$ref" in given:
        return _compact(definitions[str(given["$ref"]).rpartition("/")[2]], definitions)
    if "anyOf" in given:
        variants = [one for one in given["anyOf"] if one != {"type": "null"}]
        if len(variants) == 1:
            given = {**variants[0], **{key: value for key, value in given.items() if key != "anyOf"}}
    compact = {key: _compact(value, definitions) for key, value in given.items() if key != "title" or _is_schema(value)}
    if compact.get("default", ...) is None:
        del compact["default"]
    return compact


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict)  # a property that happens to be called `title`
