"""The tools of a process, and what they may touch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.config import places
from agent_lsp.policy.admission import Admission
from agent_lsp.policy.late_commands import LateCommandPolicy
from agent_lsp.policy.paths import PathRules
from agent_lsp.sessions.files import SessionFiles
from agent_lsp.sessions.instructions import Instructions, Sources
from agent_lsp.sessions.skills import FOLDER as SKILLS
from agent_lsp.sessions.subagents import Subagents
from agent_lsp.slotted import field, frozen
from agent_lsp.tools.disk import DiskEditor
from agent_lsp.tools.late import ToolContext, late_tools
from agent_lsp.tools.processes import Commands, Processes
from agent_lsp.tools.sandbox import Sandbox
from agent_lsp.tools.tool import CURRENT_CALL
from agent_lsp.tools.toolset import ToolLimits, Toolset
from agent_lsp.tools.workspace import Workspace
from agent_lsp.trace.writer import TraceWriter

if TYPE_CHECKING:
    from agent_lsp.config.sections import McpServer
    from agent_lsp.config.settings import Settings
    from agent_lsp.engine.ports import LLM
    from agent_lsp.sessions.file_records import FileRecords
    from agent_lsp.sessions.open_session import Client, OpenSession
    from agent_lsp.sessions.plan_mode import SessionPlanMode
    from agent_lsp.tools.errands import NoSubagents
    from agent_lsp.tools.read_image import Describe
    from agent_lsp.tools.shared import LateTools
    from agent_lsp.tools.tool import End
    from agent_lsp.tools.web_fetch import Fetch
    from agent_lsp.trace.paths import DataDir

_LATE = ("agent_lsp.tools.builtin", "agent_lsp.policy.commands")


@frozen
class Crew:
    """Whoever a session works with, and what for. `hidden` are tools that are nothing for its model."""

    subagents: Subagents | NoSubagents | None = None
    plan_mode: SessionPlanMode | None = None
    task: str | None = None
    describe: Describe | None = None
    hidden: frozenset[str] = field(default_factory=frozenset[str])


@frozen
class Equipment:
    """What a session works with."""

    toolset: Toolset
    paths: PathRules
    instructions: Instructions
    workspace: Workspace
    files: SessionFiles
    admission: Admission
    data: DataDir

    @property
    def scratchpad(self) -> Path:
        """The session's own folder."""
        return self.workspace.scratchpad

    def adopt(self, opened: OpenSession) -> None:
        """The session that works with it is there: what the person says of its edits is kept if it is."""
        if isinstance(opened.trace, TraceWriter):
            self.files.judged.path = self.data.judged(opened.session_id)

    def recall(self, records: FileRecords | None) -> None:
        """Goes on with a session of which a trace has these records of files."""
        if records is None:
            return
        paths, root = self.paths, Path(os.path.abspath(self.workspace.root))  # noqa: PTH100 - links stay

        def is_plain(path: Path) -> bool:
            place = paths.place(path)
            expected = paths.workspace / path.relative_to(root) if path.is_relative_to(root) else path
            return place.standing == "inside" and place.path == expected

        self.files.recall(records, self.workspace.locate, is_plain)


@frozen
class _Secrets:
    """All that must not be shown, as it is known whenever it is gone through: keys of providers may come later."""

    keys: Callable[[], Iterable[str]]
    others: tuple[str, ...]

    def __iter__(self) -> Iterator[str]:
        yield from self.keys()
        yield from self.others


