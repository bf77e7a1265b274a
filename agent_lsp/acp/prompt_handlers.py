"""The handlers of a session's work: prompt, steer, cancel."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from agent_lsp.acp.commands import Commands
from agent_lsp.acp.methods import PromptParams, SessionParams
from agent_lsp.acp.prompts import read_prompt
from agent_lsp.acp.refusals import PromptFailed, refuse
from agent_lsp.acp.slash import Command, built_in
from agent_lsp.engine.goal import Goal
from agent_lsp.messages.content import Text, UserContent
from agent_lsp.sessions.slash import expand
from agent_lsp.wire.service import Call, Method, Observer

if TYPE_CHECKING:
    from agent_lsp.acp.connection import Connection
    from agent_lsp.acp.hub import Hub, Served
    from agent_lsp.engine.account import RunResult
    from agent_lsp.engine.tasks import Ticket

_CUT_SHORT = {"length": "max_tokens", "refusal": "refusal", "content_filter": "refusal"}


class PromptHandlers:
    """What makes a session work, and stop."""

    def __init__(self, connection: Connection, hub: Hub) -> None:
        self._connection, self._hub = connection, hub
        self._commands = Commands(hub)

    def requests(self) -> dict[str, Method[Any]]:
        """The methods, by name."""
        return {
            "session/prompt": Method(PromptParams, self.prompt),
            "_session/steering": Method(PromptParams, self.steer),
        }

    def notifications(self) -> dict[str, Observer[Any]]:
        """The notifications, by name."""
        return {"session/cancel": Observer(SessionParams, self.cancel)}

    def prompt(self, params: PromptParams, call: Call) -> Awaitable[dict[str, Any]]:
        """`session/prompt`: takes its place before it returns; one that comes too early waits for its turn."""
        served = self._hub.get(params.session_id)
        input, goal = read_prompt(params.prompt, served.opened), None
        match built_in(input):
            case Command("goal", objective):
                if not objective:
                    raise refuse("prompt", "has no objective: /goal what is to be reached")
                input, goal = (Text(role="user", text=objective),), Goal(None)
            case Command() as command:
                return self._commands.carry_out(command, served, call)
            case None:
                input = expand(input, served.opened.commands)
        return self._run(served, input, goal, call)

    def steer(self, params: PromptParams, _: Call) -> dict[str, str]:
        """`_session/steering`: words for the running task, or the client has to send them as a prompt."""
        served = self._hub.get(params.session_id)
        entry = served.opened.session.steer(read_prompt(params.prompt, served.opened))
        return {"outcome": "injected" if entry else "promptRequired"}

    def cancel(self, params: SessionParams) -> None:
        """`session/cancel`: ends what the session does, and forgets what waits. No such session: nothing to do."""
        if served := self._hub.find(params.session_id):
            session = served.opened.session
            current, compaction = session.current(), session.compaction()
            for ticket in (*session.waiting(), *([current] if current else [])):
                session.cancel(ticket)
            if compaction:
                compaction.interrupt.fire()

    def _run(
        self, served: Served, input: tuple[UserContent, ...], goal: Goal | None, call: Call
    ) -> Awaitable[dict[str, Any]]:
        if not input:
            raise refuse("prompt", "must not be empty")
        session = served.opened.session
        ticket = session.submit(input, goal=goal, queue=True)

        def interrupt() -> None:
            session.cancel(ticket)

        call.on_cancel(interrupt)
        return self._ended(served, ticket)

    async def _ended(self, served: Served, ticket: Ticket) -> dict[str, Any]:
        result: RunResult = await asyncio.shield(ticket.result)
        opened = served.opened
        opened.touch()
        served.projection.calls.end(ticket.run_id)
        if self._hub.opener.gives_titles and result.status == "completed" and result.turns and not opened.title:
            self._connection.spawn(opened.title_when_quiet())
        return {"stopReason": stop_reason(result)}


def stop_reason(result: RunResult) -> str:
    """Why a prompt has ended. Raises PromptFailed where the protocol has no word for it."""
    match result.status:
        case "completed":
            return _CUT_SHORT.get(result.finish or "", "end_turn")
        case "aborted":
            return "cancelled"
        case "max_turns":
            return "max_turn_requests"
        case _:
            raise PromptFailed(result)
