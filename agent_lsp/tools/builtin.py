"""The tools that every session has, in the order in which models are told of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_lsp.tools.apply_patch import ApplyPatch
from agent_lsp.tools.ask_user import AskUser
from agent_lsp.tools.background import InputCommand, KillCommand
from agent_lsp.tools.diagnostics import Diagnostics
from agent_lsp.tools.edit_file import EditFile
from agent_lsp.tools.exec_command import ExecCommand
from agent_lsp.tools.exit_plan import ExitPlan
from agent_lsp.tools.list_files import ListFiles
from agent_lsp.tools.read_file import ReadFile
from agent_lsp.tools.read_image import DescribeImage, ReadImage
from agent_lsp.tools.run_subagent import InputSubagent, KillSubagent, RunSubagent
from agent_lsp.tools.search_text import SearchText
from agent_lsp.tools.todo_write import TodoWrite
from agent_lsp.tools.web_fetch import WebFetch
from agent_lsp.tools.write_file import WriteFile

if TYPE_CHECKING:
    from agent_lsp.tools.late import ToolContext
    from agent_lsp.tools.tool import Tool


def builtin_tools(context: ToolContext) -> tuple[Tool[Any], ...]:
    """The built-in tools of one session; what the context does not have, there are no tools for."""
    workspace, editor, commands = context.workspace, context.editor, context.commands
    subagents, plan_mode, findings = context.subagents, context.plan_mode, context.findings
    return (
        ReadFile(workspace, editor),
        WriteFile(workspace, editor),
        EditFile(workspace, editor),
        ApplyPatch(workspace, editor),
        ListFiles(workspace, context.is_denied),
        SearchText(workspace, editor, commands, context.is_denied),
        *((Diagnostics(workspace, findings, context.is_denied),) if findings else ()),
        ExecCommand(workspace, commands),
        InputCommand(commands),
        KillCommand(commands),
        ReadImage(workspace),
        DescribeImage(workspace, context.describe),
        AskUser(context.ask),
        TodoWrite(),
        *((RunSubagent(subagents), InputSubagent(subagents), KillSubagent(subagents)) if subagents else ()),
        *((ExitPlan(plan_mode),) if plan_mode else ()),
        *((WebFetch(context.fetch),) if context.fetch else ()),
    )
