"""The composition root: the one place that names every concrete class and plugs them together."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_lsp.config import places
from agent_lsp.config.builtin import REHEARSAL
from agent_lsp.config.layers import Merged
from agent_lsp.config.sections import AgentProfile
from agent_lsp.config.settings import Settings, validate
from agent_lsp.engine.ports import LLM, EngineOptions, Ports
from agent_lsp.engine.session import Session
from agent_lsp.errors import AgentError, InvalidParams, ModelUnavailable, WorkspaceInvalid
from agent_lsp.messages.envelope import Message, SessionMeta, encode, timestamp
from agent_lsp.messages.events import SessionUpdate
from agent_lsp.policy.approver import SessionApprover
from agent_lsp.policy.commands import CommandPolicy
from agent_lsp.policy.grants import Grants
from agent_lsp.policy.guard import Guard
from agent_lsp.policy.modes import mode_named
from agent_lsp.policy.paths import PathRules
from agent_lsp.policy.rules import WorkspaceRules
from agent_lsp.providers import build as adapters
from agent_lsp.providers import catalog
from agent_lsp.providers.endpoint import Endpoint, endpoint_for
from agent_lsp.providers.keys import key_variables, secret_values
from agent_lsp.providers.lazy import LazyLLM
from agent_lsp.server.connection import Connection
from agent_lsp.server.handlers import service
from agent_lsp.server.handshake import Configuration
from agent_lsp.server.hub import Hub
from agent_lsp.server.service import Service
from agent_lsp.server.uris import path_of
from agent_lsp.sessions.open_session import (
    Client,
    Model,
    Opener,
    OpenSession,
    SessionSpec,
    last_settings,
    level_named,
)
from agent_lsp.sessions.past import Past, read_committed, read_past
from agent_lsp.sessions.pictures import ScratchpadPictures
from agent_lsp.sessions.prompt import COMPACTION_PROMPT, system_prompt
from agent_lsp.tools.ask_user import Ask
from agent_lsp.tools.builtin import ToolContext, builtin_tools
from agent_lsp.tools.disk import DiskEditor
from agent_lsp.tools.processes import Processes
from agent_lsp.tools.toolset import ToolLimits, Toolset
from agent_lsp.tools.workspace import Workspace
from agent_lsp.trace.memory import MemoryTrace
from agent_lsp.trace.paths import DataDir, new_session_id
from agent_lsp.trace.store import SessionStore
from agent_lsp.trace.writer import TraceWriter

_log = logging.getLogger(__name__)
_WARNING = 2  # MessageType


class App:
    """What one server process has: its settings, data directory, commands and stored sessions."""

    def __init__(
        self, merged: Merged, workspace: Path, environ: Mapping[str, str], warn: Callable[[str], None]
    ) -> None:
        self.workspace = workspace
        self.data = DataDir(Path(merged.data_dir))
        self.store = SessionStore(self.data)
        self._environ, self._warn = environ, warn
        self._user_file = Path(merged.user_file)
        self.configure(merged)
        self._processes = Processes(scrub=key_variables(self._providers))

    def configure(self, merged: Merged) -> None:
        """Puts a configuration in force; open sessions keep theirs, keys aside. Raises InvalidSettings."""
        self.settings: Settings = validate(merged)
        self._providers: dict[str, dict[str, Any]] = merged.values.get("providers", {})
        tools = self.settings.tools
        self._command_policy = CommandPolicy(deny=tools.deny_commands, read_only=tools.read_only_commands)

    @property
    def gives_titles(self) -> bool:
        """Whether sessions get titles."""
        return self.settings.titles

    def open(self, session_id: str, spec: SessionSpec, client: Client) -> OpenSession:
        """Makes a new session (`sessions.open_session.Opener`)."""
        if spec.mode == "loop":
            raise InvalidParams("invalid params: mode", [("mode", "the mode 'loop' is not available")])
        profile = self._profile(spec.agent)
        model = self.model(spec.model if spec.model is not None else profile.model or self._default_model())
        paths = self._paths(session_id, spec.workspace)
        toolset = self._toolset(session_id, spec.workspace, paths, client.ask)
        if profile.tools is not None:
            toolset.keep(profile.tools)
        meta = self._meta(session_id, spec, model, toolset, profile)
        trace = MemoryTrace(meta) if spec.ephemeral else TraceWriter.new(self.data, meta, self._warn)
        opened = self._plug(meta, model, trace, toolset, paths, client, spec)
        _record_what_was_asked(opened.session, spec)
        return opened

    def resume(self, session_id: str, client: Client) -> OpenSession:
        """Goes on with a session that an earlier process left."""
        trace = TraceWriter.resume(self.data, session_id, self._warn)
        try:
            past = read_past(self.data, self.store, session_id, self._log_line)
            return self._continue(past.meta, past.messages, trace, client, past)
        except AgentError:
            trace.abandon()
            raise

    def fork(self, source_id: str, at_turn: int | None, session_id: str, client: Client) -> OpenSession:
        """Makes a session that begins with what another one has committed."""
        source, messages = read_committed(self.data, source_id, at_turn, self._log_line)
        meta = source.model_copy(
            update={
                "session_id": session_id,
                "parent_id": source_id,
                "source": "fork",
                "created_at": timestamp(),
            }
        )
        trace = TraceWriter.new(self.data, meta, self._warn)
        opened = self._continue(meta, messages, trace, client, None)
        trace.begin()
        for message in messages:
            trace.append(encode(message))
        return opened

    def _continue(
        self, meta: SessionMeta, messages: Sequence[Message], trace: TraceWriter, client: Client, past: Past | None
    ) -> OpenSession:
        """A session with a past: model, prompt and workspace as they were; tools, keys and limits as they are now."""
        workspace = Path(meta.workspace)
        if not workspace.is_dir():
            raise WorkspaceInvalid(f"{workspace}, where the session worked, is not there any more")
        settings = last_settings(messages)
        model = self.model(settings.model or f"{meta.provider}/{meta.model_id}")
        paths = self._paths(meta.session_id, workspace)
        toolset = self._toolset(meta.session_id, workspace, paths, client.ask)
        if settings.tools is not None:
            toolset.keep(settings.tools)
        spec = SessionSpec(
            workspace,
            approval_mode=mode_named(settings.approval_mode or ""),
            thinking_level=level_named(settings.thinking_level or ""),
            title=settings.title,
        )
        opened = self._plug(meta, model, trace, toolset, paths, client, spec)
        opened.session.replay(messages)
        if past:
            opened.session.count_from(past.turns, past.usage, past.call_ids)
        return opened

    def _plug(
        self,
        meta: SessionMeta,
        model: Model,
        trace: TraceWriter | MemoryTrace,
        toolset: Toolset,
        paths: PathRules,
        client: Client,
        spec: SessionSpec,
    ) -> OpenSession:
        """Plugs it all together."""
        rules = None if spec.ephemeral else WorkspaceRules(self.data.root, spec.workspace)
        grants = Grants(spec.approval_mode or self.settings.approval_mode, rules)
        approver = SessionApprover(Guard(grants, paths, self._command_policy), toolset, client.person)
        pictures = ScratchpadPictures(self.data.scratchpad(meta.session_id))
        session = Session(
            meta,
            Ports(self._llm(model), toolset, approver, trace, client.sink, pictures),
            self._options(model.endpoint, spec.max_turns),
            thinking_level=spec.thinking_level or self.settings.thinking_level,
        )
        return OpenSession(session, trace, toolset, grants, paths, meta, model, title=spec.title)

    def model(self, name: str) -> Model:
        """The model `provider/model`. Raises ModelUnavailable."""
        provider, _, model = name.partition("/")
        endpoint = endpoint_for(provider, model, self._providers, self._environ)
        if endpoint.api not in adapters.APIS:  # a run would only find out when its request is made
            raise ModelUnavailable(
                f"provider {provider!r} speaks {endpoint.api!r}, which this version does not",
                hint=f"set providers.{provider}.api to one of {', '.join(adapters.APIS)}",
            )
        if self.settings.offline and endpoint.api != REHEARSAL and not endpoint.is_loopback:
            raise ModelUnavailable(
                f"{name} is not on this machine", hint="choose a local model, or set offline = false"
            )
        return Model(endpoint)

    def use(self, session: Session, model: Model) -> None:
        """Has the session go on with another model."""
        options = self._options(model.endpoint, session.options.max_turns)
        session.configure(llm=self._llm(model), options=options)

    def toolset(self, workspace: Path) -> Toolset:
        """The tools that a new session would have there."""
        session_id = new_session_id()
        return self._toolset(session_id, workspace, self._paths(session_id, workspace), None)

    def _log_line(self, line: str) -> None:
        _log.warning("%s", line)

    async def close(self) -> None:
        """Ends all commands and lets go of connections to providers."""
        await self._processes.close()
        if http := sys.modules.get("agent_lsp.providers.http"):
            await http.close()

    def _meta(
        self, session_id: str, spec: SessionSpec, model: Model, toolset: Toolset, profile: AgentProfile
    ) -> SessionMeta:
        names = [tool.name for tool in toolset.tools()]
        return SessionMeta(
            session_id=session_id,
            provider=model.endpoint.provider,
            model_id=model.endpoint.model,
            model_context_window=model.endpoint.context_window,
            system_prompt=spec.system_prompt or system_prompt(spec.workspace, names, profile.prompt),
            workspace=str(spec.workspace),
            created_at=timestamp(),
            tags=spec.tags,
        )

    def _llm(self, model: Model) -> LLM:
        return LazyLLM(lambda: self.model(model.name).endpoint)

    def _options(self, endpoint: Endpoint, max_turns: int | None) -> EngineOptions:
        reconnect, compaction = self.settings.reconnect, self.settings.compaction
        return EngineOptions(
            max_turns=self.settings.max_turns if max_turns is None else max_turns,
            max_retries=reconnect.max_retries,
            retry_base_ms=reconnect.base_ms,
            retry_cap_ms=reconnect.cap_ms,
            context_window=endpoint.context_window,
            max_output_tokens=endpoint.max_output_tokens,
            vision=endpoint.vision,
            compaction_mode=compaction.mode,
            compaction_prompt=compaction.prompt or COMPACTION_PROMPT,
            max_context_length=compaction.max_context_length,
            max_session_turns=compaction.max_session_turns,
        )

    def _default_model(self) -> str:
        chosen = catalog.default_model(self.settings.default_model, self._providers, self._environ)
        return f"{chosen['provider']}/{chosen['model']}"

    def _profile(self, name: str | None) -> AgentProfile:
        if name is None:
            return AgentProfile()
        if name not in self.settings.agents:
            known = ", ".join(self.settings.agents) or "none is configured"
            raise InvalidParams("invalid params: agent", [("agent", f"no such profile; there are: {known}")])
        return self.settings.agents[name]

    def _toolset(self, session_id: str, root: Path, paths: PathRules, ask: Ask | None) -> Toolset:
        tools = self.settings.tools
        workspace = Workspace(root, self.data.scratchpad(session_id))
        commands = self._processes.session()
        editor = DiskEditor(workspace.scratchpad)
        context = ToolContext(workspace, editor, commands, ask=ask, is_denied=paths.forbids)
        return Toolset(
            builtin_tools(context),
            ToolLimits(tools.max_output_length, tools.timeout),
            scratchpad=workspace.scratchpad,
            secrets=secret_values(self._providers, self._environ),
            disabled=tools.disabled,
            shared=(commands,),
        )

    def _paths(self, session_id: str, root: Path) -> PathRules:
        # Of a file that was chosen by hand only the file itself: it may well lie in the workspace, or above it.
        usual = Path(places.user_file(None, self._environ))
        return PathRules(
            root,
            data_dir=self.data.root,
            scratchpad=self.data.scratchpad(session_id),
            user_config=(self._user_file, usual.parent),
            deny=self.settings.tools.deny_paths,
        )


def build(connection: Connection) -> Service:
    """What one client is served: the LSP front end on an `App` of its own."""
    greeted = connection.greeted

    def warn(message: str) -> None:
        connection.notify("window/showMessage", {"type": _WARNING, "message": message})

    app = App(greeted.configuration.origin, _workspace(greeted.client.workspace), os.environ, warn)
    hub = Hub(connection, app, app.store, app.settings.limits.max_sessions)

    async def close() -> None:
        await hub.close_all()
        await app.close()

    def configured(configuration: Configuration) -> None:
        app.configure(configuration.origin)
        for opened in hub.sessions():
            opened.session.credential_changed()

    return replace(service(connection, hub, configured), close=close)


def _record_what_was_asked(session: Session, spec: SessionSpec) -> None:
    """What a new session was given beside its meta goes into the trace, so that it survives."""
    if spec.initial_history:
        session.seed(spec.initial_history)
    if spec.title or spec.approval_mode or spec.thinking_level:
        given = SessionUpdate(title=spec.title, approval_mode=spec.approval_mode, thinking_level=spec.thinking_level)
        session.record(given, traced_only=True)


def _workspace(uri: str | None) -> Path:
    """The folder that a client opened, else the working directory: what is open may not be on this machine at all."""
    try:
        return path_of(uri, "rootUri") if uri else Path.cwd()
    except InvalidParams as error:
        _log.warning("the workspace %.200r %s; sessions that name none work in %s", uri, error.errors[0][1], Path.cwd())
        return Path.cwd()


if TYPE_CHECKING:
    _: type[Opener] = App
