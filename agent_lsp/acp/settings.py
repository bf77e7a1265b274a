"""What a person can choose for a session: as modes, and as options, which newer clients show in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast, get_args

from agent_lsp.acp.refusals import refuse
from agent_lsp.engine.ports import ThinkingLevel
from agent_lsp.messages.events import Mode, SessionUpdate
from agent_lsp.policy.modes import APPROVAL_MODES

if TYPE_CHECKING:
    from agent_lsp.sessions.model_source import ModelSource
    from agent_lsp.sessions.open_session import OpenSession

MODES: Final[dict[str, tuple[str, str]]] = {
    "ask": ("Ask", "Ask before every edit and command"),
    "read-only": ("Read only", "Look at things, change nothing"),
    "plan": ("Plan", "Look at things and work out a plan"),
    "auto-edit": ("Accept edits", "Edit files in the workspace, ask before commands"),
    "allow-all": ("Allow all", "Never ask"),
}
_DEFAULT = "default"
_LOOPS: Final[dict[str, str]] = {"native": "Native", "loop": "Loop"}


def modes(opened: OpenSession) -> dict[str, Any]:
    """The approval modes, and which one holds."""
    available = [{"id": id, "name": MODES[id][0], "description": MODES[id][1]} for id in APPROVAL_MODES]
    return {"currentModeId": opened.grants.mode, "availableModes": available}


def options(opened: OpenSession, models: ModelSource) -> list[dict[str, Any]]:
    """Every option with its choices and the present one."""
    level = opened.session.thinking_level or _DEFAULT
    levels = [*([_DEFAULT] if level == _DEFAULT else []), *get_args(ThinkingLevel)]
    return [
        _select("mode", "Approval", "mode", opened.grants.mode, {id: MODES[id][0] for id in APPROVAL_MODES}),
        _select("model", "Model", "model", opened.model.name, {name: name for name in choosable(opened, models)}),
        _select("thinking", "Thinking", "thought_level", level, {one: one.capitalize() for one in levels}),
        _select("session_mode", "Session mode", "model_config", opened.mode, _LOOPS),
    ]


def chosen(option: str, value: str, opened: OpenSession, models: ModelSource) -> SessionUpdate:
    """The change that a choice is. Raises InvalidParams for what is not offered."""
    offered = {one["id"]: [choice["value"] for choice in one["options"]] for one in options(opened, models)}
    if option not in offered:
        raise refuse("configId", f"is one of {', '.join(offered)}")
    if value not in offered[option]:
        raise refuse("value", f"is one of {', '.join(offered[option])}")
    match option:
        case "mode":
            return SessionUpdate(approval_mode=value)
        case "model":
            return SessionUpdate(model=value)
        case "thinking":
            return SessionUpdate(thinking_level=None if value == _DEFAULT else value)
        case _:
            return SessionUpdate(mode=cast("Mode", value))


def choosable(opened: OpenSession, models: ModelSource) -> list[str]:
    """The models that could be used now, the present one among them."""
    known = [f"{one['provider']}/{one['model']}" for one in models.listed()["models"] if one["hasCredential"]]
    return known if opened.model.name in known else [opened.model.name, *known]


def _select(id: str, name: str, category: str, value: str, choices: dict[str, str]) -> dict[str, Any]:
    return {
        "id": id,
        "name": name,
        "category": category,
        "type": "select",
        "currentValue": value,
        "options": [{"value": choice, "name": words} for choice, words in choices.items()],
    }
