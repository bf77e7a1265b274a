"""An open session: the engine's session and what belongs to it, whichever front end drives it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from agent_lsp.config.sections import McpServer
from agent_lsp.engine.ports import Sink, ThinkingLevel
from agent_lsp.errors import InvalidParams, SessionBusy
from agent_lsp.messages.clock import timestamp
from agent_lsp.messages.events import Mode, SessionUpdate
from agent_lsp.slotted import field, frozen, mutable
from agent_lsp.tools.late import useless

if TYPE_CHECKING:
    from agent_lsp.engine.session import Session
    from agent_lsp.loop.loop_session import LoopSession
    from agent_lsp.loop.options import Preparation
    from agent_lsp.messages.content import Content
    from agent_lsp.messages.envelope import Message, SessionMeta
    from agent_lsp.policy.approver import Person
    from agent_lsp.policy.grants import Grants
    from agent_lsp.policy.modes import ApprovalMode
    from agent_lsp.policy.paths import PathRules
    from agent_lsp.providers.endpoint import Endpoint
    from agent_lsp.sessions.budget import Budget
    from agent_lsp.sessions.files import SessionFiles
    from agent_lsp.sessions.model_source import ModelSource
    from agent_lsp.sessions.slash import Commands
    from agent_lsp.tools.ask_user import Ask
    from agent_lsp.tools.editor import Editor
    from agent_lsp.tools.findings import Findings
    from agent_lsp.tools.toolset import Toolset
    from agent_lsp.trace.history import SessionTrace
    from agent_lsp.usage.report import GroupBy, UsageReport

_QUIET_S = 0.3
"""How long after a run nothing may have happened before a title is asked for."""


@frozen
class SessionSpec:
    """What a new session is asked to be; what is None comes from the settings. `model` is `provider/model`."""

    workspace: Path
    model: str | None = None
    mode: Literal["native", "loop"] | None = None
    approval_mode: ApprovalMode | None = None
    thinking_level: ThinkingLevel | None = None
    system_prompt: str | None = None
    max_turns: int | None = None
    agent: str | None = None
    tags: tuple[str, ...] | None = None
    title: str | None = None
    ephemeral: bool = False
    initial_history: tuple[Content, ...] = ()
    limits: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Those of `config.sections.Loop` that were given, by name."""
    preparation: Preparation | None = None
    created_at: str | None = None
    """When it was asked for, if that was told already."""


@frozen
class Model:
    """The model of a session, with the way in which it is reached."""

    endpoint: Endpoint

    @property
    def name(self) -> str:
        """`provider/model`."""
        return f"{self.endpoint.provider}/{self.endpoint.model}"


class Buffers(Protocol):
    """The documents that a front end holds open."""

    def over(self, disk: Editor) -> Editor:
        """The files of one session: these documents, and what is not open on `disk`."""
        ...

    @property
    def findings(self) -> Findings | None:
        """What is wrong in the files, if the front end can tell."""
        ...


@frozen
class Client:
    """A front end's side of one session: where its stream goes, who decides on its calls, who answers its questions.

    `grants` and `budget` are those of the parent, for a child session. `servers` are servers of tools that the client
    brings, by name; they take the place of configured ones.
    """

    sink: Sink
    person: Person
    ask: Ask
    buffers: Buffers | None = None
    grants: Grants | None = None
    budget: Budget | None = None
    servers: Mapping[str, McpServer] = field(default_factory=dict[str, McpServer])


class Opener(Protocol):
    """Makes sessions and knows what they can be made of; the composition root is one."""

    @property
    def workspace(self) -> Path:
        """The folder of a session that names none."""
        ...

    @property
    def gives_titles(self) -> bool:
        """Whether a session without a title is given one after its first run."""
        ...

    def open(self, session_id: str, spec: SessionSpec, client: Client) -> OpenSession:
        """Makes a session.

        Raises ModelUnavailable, WorkspaceInvalid or InvalidParams.
        """
        ...

    def resume(self, session_id: str, client: Client) -> OpenSession:
        """Goes on with a session that an earlier process left. Blocks on the disk.

        Raises SessionNotFound, SessionBusy (another process has it), ModelUnavailable or WorkspaceInvalid.
        """
        ...

    def fork(self, source_id: str, at_turn: int | None, session_id: str, client: Client) -> OpenSession:
        """Makes a session that begins with what another one has committed, up to a turn. Blocks on the disk.

        Raises SessionNotFound, InvalidParams, ModelUnavailable or WorkspaceInvalid.
        """
        ...

    @property
    def models(self) -> ModelSource:
        """The models there are. Whoever gets ModelUnsettled from here has it look, and asks again."""
        ...

    def model(self, name: str) -> Model:
        """The model `provider/model`. Raises ModelUnavailable."""
        ...

    def usage(self, session_id: str | None, from_: str | None, to: str | None, group_by: GroupBy) -> UsageReport:
        """What was used, of one session or all, in a time. Blocks. Raises InvalidParams or RequestRefused."""
        ...

    def warm_up(self, model: Model) -> None:
        """Prepares for requests to the model, beside everything else."""
        ...

    def mode_of(self, spec: SessionSpec) -> Mode:
        """The mode that a session like this would have. Raises ModelUnavailable and InvalidParams."""
        ...

    def use(self, opened: OpenSession) -> None:
        """Has the session go on with the model and the mode that it has now."""
        ...

    def toolset(self, workspace: Path) -> Toolset:
        """The tools that a new session would have there, for a look."""
        ...


