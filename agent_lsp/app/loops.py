"""The modes of sessions: what each is plugged into for loop mode, and the model that fits the mode it is in."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.engine.both_hooks import BothHooks
from agent_lsp.loop.loop_session import LoopSession, Surroundings
from agent_lsp.loop.options import Limits, LoopOptions, Preparation
from agent_lsp.loop.policy import Around
from agent_lsp.messages.events import Mode, SessionUpdate
from agent_lsp.sessions.open_session import Client, Model, OpenSession, SessionSpec

if TYPE_CHECKING:
    from agent_lsp.app.models import Models
    from agent_lsp.config.settings import Settings
    from agent_lsp.engine.ports import LLM, StateChange
    from agent_lsp.engine.session import Session
    from agent_lsp.messages.envelope import Message

_log = logging.getLogger(__name__)

BeginChild = Callable[[OpenSession, Client, Preparation], OpenSession]
"""Makes a throwaway session in the workspace and with the permissions of another one."""


class Loops:
    """What sessions of both modes are made of. `settings` are those in force."""

    def __init__(self, models: Models, settings: Callable[[], Settings], begin_child: BeginChild) -> None:
        self._models, self._settings, self._begin_child = models, settings, begin_child

    def mode_of(self, wanted: Mode | None, model: Model) -> Mode:
        """The mode of a new session: what is wanted, else what the settings say."""
        usual = wanted or self._settings().mode
        if usual == "auto":
            return "native" if model.endpoint.tool_calling else "loop"
        return usual

    def fit(self, opened: OpenSession, client: Client, spec: SessionSpec, scratchpad: Path) -> None:
        """Gives a new session its loop session, which rests in native mode, and its model."""
        settings = self._settings()
        limits = Limits(**{**settings.loop.model_dump(), **spec.limits})
        options = LoopOptions(limits, spec.preparation, settings.tools.max_output_length)

        def child(preparation: Preparation) -> Session:
            quiet = Client(_Nobody(), client.person, client.ask, client.buffers, opened.grants, opened.budget)
            return self._begin_child(opened, quiet, preparation).session

        summarizer = limits.history_compression_model
        around = Around(
            opened.toolset.tools,
            lambda: self._models.llm(opened.model),
            (lambda: self._models.llm(self._models.get(summarizer))) if summarizer else None,
            child,
        )
        surroundings = Surroundings(around, _Archives(scratchpad), lambda: opened.session.system_prompt)
        opened.loop = LoopSession(options, surroundings, opened.mode)
        opened.session.configure(hooks=BothHooks(opened.loop.policy, opened.budget))
        opened.session.configure(llm=self.llm(opened, is_open=spec.mode is None and settings.mode == "auto"))

    def llm(self, opened: OpenSession, *, is_open: bool = False) -> LLM:
        """The session's model as its mode has it. `is_open`: it may turn out that it cannot call tools."""
        llm, loop = self._models.llm(opened.model), opened.loop
        if loop is None:
            return llm
        if opened.mode == "loop":
            return loop.plan(llm)
        return loop.plan_when_refused(llm, lambda: _tools_refused(opened)) if is_open else llm


def replay(opened: OpenSession, messages: Callable[[], Sequence[Message]]) -> None:
    """Brings the records of a session up to date that was, or is, in loop mode."""
    if opened.loop and (opened.meta.mode == "loop" or opened.session.settings.mode is not None):
        opened.loop.replay(messages())


def _tools_refused(opened: OpenSession) -> None:
    _log.warning("%s takes no tools; session %s goes on in loop mode", opened.model.name, opened.session_id)
    opened.mode = "loop"
    opened.session.record(SessionUpdate(mode="loop"))


class _Archives:
    """Reads outputs that were archived, and no other files: a path in a trace is only somebody's word."""

    def __init__(self, scratchpad: Path) -> None:
        self._scratchpad = scratchpad

    def __call__(self, path: str) -> str | None:
        """The whole text; None when it is gone."""
        try:
            found = Path(path).resolve()
            if found.is_relative_to(self._scratchpad.resolve()):
                return found.read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError) as error:
            _log.warning("an archived output cannot be read: %s", error)
        return None


class _Nobody:
    """The front end of a session that nobody looks at."""

    def push(self, message: Message, run_id: str | None) -> None:
        """Goes nowhere."""

    def state(self, change: StateChange) -> None:
        """Goes nowhere."""

    async def drain(self) -> None:
        """Nobody is slow."""
