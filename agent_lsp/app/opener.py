"""Makes sessions: new ones, those that an earlier process left, and forks."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_lsp.app.accounts import Accounts
from agent_lsp.app.loops import Loops, replay
from agent_lsp.app.models import Models
from agent_lsp.app.outfit import Order, Outfit, outfit, purposes
from agent_lsp.app.telemetry import Telemetry
from agent_lsp.app.warm_up import CLIENT, WarmUp, import_client, import_engine
from agent_lsp.app.workshop import Crew, Workshop, late_describer
from agent_lsp.config.builtin import REHEARSAL
from agent_lsp.config.sections import AgentProfile
from agent_lsp.config.settings import Settings, validate
from agent_lsp.engine.ports import Ports
from agent_lsp.engine.session import Session
from agent_lsp.errors import AgentError, InvalidParams, WorkspaceInvalid
from agent_lsp.messages.clock import timestamp
from agent_lsp.messages.envelope import Message, SessionMeta, encode
from agent_lsp.policy.approver import SessionApprover
from agent_lsp.policy.grants import Grants
from agent_lsp.policy.guard import Guard
from agent_lsp.policy.modes import mode_named
from agent_lsp.policy.rules import WorkspaceRules
from agent_lsp.providers.keys import key_variables
from agent_lsp.sessions.goal_file import ScratchpadGoalFile
from agent_lsp.sessions.open_session import Client, Model, Opener, OpenSession, SessionSpec, last_settings, level_named
from agent_lsp.sessions.past import Past, read_committed, read_past, read_whole
from agent_lsp.sessions.pictures import ScratchpadPictures
from agent_lsp.sessions.plan_mode import SessionPlanMode
from agent_lsp.slotted import replace
from agent_lsp.tools.errands import Errand, NoSubagents
from agent_lsp.trace.memory import MemoryTrace
from agent_lsp.trace.paths import DataDir
from agent_lsp.trace.session_ids import new_session_id
from agent_lsp.trace.store import SessionStore
from agent_lsp.trace.writer import TraceWriter

if TYPE_CHECKING:
    from agent_lsp.config.layers import Merged
    from agent_lsp.loop.options import Preparation
    from agent_lsp.messages.events import Mode
    from agent_lsp.tools.read_image import Describe
    from agent_lsp.tools.toolset import Toolset
    from agent_lsp.usage.report import GroupBy, UsageReport

_log = logging.getLogger(__name__)


class App:
    """What one server process has: its settings, data directory, models, tools and stored sessions."""

    def __init__(
        self, merged: Merged, workspace: Path, environ: Mapping[str, str], warn: Callable[[str], None]
    ) -> None:
        self.workspace, self._warn = workspace, warn
        self._warming = WarmUp()
        self.data = DataDir(Path(merged.data_dir))
        self.store = SessionStore(self.data)
        self.settings: Settings = validate(merged)
        providers: dict[str, dict[str, Any]] = merged.values.get("providers", {})
        self._models = Models(self.settings, providers, environ, self.data.root)
        self.accounts = Accounts(self.data.root, self.settings)
        self._telemetry = Telemetry(self.settings, warn)
        self.workshop = Workshop(self.data, Path(merged.user_file), environ, self._models.secrets, warn)
        self.workshop.configure(self.settings, key_variables(providers))
        self._loops = Loops(self._models, lambda: self.settings, self._begin_preparation)

    def configure(self, merged: Merged) -> bool:
        """Puts a configuration in force; open sessions keep theirs, keys aside. Raises InvalidSettings.

        Whether it says anything else of providers than the one before.
        """
        self.settings = validate(merged)
        self.accounts.configure(self.settings)
        providers: dict[str, dict[str, Any]] = merged.values.get("providers", {})
        self.workshop.configure(self.settings, key_variables(providers))
        return self._models.configure(self.settings, providers)

    @property
    def models(self) -> Models:
        """The models there are."""
        return self._models

    @property
    def gives_titles(self) -> bool:
        """Whether sessions get titles."""
        return self.settings.titles

    def open(self, session_id: str, spec: SessionSpec, client: Client) -> OpenSession:
        """Makes a new session (`sessions.open_session.Opener`)."""
        profile, model = self._chosen(spec)
        order = Order(session_id, spec.workspace, model, profile.prompt, profile.tools)
        opened = self._begin(session_id, spec, order, client)
        opened.record_what_was_asked(spec)
        return opened

    def resume(self, session_id: str, client: Client) -> OpenSession:
        """Goes on with a session that an earlier process left."""
        trace = TraceWriter.resume(self.data, session_id, self._warn)
        try:
            past = read_past(self.data, self.store, session_id, _log.warning)
            return self._continue(past.meta, past.messages, trace, client, past)
        except AgentError:
            trace.abandon()
            raise

    def fork(self, source_id: str, at_turn: int | None, session_id: str, client: Client) -> OpenSession:
        """Makes a session that begins with what another one has committed."""
        source, messages = read_committed(self.data, source_id, at_turn, _log.warning)
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
        spec = SessionSpec(
            workspace,
            approval_mode=mode_named(settings.approval_mode or ""),
            thinking_level=level_named(settings.thinking_level or ""),
            title=settings.title,
            mode=settings.mode or meta.mode,
        )
        outfit = self._outfit(Order(meta.session_id, workspace, model), client, spec)
        if settings.tools is not None:
            outfit.equipment.toolset.keep(settings.tools)
        outfit.equipment.instructions.resume(messages)
        outfit.equipment.recall(past and past.files)
        opened = self._plug(meta, model, trace, outfit, spec)
        opened.session.replay(messages, past.call_ids if past else ())
        if past:
            opened.session.count_from(past.turns, past.usage)
        replay(opened, lambda: read_whole(self.data, meta.session_id, _log.warning) if past else messages)
        return opened

    def _plug(
        self,
        meta: SessionMeta,
        model: Model,
        trace: TraceWriter | MemoryTrace,
        outfit: Outfit,
        spec: SessionSpec,
    ) -> OpenSession:
        """Plugs it all together."""
        toolset, paths, client, grants = outfit.equipment.toolset, outfit.equipment.paths, outfit.client, outfit.grants
        files = outfit.equipment.files
        guard = Guard(grants, paths, self.workshop.command_policy)
        approver = SessionApprover(guard, toolset, client.person, outfit.equipment.admission.allow)
        scratchpad = outfit.equipment.scratchpad
        pictures, goal_file = ScratchpadPictures(scratchpad), ScratchpadGoalFile(scratchpad)
        budget = client.budget.child(model.name) if client.budget else self.accounts.budget(model.name)
        sink = files.overheard(client.sink)
        ports = Ports(self._models.llm(model), toolset, approver, trace, sink, pictures, goal_file)
        ports = self._telemetry.observed(ports, meta, model)
        session = Session(
            meta,
            ports if spec.ephemeral else self.accounts.metered(ports, meta, model),
            self._models.options(model.endpoint, spec.max_turns),
            budget,
            thinking_level=spec.thinking_level or self.settings.thinking_level,
        )
        opened = OpenSession(session, trace, toolset, grants, paths, files, meta, model, budget, spec.mode or meta.mode)
        opened.title = spec.title
        self._loops.fit(opened, client, spec, scratchpad)
        outfit.adopt(opened)
        return opened

    def _outfit(self, order: Order, client: Client, spec: SessionSpec) -> Outfit:
        def grants() -> Grants:
            rules = None if spec.ephemeral else WorkspaceRules(self.data.root, spec.workspace)
            return Grants(spec.approval_mode or self.settings.approval_mode, rules)

        order = replace(order, describe=self._describe())
        return outfit(self.workshop, order, client, grants, self._begin_child, purposes(self.settings.agents))

    def _describe(self) -> Describe | None:
        name = self.settings.tools.vision_model
        return late_describer(lambda: self._models.llm(self.model(name))) if name else None

    def _begin_child(self, child_id: str, errand: Errand, parent: OpenSession, client: Client) -> OpenSession:
        """Makes the session of a subagent (`sessions.subagents.Begin`)."""
        profile = self._profile(errand.profile)
        model = self.model(errand.model or profile.model or parent.model.name)
        level, is_kept = errand.thinking_level or parent.session.thinking_level, isinstance(parent.trace, TraceWriter)
        spec = SessionSpec(parent.workspace, thinking_level=level, ephemeral=not is_kept)
        order = Order(parent.session_id, spec.workspace, model, profile.prompt, profile.tools)
        origin = {"parent_id": parent.session_id, "source": "subagent"}
        return self._begin(child_id, spec, order, client, **origin)

    def _begin_preparation(self, parent: OpenSession, client: Client, preparation: Preparation) -> OpenSession:
        """Makes the child session that prepares a prompt of the parent (`app.loops.BeginChild`)."""
        spec = SessionSpec(parent.workspace, mode="loop", thinking_level=parent.session.thinking_level, ephemeral=True)
        order = Order(parent.session_id, spec.workspace, parent.model, tools=preparation.tools)
        return self._begin(new_session_id(), spec, order, client)

    def _begin(self, session_id: str, spec: SessionSpec, order: Order, client: Client, **origin: str) -> OpenSession:
        """A session without a past. `origin` goes into its meta."""
        outfit = self._outfit(order, client, spec)
        meta = self._meta(session_id, spec, order.model, outfit).model_copy(update=origin)
        trace = MemoryTrace(meta, self.data) if spec.ephemeral else TraceWriter.new(self.data, meta, self._warn)
        opened = self._plug(meta, order.model, trace, outfit, spec)
        opened.updated_at = meta.created_at
        if spec.system_prompt is None:
            opened.session.renew_prompt(outfit.equipment.instructions.prompt)
        return opened

    def model(self, name: str) -> Model:
        """The model `provider/model`. Raises ModelUnavailable."""
        return self._models.get(name)

    def warm_up(self, model: Model) -> None:
        """Imports what the first request will need, in a thread: the person is still typing."""
        self._warming.begin(import_engine)
        self._warming.begin(self.workshop.warm_up)
        if model.endpoint.api != REHEARSAL:
            self._warming.begin(import_client)

    def mode_of(self, spec: SessionSpec) -> Mode:
        """The mode that a session like this would have."""
        return self._loops.mode_of(spec.mode, self._chosen(spec)[1])

    def use(self, opened: OpenSession) -> None:
        """Has the session go on with the model and the mode that it has now."""
        options = self._models.options(opened.model.endpoint, opened.session.options.max_turns)
        opened.session.configure(llm=self._loops.llm(opened), options=options)

    def toolset(self, workspace: Path) -> Toolset:
        """The tools that a new session would have there."""
        crew = Crew(NoSubagents(purposes(self.settings.agents)), SessionPlanMode(Grants()))
        return self.workshop.equip(new_session_id(), workspace, None, crew).toolset

    def usage(self, session_id: str | None, from_: str | None, to: str | None, group_by: GroupBy) -> UsageReport:
        """What was used; blocks."""
        return self.accounts.store.query(session_id, from_, to, group_by)

    async def close(self) -> None:
        """Ends all commands and lets go of connections to providers."""
        await self.workshop.close()
        await asyncio.gather(self.accounts.close(), self._telemetry.close())
        await self._warming.close()
        if http := sys.modules.get(CLIENT):
            await http.close()

    def _meta(self, session_id: str, spec: SessionSpec, model: Model, outfit: Outfit) -> SessionMeta:
        return SessionMeta(
            session_id=session_id,
            provider=model.endpoint.provider,
            model_id=model.endpoint.model,
            model_context_window=model.endpoint.context_window,
            system_prompt=spec.system_prompt or outfit.equipment.instructions.prompt(),
            workspace=str(spec.workspace),
            created_at=spec.created_at or timestamp(),
            tags=spec.tags,
            mode=self._loops.mode_of(spec.mode, model),
        )

    def _chosen(self, spec: SessionSpec) -> tuple[AgentProfile, Model]:
        profile = self._profile(spec.agent)
        return profile, self.model(spec.model if spec.model is not None else profile.model or self._models.default())

    def _profile(self, name: str | None) -> AgentProfile:
        if name is None:
            return AgentProfile.model_construct()
        if name not in self.settings.agents:
            known = ", ".join(self.settings.agents) or "none is configured"
            raise InvalidParams("invalid params: agent", [("agent", f"no such profile; there are: {known}")])
        return self.settings.agents[name]


if TYPE_CHECKING:
    _: type[Opener] = App
