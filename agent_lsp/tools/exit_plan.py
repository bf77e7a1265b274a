"""exit_plan: the plan that a session in mode `plan` comes to, for the person to approve.

It is offered in every mode, because a person may turn plan mode on at any time and the tools of a context do not change
in the middle of it; outside that mode it fails without anybody being asked.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from pydantic import Field

from agent_lsp.policy.access import Access, Preview, TextPreview
from agent_lsp.tools.arguments import Arguments
from agent_lsp.tools.tool import End, Spec, failed


class PlanMode(Protocol):
    """The approval mode of the session, as far as plans are concerned."""

    @property
    def is_on(self) -> bool:
        """Whether the mode is `plan`."""
        ...

    def leave(self) -> str:
        """Goes back to the mode before; returns the mode that holds now."""
        ...


class ExitPlanArgs(Arguments):
    """Arguments of exit_plan."""

    plan: str = Field(min_length=1, description="The whole plan, as Markdown: what you will change, where, and why.")


class ExitPlan:
    """Approved by the person, it ends plan mode; denied, what they say comes back with the denial."""

    spec = Spec(
        "exit_plan",
        "In plan mode only: shows the user your plan. Approved, plan mode ends and you carry it out; denied, change it"
        " as they say.",
        ExitPlanArgs,
        "rw",
    )

    def __init__(self, mode: PlanMode) -> None:
        self._mode = mode

    def title(self, args: ExitPlanArgs) -> str:
        """The plan's first words."""
        first = next((line.strip("# ") for line in args.plan.splitlines() if line.strip("# ")), "")
        return f"Plan: {first}"

    def access(self, args: ExitPlanArgs) -> Access:
        """A question to the person, if there is anything to ask."""
        return Access("ask" if self._mode.is_on else "own")

    async def preview(self, args: ExitPlanArgs) -> Preview | None:
        """The plan."""
        return TextPreview(args.plan)

    async def run(self, args: ExitPlanArgs) -> AsyncGenerator[str | End, None]:
        """Ends plan mode."""
        if not self._mode.is_on:
            yield failed("This is not plan mode: there is nothing to leave. Go on with the task.")
            return
        now = self._mode.leave()
        yield End(f"The user has approved the plan. The approval mode is {now} now: carry the plan out.")
