"""The handlers of a session's work: run, steer, abort, and what belongs to them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import BaseModel, ConfigDict

from agent_lsp.engine.goal import Goal
from agent_lsp.engine.hooks import Terms
from agent_lsp.errors import RequestRefused
from agent_lsp.messages.content import Text, UserContent
from agent_lsp.messages.events import SessionUpdate
from agent_lsp.server.hub import Hub, Served, refuse
from agent_lsp.server.inputs import attached_files, read_input
from agent_lsp.server.loop_params import check_retries, refuse_what_is_not_for
from agent_lsp.server.methods import SessionParams, model_name
from agent_lsp.server.progress import Progress, new_token
from agent_lsp.server.run_methods import (
    AbortAnswer,
    AbortParams,
    GoalAnswer,
    LoopAnswer,
    RunAnswer,
    RunParams,
    SteerAnswer,
    SteerParams,
    UnsteerParams,
)
from agent_lsp.sessions.budget import Allowance
from agent_lsp.sessions.slash import expand
from agent_lsp.wire.service import Call, Method, Observer

if TYPE_CHECKING:
    from agent_lsp.engine.account import RunResult
    from agent_lsp.engine.tasks import CompactionTicket, Ticket
    from agent_lsp.server.connection import Connection
    from agent_lsp.server.shapes import Input

_TITLE_CHARS = 60


class ProgressCancelled(BaseModel):
    """`window/workDoneProgress/cancel`."""

    model_config = ConfigDict(extra="ignore")
    token: str | int


class RunHandlers:
    """What makes a session work, and stop."""

    def __init__(self, connection: Connection, hub: Hub) -> None:
        self._connection, self._hub = connection, hub
        self._cancellable: dict[str | int, tuple[Served, Ticket]] = {}

    def requests(self) -> dict[str, Method[Any]]:
        """The methods, by name."""
        return {
            "agent/run": Method(RunParams, self.run),
            "agent/steer": Method(SteerParams, self.steer),
            "agent/unsteer": Method(UnsteerParams, self.unsteer),
            "agent/abort": Method(AbortParams, self.abort),
            "agent/retryNow": Method(SessionParams, self.retry_now),
        }

    def notifications(self) -> dict[str, Observer[Any]]:
        """The notifications, by name."""
        return {"window/workDoneProgress/cancel": Observer(ProgressCancelled, self.progress_cancelled)}

    def run(self, params: RunParams, call: Call) -> Awaitable[RunAnswer]:
        """`agent/run`: takes its place before it returns; the result comes when the task has ended."""
        check_retries(params)
        if not params.input:
            raise refuse("input", "must not be empty")
        is_first = params.session_id is None and not self._hub.has_current
        served = self._hub.current_or_new(params.session_id)
        try:
            input, ticket = self._submit(params, served)
        except RequestRefused:
            if is_first:  # nobody has heard of the session that was made for this run
                self._hub.close(served.session.session_id)
            raise
        self._hub.select(served)
        served.given[ticket.run_id] = params.input

        def interrupt() -> None:
            served.session.session.cancel(ticket)

        call.on_cancel(interrupt)
        return self._result(served, ticket, self._progress(params, ticket, served, input))

    def _submit(self, params: RunParams, served: Served) -> tuple[tuple[UserContent, ...], Ticket]:
        opened = served.session
        refuse_what_is_not_for(opened.mode, params)
        input = self._read(params.input, served)
        if not input:
            raise refuse("input", "must not be empty")
        level = params.thinking_level if opened.mode == "loop" else None  # there, what a prompt brings stays
        stays = SessionUpdate(model=model_name(params.model), thinking_level=level)
        if stays != SessionUpdate():
            opened.update(stays, self._hub.opener)
        goal = Goal(params.goal.budget) if params.goal else None
        terms = Terms(params.expected, params.max_retries)
        ticket = opened.session.submit(input, params.thinking_level, goal, terms, queue=params.queue_if_busy)
        if params.budget:
            opened.budget.allow(ticket.run_id, Allowance(params.budget.usd or 0, params.budget.tokens or 0))
        return input, ticket

    async def _result(self, served: Served, ticket: Ticket, progress: Progress | None) -> RunAnswer:
        result: RunResult = await asyncio.shield(ticket.result)
        served.session.touch()
        served.forget_settled()
        if self._hub.opener.gives_titles and result.turns and not served.session.title:
            self._connection.spawn(served.session.title_when_quiet())
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
            goal=GoalAnswer.of(result.goal) if result.goal else None,
            loop=LoopAnswer(outcome=result.outcome) if result.outcome else None,
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
        opened = self._hub.get(params.session_id).session
        session = opened.session
        current, compaction = session.current(), session.compaction()
        if compaction and params.run_id is None:
            compaction.interrupt.fire()
            return _compaction_aborted(compaction)
        if params.run_id is None:
            ticket = current
        else:
            known = [*session.waiting(), *([current] if current else [])]
            ticket = next((one for one in known if one.run_id == params.run_id), None)
        if ticket is None:
            return _beside(params.run_id is None and opened.stop_children())
        what: Literal["run", "queued"] = "run" if ticket is current else "queued"
        session.cancel(ticket, params.reason)
        return _aborted(ticket, what)

    def retry_now(self, params: SessionParams, _: Call) -> dict[str, bool]:
        """`agent/retryNow`."""
        return {"skipped": self._hub.get(params.session_id).session.session.retry_now()}

    def progress_cancelled(self, params: ProgressCancelled) -> None:
        """The cancel button of a run's progress is an abort of it."""
        if found := self._cancellable.get(params.token):
            served, ticket = found
            served.session.session.cancel(ticket)

    def _read(self, given: Input, served: Served) -> tuple[UserContent, ...]:
        opened = served.session
        encoding = self._connection.greeted.client.position_encoding
        shown, servers = self._hub.editor.shown, opened.toolset.outside()
        input = read_input(given, opened.workspace, opened.paths, encoding, shown, servers)
        for path in attached_files(given):
            opened.files.attach(path)
        return expand(input, opened.commands)

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


async def _compaction_aborted(ticket: CompactionTicket) -> AbortAnswer:
    result = await asyncio.shield(ticket.result)
    aborted = result.status == "aborted"
    return AbortAnswer(aborted=aborted, what="compaction" if aborted else None)


async def _beside(aborted: bool) -> AbortAnswer:
    """No run was there to abort, but perhaps children in the background."""
    return AbortAnswer(aborted=aborted)
