"""The built-in tools, known by their names until somebody wants more of them.

Their modules take 9 ms to import, which the start of a session need not wait for: it is the first request that tells a
model of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.tools.ask_user import Ask
    from agent_lsp.tools.editor import Editor
    from agent_lsp.tools.errands import Subagents
    from agent_lsp.tools.exit_plan import PlanMode
    from agent_lsp.tools.findings import Findings
    from agent_lsp.tools.processes import Commands
    from agent_lsp.tools.read_image import Describe
    from agent_lsp.tools.tool import Tool
    from agent_lsp.tools.web_fetch import Fetch
    from agent_lsp.tools.workspace import Workspace


def _nothing(_: Path) -> bool:
    return False


@frozen
class ToolContext:
    """What the built-in tools of one session work with."""

    workspace: Workspace
    editor: Editor
    commands: Commands
    ask: Ask | None = None
    is_denied: Callable[[Path], bool] = _nothing
    """Paths that tools which walk must pass by."""
    subagents: Subagents | None = None
    plan_mode: PlanMode | None = None
    describe: Describe | None = None
    fetch: Fetch | None = None
    findings: Findings | None = None


class LateTool:
    """A tool by its name, which is what it is told of by before it is made."""

    __slots__ = ("_made", "name")

    def __init__(self, name: str, made: Callable[[], Mapping[str, Tool[Any]]]) -> None:
        self.name, self._made = name, made

    def real(self) -> Tool[Any]:
        """The tool itself."""
        return self._made()[self.name]


def late_tools(context: ToolContext) -> tuple[LateTool, ...]:
    """The built-in tools of one session, all of which are made when one of them is wanted."""

    @cache
    def made() -> Mapping[str, Tool[Any]]:
        from agent_lsp.tools.builtin import builtin_tools

        return {tool.spec.name: tool for tool in builtin_tools(context)}

    return tuple(LateTool(name, made) for name in _names(context))


def useless(*, sees: bool) -> frozenset[str]:
    """The name of the tool that is nothing for a model that sees, or for one that does not."""
    return frozenset({"describe_image" if sees else "read_image"})


def _names(context: ToolContext) -> tuple[str, ...]:
    """The names of `builtin_tools`, in the same order."""
    return (
        *("read_file", "write_file", "edit_file", "apply_patch", "list_files", "search_text"),
        *(("diagnostics",) if context.findings else ()),
        *("exec_command", "input_command", "kill_command", "read_image", "describe_image", "ask_user", "todo_write"),
        *(("run_subagent", "input_subagent", "kill_subagent") if context.subagents else ()),
        *(("exit_plan",) if context.plan_mode else ()),
        *(("web_fetch",) if context.fetch else ()),
    )
