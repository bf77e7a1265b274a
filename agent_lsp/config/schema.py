"""The JSON Schema of the configuration.

What a setting is for stands below it in the source. It is read from there only when a schema is asked for: pydantic
could do it at import, which would cost every start of the server 20 ms.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from agent_lsp.config import sections, settings
from agent_lsp.config.settings import Settings
from agent_lsp.config.spelling import to_camel

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(*, camel: bool = False) -> dict[str, Any]:
    """The schema of the user's TOML file, or (`camel`) of the same settings as JSON clients spell them."""
    schema = Settings.model_json_schema(by_alias=camel)
    described = dict([*_descriptions(sections), *_descriptions(settings)])
    for name, section in {"Settings": schema, **schema["$defs"]}.items():
        for field, text in described.get(name, {}).items():
            section["properties"][to_camel(field) if camel else field]["description"] = text
    return {"$schema": DIALECT, **schema, "title": "agent-lsp configuration"}


def _descriptions(module: ModuleType) -> Iterator[tuple[str, dict[str, str]]]:
    """The text below each attribute of each class of a module, by class and attribute."""
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef):
            yield node.name, dict(_below_attributes(node))


def _below_attributes(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for attribute, below in zip(node.body, node.body[1:], strict=False):
        match attribute, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, inspect.cleandoc(text)
            case _:
                pass
