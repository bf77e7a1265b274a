"""JSON Schema in the words of OpenAPI that older Gemini servers know."""

from __future__ import annotations

from typing import Any, cast

from agent_lsp.providers.shape import as_dict, as_list

_KEPT = ("title", "description", "format", "enum", "required", "minimum", "maximum", "minItems", "maxItems", "pattern")
_DEEPEST = 32


def to_openapi(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The schema without what has no place there; None for an object without properties, which is refused."""
    converted = _converted(schema, as_dict(schema.get("$defs")) | as_dict(schema.get("definitions")), 0)
    return converted if converted.get("properties") else None


def _converted(schema: dict[str, Any], definitions: dict[str, Any], depth: int) -> dict[str, Any]:
    """References are replaced by what they refer to, as deep as is sane."""
    if isinstance(schema.get("$ref"), str):
        schema = {**as_dict(definitions.get(schema["$ref"].rsplit("/", 1)[-1])), **schema}
    result = {name: schema[name] for name in _KEPT if name in schema}
    if "const" in schema:
        result["enum"] = [schema["const"]]
    if "enum" in result:
        result["enum"] = [str(one) for one in as_list(result["enum"])]
    _set_type(result, schema)
    if depth >= _DEEPEST:
        return result
    if properties := as_dict(schema.get("properties")):
        result["properties"] = {
            name: _converted(as_dict(inner), definitions, depth + 1) for name, inner in properties.items()
        }
    if isinstance(schema.get("items"), dict):
        result["items"] = _converted(schema["items"], definitions, depth + 1)
    for choice in as_list(schema.get("anyOf")) or as_list(schema.get("oneOf")):
        if as_dict(choice).get("type") == "null":
            result["nullable"] = True
        else:
            result.setdefault("anyOf", []).append(_converted(as_dict(choice), definitions, depth + 1))
    return result


def _set_type(result: dict[str, Any], schema: dict[str, Any]) -> None:
    """One type, with a flag where it may be null too; values to choose from are strings there."""
    given = schema.get("type")
    kinds = [str(one) for one in cast("list[Any]", given)] if isinstance(given, list) else [given] if given else []
    if "null" in kinds:
        result["nullable"] = True
    if kind := next((one for one in kinds if one != "null"), None):
        result["type"] = "string" if "enum" in result else kind
    elif "enum" in result:
        result["type"] = "string"
