"""A tool made of a function: its name, docstring and parameters are what the model is told."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING, Any, get_type_hints

from pydantic import BaseModel, create_model

from agent_lsp.policy.access import Access, Preview
from agent_lsp.tools.arguments import Arguments
from agent_lsp.tools.tool import End, Spec

if TYPE_CHECKING:
    from agent_lsp.engine.ports import Permission

_TITLE_CHARS = 100


class FunctionTool:
    """Calls a function with the arguments that the model gave, once they fit its annotations."""

    def __init__(self, function: Callable[..., Any], permission: Permission) -> None:
        self._function = function
        told = inspect.cleandoc(function.__doc__ or "")
        self.spec = Spec(function.__name__, told, _arguments(function), permission, source="embedded")

    def title(self, args: BaseModel) -> str:
        """The call as it would be written."""
        given = ", ".join(f"{name}={json.dumps(value, default=str)}" for name, value in _values(args).items())
        return f"{self.spec.name}({given})"[:_TITLE_CHARS]

    def access(self, args: BaseModel) -> Access:
        """One that only reads is not asked about; nobody knows what the others touch."""
        return Access("own" if self.spec.permission == "r" else "other")

    async def preview(self, args: BaseModel) -> Preview | None:
        """The title says it all."""
        return None

    async def run(self, args: BaseModel) -> AsyncGenerator[str | End]:
        """What the function returns, as text; what is no text, as JSON. A plain function runs in a thread."""
        if inspect.iscoroutinefunction(self._function):
            result = await self._function(**_values(args))
        else:
            result = await asyncio.to_thread(self._function, **_values(args))
        yield End(result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str))


def tool(function: Callable[..., Any] | None = None, /, *, permission: Permission = "rw") -> Any:
    """Makes a tool of a function, as `@tool` or `@tool(permission="r")`.

    The docstring is the description, the annotated parameters are the arguments; both go to the model. With `"r"` the
    tool only looks and is never asked about; else each call needs permission. Raises TypeError for a function without
    a docstring, or with a parameter that is not annotated.
    """

    def make(given: Callable[..., Any]) -> FunctionTool:
        return FunctionTool(given, permission)

    return make if function is None else make(function)


def _values(args: BaseModel) -> dict[str, Any]:
    return {name: getattr(args, name) for name in type(args).model_fields}


def _arguments(function: Callable[..., Any]) -> type[BaseModel]:
    name = function.__name__
    if not (function.__doc__ or "").strip():
        raise TypeError(f"{name} needs a docstring: it is what the model is told of the tool")
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"{name}: {parameter} cannot be given by name")
        if parameter.name not in hints:
            raise TypeError(f"{name}: the parameter {parameter.name} needs an annotation")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    return create_model(f"{name}_arguments", __base__=Arguments, **fields)
