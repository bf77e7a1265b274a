"""Reads the arguments of a command, which are a list: each is named by its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from agent_lsp.errors import InvalidParams
from agent_lsp.server.methods import Params
from agent_lsp.wire import refusals

ModelT = TypeVar("ModelT", bound=BaseModel)


class ExecuteParams(Params):
    """`workspace/executeCommand`."""

    command: str
    arguments: list[Any] | None = None
    work_done_token: str | int | None = None


class Words(Params):
    """An argument that is a text, and not an empty one."""

    words: Annotated[str, Field(min_length=1)]


def is_given(arguments: Sequence[Any] | None, index: int) -> bool:
    """Whether there is an argument; null means that there is none."""
    return bool(arguments) and index < len(arguments) and arguments[index] is not None


def argument(arguments: Sequence[Any] | None, index: int, shape: type[ModelT]) -> ModelT:
    """An argument, read. Raises InvalidParams, which says of which what is wrong."""
    field = f"arguments[{index}]"
    if not arguments or not is_given(arguments, index):
        raise InvalidParams(f"invalid params: {field} is required", [(field, "is required")])
    given: Any = {"words": arguments[index]} if shape is Words else arguments[index]
    try:
        return shape.model_validate(given)
    except ValidationError as error:
        found = refusals.invalid_params(error, given).errors
        errors = [(field if path in ("", "words") else f"{field}.{path}", message) for path, message in found]
        raise InvalidParams(f"invalid params: {errors[0][0]} {errors[0][1]}", errors) from None
