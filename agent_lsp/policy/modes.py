"""Approval modes: what each one says to each kind of access, as one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

if TYPE_CHECKING:
    from agent_lsp.policy.access import AccessKind

ApprovalMode = Literal["ask", "read-only", "plan", "auto-edit", "allow-all"]
Answer = Literal["allow", "deny", "ask"]

APPROVAL_MODES: Final[tuple[ApprovalMode, ...]] = get_args(ApprovalMode)

# An access of kind `edit` stands for edits inside the workspace; the guard looks at the paths before it looks here.
MODES: Final[dict[ApprovalMode, dict[AccessKind, Answer]]] = {
    "ask": {"own": "allow", "read": "allow", "edit": "ask", "command": "ask", "other": "ask", "ask": "ask"},
    "read-only": {"own": "allow", "read": "allow", "edit": "deny", "command": "deny", "other": "deny", "ask": "ask"},
    "plan": {"own": "allow", "read": "allow", "edit": "deny", "command": "deny", "other": "deny", "ask": "ask"},
    "auto-edit": {"own": "allow", "read": "allow", "edit": "allow", "command": "ask", "other": "ask", "ask": "ask"},
    "allow-all": {
        "own": "allow",
        "read": "allow",
        "edit": "allow",
        "command": "allow",
        "other": "allow",
        "ask": "allow",
    },
}


def mode_named(name: str) -> ApprovalMode | None:
    """The mode of that name, None if there is none."""
    return next((mode for mode in APPROVAL_MODES if mode == name), None)