class Workshop:
    """Makes the tools of sessions and the rules for their paths. One for a process: all commands are in its hands."""

    def __init__(
        self,
        data: DataDir,
        user_file: Path,
        environ: Mapping[str, str],
        secrets: Callable[[], Iterable[str]],
        warn: Callable[[str], None],
    ) -> None:
        self._data, self._user_file, self._environ, self._secrets = data, user_file, environ, secrets
        self._user_folder = Path(places.user_file(None, environ)).parent
        self._processes, self._warn = Processes(), warn
        self._say: Callable[[str], None] | None = None

    def configure(self, settings: Settings, key_variables: frozenset[str]) -> None:
        """Puts another configuration in force, for sessions that are made from now on.

        `key_variables` name the keys of providers in the environment: no program gets to see them.
        """
        self._processes.withhold(key_variables)
        self._settings, self._mcp, self._offline = settings.tools, settings.mcp_servers, settings.offline
        self._mcp_failed = set[str]()
        self.command_policy = LateCommandPolicy(
            settings.tools.deny_commands, read_only=settings.tools.read_only_commands
        )

    def equip(self, session_id: str, root: Path, client: Client | None, crew: Crew) -> Equipment:
        """The tools of a session in the folder `root`, the rules for its paths, and what it is told."""
        paths = self._paths(session_id, root)
        workspace = Workspace(root, self._data.scratchpad(session_id))
        commands = self._processes.session(self._sandbox(paths, workspace))
        admission = Admission(paths)
        disk = DiskEditor(workspace.scratchpad, lambda real, writes: admission.admits(_call_id(), real, writes=writes))
        buffers = client.buffers if client else None
        servers = {**self._mcp, **client.servers} if client else self._mcp
        files = SessionFiles(buffers.over(disk) if buffers else disk, workspace.display)
        instructions = Instructions(Sources(paths, self._user_folder, crew.task), lambda: toolset.offered())
        context = ToolContext(
            workspace,
            files.editor,
            commands,
            client.ask if client else None,
            paths.forbids,
            crew.subagents,
            crew.plan_mode,
            crew.describe,
            fetch=self._fetch(),
            findings=buffers.findings if buffers else None,
        )
        children = crew.subagents if isinstance(crew.subagents, Subagents) else None
        toolset = Toolset(
            late_tools(context),
            ToolLimits(self._settings.max_output_length, self._settings.timeout),
            scratchpad=workspace.scratchpad,
            secrets=_Secrets(self._secrets, self._secrets_of(servers)),
            disabled=self._settings.disabled,
            shared=[
                one for one in (commands, children, crew.plan_mode, instructions, files.user_edits, files.judged) if one
            ],
        )
        toolset.hide(crew.hidden)
        toolset.watch(instructions.touched)
        if servers:
            toolset.add_late(self._servers(servers, root))
        return Equipment(toolset, paths, instructions, workspace, files, admission, self._data)

    def own_commands(self) -> Commands:
        """Commands of no session: they end with the process."""
        return self._processes.session()

    def warm_up(self) -> None:
        """Imports what a first request needs of the tools, and what servers of tools need, if there are any."""
        for module in _LATE:
            import_module(module)
        if self._mcp:
            from agent_lsp.tools.mcp.link import import_sdk

            import_sdk()

    def _servers(self, configured: Mapping[str, McpServer], root: Path) -> LateTools:
        from agent_lsp.tools.mcp.servers import McpServers, once

        self._say = self._say or once(self._warn)
        own = self._processes.session()
        return McpServers(configured, own, root, offline=self._offline, say=self._say, failed=self._mcp_failed)

    def _secrets_of(self, servers: Mapping[str, McpServer]) -> tuple[str, ...]:
        if not servers:
            return ()
        from agent_lsp.tools.mcp.servers import secrets

        return tuple(secrets(servers.values()))

    def _sandbox(self, paths: PathRules, workspace: Workspace) -> Sandbox | None:
        if self._settings.sandbox == "off":
            return None
        # Made anew for each command: a folder that is to be hidden may have come to be meanwhile.
        return Sandbox((paths.workspace, workspace.scratchpad), paths.hidden, self._settings.sandbox_network)

    def _fetch(self) -> Fetch | None:
        if not self._settings.web_fetch or self._offline:
            return None
        from agent_lsp.app.web import fetcher

        return fetcher(allow_private=self._settings.web_fetch_private)

    def _paths(self, session_id: str, root: Path) -> PathRules:
        # Of a file that was chosen by hand only the file itself: it may well lie in the workspace, or above it.
        paths = PathRules(
            root,
            data_dir=self._data.root,
            scratchpad=self._data.scratchpad(session_id),
            user_config=(self._user_file, self._user_folder),
            deny=self._settings.deny_paths,
        )
        paths.let_read(self._user_folder / SKILLS)
        return paths

    async def close(self) -> None:
        """Ends all commands of all sessions."""
        await self._processes.close()


def _call_id() -> str | None:
    call = CURRENT_CALL.get()
    return call.tool_call_id if call else None


def late_describer(find: Callable[[], LLM]) -> Describe:
    """`app.web.describer`, imported when somebody wants an image described."""

    async def describe(image_url: str, question: str) -> str | End:
        from agent_lsp.app.web import describer

        return await describer(find)(image_url, question)

    return describe
