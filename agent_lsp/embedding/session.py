"""A session in the program's own event loop, without a server and without a front end."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_lsp.app.opener import App
from agent_lsp.config.layers import Merged, load
from agent_lsp.embedding.person import Approve, Ask, Questions, Sayer
from agent_lsp.errors import ModelUnsettled, WorkspaceInvalid
from agent_lsp.messages.content import Content, Text
from agent_lsp.policy.trust import Trust
from agent_lsp.sessions.open_session import Client, OpenSession, SessionSpec
from agent_lsp.trace.session_ids import new_session_id

if TYPE_CHECKING:
    from agent_lsp.engine.account import RunResult
    from agent_lsp.engine.ports import StateChange
    from agent_lsp.messages.envelope import Message
    from agent_lsp.messages.events import TokenCounts
    from agent_lsp.tools.tool import Tool

_log = logging.getLogger(__name__)


class Session:
    """One conversation with a model that works in a folder. Made by `Session.open`."""

    def __init__(self, opened: OpenSession) -> None:
        self._opened = opened

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        workspace: str | os.PathLike[str] = ".",
        *,
        model: str | None = None,
        approve: Approve | None = None,
        ask: Ask | None = None,
        tools: Sequence[Tool[Any]] = (),
        settings: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[Session]:
        """A session in `workspace`; leaving the context aborts what runs and ends all that it has started.

        `model` is `provider/model`; left out, it is that of the configuration. `approve` is asked about each call that
        needs permission; left out, such calls are denied unless `approval_mode` lets them pass. `ask` answers questions
        of the model's. `tools` join the built-in ones. `settings` are those of the configuration, which they go before
        (`{"approval_mode": "auto-edit", "data_dir": "…"}`).

        Raises WorkspaceInvalid, ConfigError, ModelUnavailable.
        """
        folder = _folder(workspace)
        app = App(_configuration(folder, settings or {}), folder, os.environ, _log.warning)
        try:
            client = Client(_Nowhere(), Sayer(approve), Questions(ask))
            opened = await _opened(app, SessionSpec(folder, model=model), client)
            opened.toolset.add(tools)
            try:
                yield cls(opened)
            finally:
                await asyncio.shield(opened.close())
        finally:
            await asyncio.shield(app.close())

    @property
    def id(self) -> str:
        """The id by which `agent-lsp trace show` and every editor know the session."""
        return self._opened.session_id

    @property
    def model(self) -> str:
        """`provider/model`."""
        return self._opened.model.name

    @property
    def usage(self) -> TokenCounts:
        """Tokens of all completed requests."""
        return self._opened.session.usage

    @property
    def trace_path(self) -> Path | None:
        """The file with everything that was said; None before the first run."""
        return self._opened.trace.path

    def history(self) -> Iterator[Content]:
        """What the model has in its context: prompts, replies, calls and their outputs, in order."""
        return (message for commit in self._opened.session.history() for message in commit.messages)

    async def run(self, prompt: str) -> RunResult:
        """Runs a task to its end. A task that ends badly is a result too, see `status` and `error_message`.

        Cancelling the caller aborts the task. Raises SessionBusy while another one runs.
        """
        return await self._opened.session.run(_said(prompt))

    async def stream(self, prompt: str) -> AsyncGenerator[Message]:
        """Runs a task and gives its messages as they come, fragments (`partial_text`, …) among them.

        Leaving the iteration aborts the task. Raises SessionBusy while another one runs.
        """
        async with aclosing(self._opened.session.stream(_said(prompt))) as messages:
            async for message in messages:
                yield message

    def steer(self, words: str) -> bool:
        """Has the running task hear something; whether there is one. It is delivered before the task ends."""
        return self._opened.session.steer(_said(words)) is not None

    def abort(self) -> bool:
        """Ends the running task, whose result then says so; whether there was one."""
        ticket = self._opened.session.current()
        return ticket is not None and self._opened.session.cancel(ticket)


def _said(words: str) -> tuple[Text]:
    return (Text(role="user", text=words),)


def _folder(workspace: str | os.PathLike[str]) -> Path:
    folder = Path(workspace).absolute()
    if not folder.is_dir():
        raise WorkspaceInvalid(f"{folder} is not a directory", hint="name an existing folder")
    return folder


def _configuration(folder: Path, settings: Mapping[str, Any]) -> Merged:
    """What is configured for work in the folder, as a server that is started there would read it."""
    workspace = str(folder)
    merged = load(workspace=workspace, arguments=settings)
    if Trust(Path(merged.data_dir)).is_trusted(folder):
        merged = load(workspace=workspace, trusted=True, arguments=settings)
    for warning in merged.warnings:
        _log.warning("%s", warning)
    return merged


async def _opened(app: App, spec: SessionSpec, client: Client) -> OpenSession:
    """The session. The keyring, and this machine's model servers, are asked where no model is known without them."""
    try:
        return app.open(new_session_id(), spec, client)
    except ModelUnsettled:
        await app.models.look()
        return app.open(new_session_id(), spec, client)


class _Nowhere:
    """Nobody looks at the session's stream but whoever iterates over it."""

    def push(self, message: Message, run_id: str | None) -> None:
        """Goes nowhere."""

    def state(self, change: StateChange) -> None:
        """Goes nowhere."""

    async def drain(self) -> None:
        """Nobody is slow."""
