"""The handlers of `agent/*`: each reads its params, calls the session, and says what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict

from agent_lsp.engine.loop import RunResult
from agent_lsp.engine.session import Ticket
from agent_lsp.messages.content import Text, UserContent
from agent_lsp.messages.events import SessionUpdate
from agent_lsp.server.connection import Connection
from agent_lsp.server.history import history, read_seed
from agent_lsp.server.hub import Hub, Served, info, refuse
from agent_lsp.server.inputs import read_input
from agent_lsp.server.methods import (
    AbortAnswer,
    AbortParams,
    HistoryParams,
    Input,
    ListParams,
    NamedSessionParams,
    NewParams,
    NoParams,
    RunAnswer,
    RunParams,
    SessionInfo,
    SessionList,
    SessionParams,
    SteerAnswer,
    SteerParams,
    UnsteerParams,
    UpdateParams,
    model_name,
)
from agent_lsp.server.progress import Progress, new_token
from agent_lsp.server.service import Call, Method, Observer, Service
from agent_lsp.server.uris import path_of
from agent_lsp.sessions.open_session import SessionSpec

_TITLE_CHARS = 60


class _Cancelled(BaseModel):
    """`window/workDoneProgress/cancel`."""

    model_config = ConfigDict(extra="ignore")
    token: str | int


class Handlers:
    """The methods of one connection."""

    def __init__(self, connection: Connection, hub: Hub) -> None:
        self._connection, self._hub = connection, hub
        self._cancellable: dict[str | int, tuple[Served, Ticket]] = {}

    def service(self) -> Service:
        """Everything that is served, by name."""
        return Service(
            requests={
                "agent/session/new": Method(NewParams, self.new),
                "agent/session/list": Method(ListParams, self.list),
                "agent/session/history": Method(HistoryParams, self.history),
                "agent/session/update": Method(UpdateParams, self.update),
                "agent/session/close": Method(NamedSessionParams, self.close),
                "agent/run": Method(RunParams, self.run),
                "agent/steer": Method(SteerParams, self.steer),
                "agent/unsteer": Method(UnsteerParams, self.unsteer),
                "agent/abort": Method(AbortParams, self.abort),
                "agent/retryNow": Method(SessionParams, self.retry_now),
                "agent/compactability": Method(SessionParams, self.compactability),
                "agent/tools": Method(SessionParams, self.tools),
                "agent/models": Method(NoParams, self.models),
            },
            notifications={"window/workDoneProgress/cancel": Observer(_Cancelled, self.progress_cancelled)},
            shutdown=self._hub.abort_all,
            close=self._hub.close_all,
        )

    # --- sessions ---

    def new(self, params: NewParams, _: Call) -> SessionInfo:
        """`agent/session/new`."""
        for field in ("limits", "preparation"):
            if getattr(params, field) is not None:
                raise refuse(field, "is for loop mode only")
        workspace = self._hub.opener.workspace
        spec = SessionSpec(
            workspace=path_of(params.workspace, "workspace") if params.workspace is not None else workspace,
            model=model_name(params.model),
            mode=params.mode,
            approval_mode=params.approval_mode,
            thinking_level=params.thinking_level,
            system_prompt=params.system_prompt,
            max_turns=params.max_turns,
            agent=params.agent,
            tags=tuple(params.tags) if params.tags is not None else None,
            title=params.title or None,
            ephemeral=params.ephemeral,
            initial_history=read_seed(params.initial_history or []),
        )
        return info(self._hub.create(spec).session)

    def list(self, params: ListParams, _: Call) -> SessionList:
        """`agent/session/list`."""
        workspace = path_of(params.workspace, "workspace") if params.workspace is not None else None
        sessions, cursor = self._hub.list(workspace, params.limit, params.cursor)
        return SessionList(sessions=sessions, next_cursor=cursor)

    def history(self, params: HistoryParams, _: Call) -> Awaitable[bytes]:
        """`agent/session/history`."""
        return history(self._hub, self._connection, params)

    def update(self, params: UpdateParams, _: Call) -> SessionInfo:
        """`agent/session/update`."""
        opened = self._hub.get(params.session_id).session
        change = SessionUpdate(
            title=params.title,
            approval_mode=params.approval_mode,
            thinking_level=params.thinking_level,
            model=model_name(params.model),
            mode=params.mode,
            tools=tuple(params.tools) if params.tools is not None else None,
        )
        opened.update(change, self._hub.opener)
        return info(opened)

    def close(self, params: NamedSessionParams, _: Call) -> Awaitable[dict[str, Any]]:
        """`agent/session/close`."""
        return _then({}, self._hub.release(params.session_id).close())

    # --- runs ---

    def run(self, params: RunParams, call: Call) -> Awaitable[RunAnswer]:
        """`agent/run`: takes its place before it returns; the result comes when the task has ended."""
        _refuse_what_is_not_native(params)
        if not params.input:
            raise refuse("input", "must not be empty")
        served = self._hub.current_or_new(params.session_id)
        opened = served.session
        input = self._read(params.input, served)
        if not input:
            raise refuse("input", "must not be empty")
        if params.model is not None:
            opened.update(SessionUpdate(model=model_name(params.model)), self._hub.opener)
        ticket = opened.session.submit(input, params.thinking_level, queue=params.queue_if_busy)
        served.given[ticket.run_id] = params.input

        def interrupt() -> None:
            opened.session.cancel(ticket)

        call.on_cancel(interrupt)
        progress = self._progress(params, ticket, served, input)
        return self._result(served, ticket, progress)

    async def _result(self, served: Served, ticket: Ticket, progress: Progress | None) -> RunAnswer:
        result: RunResult = await asyncio.shield(ticket.result)
        served.session.touch()
        served.given.pop(ticket.run_id, None)
        if progress:
            served.sink.progress.pop(ticket.run_id, None)
            self._cancellable.pop(progress.token, None)
            progress.end(result.status)
        return RunAnswer(
            session_id=served.session.session_id,
            status=result.status,
            run_id=result.run_id,
            turns=result.turns,
            text=result.text,
            usage=result.usage,
            error_message=result.error_message,
            queued=ticket.queued or None,
            finish=result.finish,
            undelivered=result.undelivered,
        )

    def steer(self, params: SteerParams, _: Call) -> SteerAnswer:
        """`agent/steer`."""
        served = self._hub.get(params.session_id)
        entry = served.session.session.steer(self._read(params.input, served), params.run_id)
        if entry is None:
            return SteerAnswer(accepted=False)
        if entry.input:
            served.given[entry.steer_id] = params.input
        return SteerAnswer(accepted=True, steer_id=entry.steer_id, run_id=served.session.session.run_id)

    def unsteer(self, params: UnsteerParams, _: Call) -> dict[str, bool]:
        """`agent/unsteer`."""
        served = self._hub.get(params.session_id)
        served.given.pop(params.steer_id, None)
        return {"withdrawn": served.session.session.unsteer(params.steer_id)}

    def abort(self, params: AbortParams, _: Call) -> Awaitable[AbortAnswer]:
        """`agent/abort`: interrupts before it returns; answered once that has ended."""
        session = self._hub.get(params.session_id).session.session
        current = session.current()
        if params.run_id is None:
            ticket = current
        else:
            known = [*session.waiting(), *([current] if current else [])]
            ticket = next((one for one in known if one.run_id == params.run_id), None)
        if ticket is None:
            return _then(AbortAnswer(aborted=False))
        what: Literal["run", "queued"] = "run" if ticket is current else "queued"
        session.cancel(ticket, params.reason)
        return _aborted(ticket, what)

    def retry_now(self, params: SessionParams, _: Call) -> dict[str, bool]:
        """`agent/retryNow`."""
        return {"skipped": self._hub.get(params.session_id).session.session.retry_now()}

    def compactability(self, params: SessionParams, _: Call) -> dict[str, str]:
        """`agent/compactability`: contexts are not compacted."""
        self._hub.get(params.session_id)
        return {"availability": "unsupported"}

    # --- what there is ---

    def tools(self, params: SessionParams, _: Call) -> dict[str, Any]:
        """`agent/tools`: those of a session, or of a new one when there is none."""
        opener = self._hub.opener
        named = params.session_id is not None or self._hub.has_current
        toolset = self._hub.get(params.session_id).session.toolset if named else opener.toolset(opener.workspace)
        return {"tools": toolset.described()}

    def models(self, _params: NoParams, _: Call) -> dict[str, Any]:
        """`agent/models`."""
        configuration = self._connection.greeted.configuration
        return {"models": configuration.models, "defaultModel": configuration.default_model}

    # --- inside ---

    def progress_cancelled(self, params: _Cancelled) -> None:
        """The cancel button of a run's progress is an abort of it."""
        if found := self._cancellable.get(params.token):
            served, ticket = found
            served.session.session.cancel(ticket)

    def _read(self, given: Input, served: Served) -> tuple[UserContent, ...]:
        opened = served.session
        encoding = self._connection.greeted.client.position_encoding
        return read_input(given, opened.workspace, opened.paths, encoding)

    def _progress(
        self, params: RunParams, ticket: Ticket, served: Served, input: tuple[UserContent, ...]
    ) -> Progress | None:
        token = params.work_done_token
        if token is None and not _shows_progress(self._connection):
            return None
        progress = Progress(self._connection, new_token() if token is None else token, _title(input))
        served.sink.progress[ticket.run_id] = progress
        self._cancellable[progress.token] = (served, ticket)
        if token is None:
            self._connection.spawn(progress.create_and_begin())
        else:
            progress.begin()
        return progress


