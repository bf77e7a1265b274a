"""What a loop session is given on the wire: limits, a preparation, a history in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field, ValidationError

from agent_lsp.config.sections import Loop
from agent_lsp.config.spelling import to_camel
from agent_lsp.errors import InvalidParams
from agent_lsp.loop.options import Preparation
from agent_lsp.messages.content import Content, Text
from agent_lsp.server.history import read_seed
from agent_lsp.server.hub import refuse
from agent_lsp.server.methods import NewParams, Params

if TYPE_CHECKING:
    from agent_lsp.messages.events import Mode
    from agent_lsp.server.run_methods import RunParams

_ROLES = ("user", "assistant")


class PreparationParams(Params):
    """`preparation` of `agent/session/new`."""

    text: Annotated[str, Field(min_length=1)]
    tools: list[str] | None = None
    context: bool = False
    retries: Annotated[int, Field(ge=0)] = 1


def read(mode: Mode, params: NewParams) -> dict[str, Any]:
    """What a new session is given, by the names of `SessionSpec`. Raises InvalidParams naming each wrong field."""
    refuse_what_is_not_for(mode, params)
    return {
        "initial_history": read_history(mode, params.initial_history),
        "limits": read_limits(params.limits),
        "preparation": read_preparation(params.preparation),
    }


def refuse_what_is_not_for(mode: Mode, params: NewParams | RunParams) -> None:
    """Raises InvalidParams for what only loop mode knows."""
    if mode == "loop":
        return
    for field in ("limits", "preparation", "expected", "max_retries"):
        if getattr(params, field, None) is not None:
            raise refuse(to_camel(field), "is for loop mode only")


def check_retries(params: RunParams) -> None:
    """Raises InvalidParams for a number of retries that is none."""
    if params.max_retries is not None and params.max_retries < 0:
        raise refuse("maxRetries", "must not be negative")


def read_limits(given: dict[str, Any] | None) -> Mapping[str, Any]:
    """The limits that were given, by the names of the settings. Raises InvalidParams naming each wrong one."""
    try:
        return Loop.model_validate(given or {}).model_dump(exclude_unset=True)
    except ValidationError as error:
        raise _refused("limits", error) from None


def read_preparation(given: dict[str, Any] | None) -> Preparation | None:
    """The preparation. Raises InvalidParams naming each wrong field."""
    if given is None:
        return None
    try:
        read = PreparationParams.model_validate(given)
    except ValidationError as error:
        raise _refused("preparation", error) from None
    return Preparation(read.text, None if read.tools is None else tuple(read.tools), read.context, read.retries)


def read_history(mode: Mode, given: list[dict[str, Any]] | None) -> tuple[Content, ...]:
    """An `initialHistory`: messages in native mode, what either side said in loop mode. Raises InvalidParams."""
    if mode == "native":
        return read_seed(given or [])
    return tuple(_said(f"initialHistory[{index}]", cast("Any", item)) for index, item in enumerate(given or []))


def _said(where: str, item: Any) -> Text:
    role, message = item.get("role"), item.get("message")
    if role not in _ROLES:
        raise refuse(f"{where}.role", "must be user or assistant")
    if not isinstance(message, str) or not message.strip():
        raise refuse(f"{where}.message", "must be a text that is not blank")
    return Text(role=role, text=message)


def _refused(field: str, error: ValidationError) -> InvalidParams:
    wrong = [
        (".".join([field, *(to_camel(str(part)) for part in one["loc"])]), one["msg"])
        for one in error.errors(include_url=False)
    ]
    return InvalidParams(f"invalid params: {', '.join(path for path, _ in wrong)}", wrong)