@mutable
class OpenSession:
    """One open session. `title`, `approval_mode`, `model`, … are what holds now; `meta` is as it was created."""

    session: Session
    trace: SessionTrace
    toolset: Toolset
    grants: Grants
    paths: PathRules
    files: SessionFiles
    meta: SessionMeta
    model: Model
    budget: Budget
    mode: Mode = "native"
    title: str | None = None
    loop: LoopSession | None = None
    updated_at: str = field(default_factory=timestamp)
    commands: Commands = dict
    stop_children: Callable[[], bool] = bool
    """Interrupts what its children are at; whether there was anything."""
    children_at_work: Callable[[], Sequence[OpenSession]] = tuple
    """The sessions of its children that are at a task, oldest first."""
    is_open: bool = True

    @property
    def session_id(self) -> str:
        """Its id."""
        return self.meta.session_id

    @property
    def workspace(self) -> Path:
        """Its folder."""
        return Path(self.meta.workspace)

    def update(self, change: SessionUpdate, opener: Opener) -> None:
        """Puts the changed settings in force and records them.

        Raises SessionBusy for a model, mode or tools while something runs, ModelUnavailable, InvalidParams; then
        nothing has changed.
        """
        between_runs = change.model is not None or change.mode is not None or change.tools is not None
        if between_runs and self.session.is_busy:
            raise SessionBusy(self.session_id, self.session.run_id)
        model = opener.model(change.model) if change.model is not None else None
        if change.tools is not None:
            self._keep_tools(change.tools)
        if model or change.mode:
            self.model, self.mode = model or self.model, change.mode or self.mode
            opener.use(self)
        if model:
            self.toolset.hide(useless(sees=model.endpoint.vision))
        if change.approval_mode is not None:
            self.grants.set_mode(change.approval_mode)  # pyright: ignore[reportArgumentType] - checked by the front end
        if change.thinking_level is not None:
            self.session.thinking_level = change.thinking_level  # pyright: ignore[reportAttributeAccessIssue] - likewise
        self.title = change.title or self.title
        if change != SessionUpdate():
            self.touch()
            self.session.record(change)

    def record_what_was_asked(self, spec: SessionSpec) -> None:
        """What a new session was given beside its meta goes into the trace, so that it survives."""
        if spec.initial_history:
            self.session.seed(spec.initial_history)
        given = SessionUpdate(title=spec.title, approval_mode=spec.approval_mode, thinking_level=spec.thinking_level)
        if given != SessionUpdate():
            self.session.record(given, traced_only=True)

    async def retitle(self) -> str | None:
        """Has the model give the session a title, which never takes the place of one that was given meanwhile."""
        before = self.title
        title = await self.session.generate_title()
        if title is None or self.title != before:
            return None
        self.title = title
        self.session.record(SessionUpdate(title=title))
        return title

    async def title_when_quiet(self) -> None:
        """Gives the session its title soon after a run, but never while the model has another prompt to answer.

        A model that serves one request at a time would let the person wait for the title; the next run that ends asks
        again.
        """
        await asyncio.sleep(_QUIET_S)
        if self.is_open and not self.title and not self.session.is_busy:
            await self.retitle()

    def touch(self) -> None:
        """Something happened in it."""
        self.updated_at = timestamp()

    async def close(self) -> None:
        """Aborts what runs, ends its tools, keeps its trace."""
        self.is_open = False
        await self.session.close()
        await self.trace.close()

    def _keep_tools(self, names: tuple[str, ...]) -> None:
        unknown = sorted(set(names) - set(self.toolset.names()))
        if unknown:
            raise InvalidParams("invalid params: tools", [("tools", f"no such tools: {', '.join(unknown)}")])
        self.toolset.keep(names)


def last_settings(messages: Iterable[Message]) -> SessionUpdate:
    """The last value of each setting that was ever changed."""
    settings = SessionUpdate()
    for message in messages:
        if isinstance(message.payload, SessionUpdate):
            settings = settings.model_copy(update=message.payload.model_dump(exclude_none=True))
    return settings


def level_named(name: str) -> ThinkingLevel | None:
    """The thinking level of that name, if it is one."""
    return next((level for level in get_args(ThinkingLevel) if level == name), None)