def _refuse_what_is_not_native(params: RunParams) -> None:
    for field, name in (("expected", "expected"), ("max_retries", "maxRetries")):
        if getattr(params, field) is not None:
            raise refuse(name, "is for loop mode only")
    for field in ("goal", "budget"):
        if getattr(params, field) is not None:
            raise refuse(field, "is not supported by this server")


def _shows_progress(connection: Connection) -> bool:
    window = connection.greeted.client.capabilities.get("window")
    return isinstance(window, dict) and cast("dict[str, Any]", window).get("workDoneProgress") is True


def _title(input: tuple[UserContent, ...]) -> str:
    words = next((one.text for one in input if isinstance(one, Text)), "")
    line = " ".join(words.split())
    return (line if len(line) <= _TITLE_CHARS else line[: _TITLE_CHARS - 1] + "…") or "agent"


async def _aborted(ticket: Ticket, what: Literal["run", "queued"]) -> AbortAnswer:
    result = await asyncio.shield(ticket.result)
    if result.status != "aborted":
        return AbortAnswer(aborted=False)
    return AbortAnswer(aborted=True, what=what, run_id=ticket.run_id)


async def _then(answer: Any, work: Awaitable[None] | None = None) -> Any:
    if work is not None:
        await work
    return answer


def session_workspace(uri: str | None) -> Path:
    """The folder that a client opened, else the working directory."""
    return path_of(uri, "rootUri") if uri else Path.cwd()
