"""Plan mode in a session: told to the model when it begins or ends, and left with the person's approval."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_lsp.policy.grants import Grants
    from agent_lsp.policy.modes import ApprovalMode

_ON = (
    "[plan mode is on: look and think, but change nothing; edits and commands are refused. When you know how, call"
    " exit_plan with the plan, for the user to approve]"
)
_OFF = "[plan mode is off: you may make changes]"


def _nothing(_: ApprovalMode) -> None:
    pass


class SessionPlanMode:
    """The plan mode of one session (`tools.exit_plan.PlanMode`, `tools.toolset.Shared`).

    It is told beside the conversation, because the system prompt stays the same while the mode comes and goes. `left`
    is called with the mode that holds then, when the person has approved a plan.
    """

    def __init__(self, grants: Grants) -> None:
        self.left: Callable[[ApprovalMode], None] = _nothing
        self._grants = grants
        self._told = False

    @property
    def is_on(self) -> bool:
        """Whether the approval mode is `plan`."""
        return self._grants.mode == "plan"

    def leave(self) -> str:
        """Goes back to the mode before."""
        mode = self._grants.leave_plan()
        self._told = False  # the call's own output tells it
        self.left(mode)
        return mode

    def take_reports(self) -> tuple[str, ...]:
        """Says so when plan mode has begun or ended since the model heard of it."""
        if self.is_on == self._told:
            return ()
        self._told = self.is_on
        return (_ON if self.is_on else _OFF,)

    async def close(self) -> None:
        """Nothing to end."""


if TYPE_CHECKING:
    from agent_lsp.tools import exit_plan
    from agent_lsp.tools.shared import Shared

    _: tuple[type[Shared], type[exit_plan.PlanMode]] = (SessionPlanMode, SessionPlanMode)
