"""todo_write: the plan that the person sees."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Annotated, Literal

from pydantic import Field

from agent_lsp.policy.access import Access, Preview
from agent_lsp.tools.arguments import Arguments
from agent_lsp.tools.tool import End, Spec

_MARKS = {"pending": "[ ]", "in_progress": "[~]", "done": "[x]"}


class TodoItem(Arguments):
    """One step of the plan."""

    text: Annotated[str, Field(min_length=1)]
    status: Literal["pending", "in_progress", "done"] = "pending"


class TodoWriteArgs(Arguments):
    """Arguments of todo_write."""

    items: list[TodoItem] = Field(description="The whole plan, in order; it takes the place of the one before.")


class TodoWrite:
    """The plan is in the call itself: front ends show it from there, and the model reads it back in the output."""

    spec = Spec(
        "todo_write",
        "Shows the person a plan of the work as a list of steps, each pending, in_progress or done. Give the whole"
        " list each"
        " time. Worth it for work of several steps; not for small things.",
        TodoWriteArgs,
        "r",
    )

    def title(self, args: TodoWriteArgs) -> str:
        """How far the plan has come."""
        done = sum(item.status == "done" for item in args.items)
        return f"Plan: {done} of {len(args.items)} done"

    def access(self, args: TodoWriteArgs) -> Access:
        """Touches nothing but the session's own plan."""
        return Access("own")

    async def preview(self, args: TodoWriteArgs) -> Preview | None:
        """Nothing changes, so there is nothing to show."""
        return None

    async def run(self, args: TodoWriteArgs) -> AsyncGenerator[str | End, None]:
        """Gives the plan as it now is."""
        yield End("\n".join(f"{_MARKS[item.status]} {item.text}" for item in args.items) or "The plan is empty.")
