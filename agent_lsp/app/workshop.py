"""The tools of a process, and what they may touch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_lsp.config import places
from agent_lsp.config.settings import Settings
from agent_lsp.policy.commands import CommandPolicy
from agent_lsp.policy.paths import PathRules
from agent_lsp.tools.ask_user import Ask
from agent_lsp.tools.builtin import ToolContext, builtin_tools
from agent_lsp.tools.disk import DiskEditor
from agent_lsp.tools.mcp.servers import McpServers, once
from agent_lsp.tools.mcp.servers import secrets as mcp_secrets
from agent_lsp.tools.processes import Processes
from agent_lsp.tools.toolset import ToolLimits, Toolset
from agent_lsp.tools.workspace import Workspace
from agent_lsp.trace.paths import DataDir


@dataclass(frozen=True, slots=True)
class Equipment:
    """What a session works with."""

    toolset: Toolset
    paths: PathRules


class Workshop:
    """Makes the tools of sessions and the rules for their paths. One for a process: all commands are in its hands."""

    def __init__(
        self,
        data: DataDir,
        user_file: Path,
        environ: Mapping[str, str],
        scrub: frozenset[str],
        secrets: Callable[[], Iterable[str]],
        warn: Callable[[str], None],
    ) -> None:
        self._data, self._user_file, self._environ, self._secrets = data, user_file, environ, secrets
        self._processes, self._warn = Processes(scrub=scrub), once(warn)

    def configure(self, settings: Settings) -> None:
        """Puts another configuration in force, for sessions that are made from now on."""
        self._settings, self._mcp, self._offline = settings.tools, settings.mcp_servers, settings.offline
        self.command_policy = CommandPolicy(
            deny=settings.tools.deny_commands, read_only=settings.tools.read_only_commands
        )

    def equip(self, session_id: str, root: Path, ask: Ask | None) -> Equipment:
        """The tools of a session in the folder `root`, and the rules for its paths."""
        paths = self._paths(session_id, root)
        workspace = Workspace(root, self._data.scratchpad(session_id))
        commands = self._processes.session()
        editor = DiskEditor(workspace.scratchpad)
        context = ToolContext(workspace, editor, commands, ask=ask, is_denied=paths.forbids)
        toolset = Toolset(
            builtin_tools(context),
            ToolLimits(self._settings.max_output_length, self._settings.timeout),
            scratchpad=workspace.scratchpad,
            secrets=(*self._secrets(), *mcp_secrets(self._mcp.values())),
            disabled=self._settings.disabled,
            shared=(commands,),
        )
        if self._mcp:
            own = self._processes.session()
            toolset.add_late(McpServers(self._mcp, own, root, offline=self._offline, say=self._warn))
        return Equipment(toolset, paths)

    def _paths(self, session_id: str, root: Path) -> PathRules:
        # Of a file that was chosen by hand only the file itself: it may well lie in the workspace, or above it.
        usual = Path(places.user_file(None, self._environ))
        return PathRules(
            root,
            data_dir=self._data.root,
            scratchpad=self._data.scratchpad(session_id),
            user_config=(self._user_file, usual.parent),
            deny=self._settings.deny_paths,
        )

    async def close(self) -> None:
        """Ends all commands of all sessions."""
        await self._processes.close()
