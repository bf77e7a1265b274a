"""What an editor without a plugin asks for: the methods of the protocol under names of LSP.

agent.run              [prompt, {uri, range}?, {wait: true}?]
agent.steer            [text]
agent.abort  agent.compact  agent.showTranscript  agent.showTrace  agent.showUsage
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from agent_lsp.errors import InvalidParams, RequestRefused, SessionNotFound
from agent_lsp.server.methods import Params
from agent_lsp.server.plain_actions import CodeActionParams, code_actions
from agent_lsp.server.plain_answers import Answers
from agent_lsp.server.plain_arguments import ExecuteParams, Words, argument, is_given
from agent_lsp.server.plain_capabilities import COMMANDS, takes_literals
from agent_lsp.server.plain_lenses import Lenses
from agent_lsp.server.shapes import Range
from agent_lsp.wire.service import Call, Method

if TYPE_CHECKING:
    from agent_lsp.server.connection import Connection
    from agent_lsp.server.hub import Hub, Served
    from agent_lsp.server.run_methods import AbortAnswer, RunAnswer, SteerAnswer
    from agent_lsp.server.session_methods import CompactAnswer

_INPUT = re.compile(r"^input\[")  # its parts are the arguments, in the same order


class Place(Params):
    """The second argument of `agent.run`: a file, or a selection of it."""

    uri: str
    range: Range | None = None


class RunOptions(Params):
    """The third argument of `agent.run`. `wait`: answered at the end, with the run's result."""

    wait: bool = False


class PlainHandlers:
    """Commands, code actions and code lenses, on `methods`: those of the protocol."""

    def __init__(self, connection: Connection, hub: Hub, methods: Mapping[str, Method[Any]]) -> None:
        self._connection, self._hub, self._methods = connection, hub, methods
        self._answers = Answers(connection, hub)
        self._lenses = Lenses(connection, hub, methods, self._answers)
        shows = (self._show_transcript, self._show_trace, self._show_usage)
        commands = (self._run, self._steer, self._abort, self._compact, *shows)
        self._commands: dict[str, Callable[[ExecuteParams, Call], Any]] = dict(zip(COMMANDS, commands, strict=True))
        self._commands |= self._lenses.commands()

    def requests(self) -> dict[str, Method[Any]]:
        """The methods, by name."""
        return {"workspace/executeCommand": Method(ExecuteParams, self.execute), **self.offers()}

    def offers(self) -> dict[str, Method[Any]]:
        """Those that offer commands and carry out none."""
        return {"textDocument/codeAction": Method(CodeActionParams, self.code_actions), **self._lenses.requests()}

    def execute(self, params: ExecuteParams, call: Call) -> Any:
        """`workspace/executeCommand`. Editors show the message of an error and nothing else: it says what to do."""
        command = self._commands.get(params.command)
        if command is None:
            known = ", ".join(self._commands)
            why = f"must be one of {known}, not {params.command[:100]!r}"
            raise InvalidParams(f"invalid params: command {why}", [("command", why)])
        try:
            return command(params, call)
        except RequestRefused as error:
            _say_it_all(error)
            raise

    def code_actions(self, params: CodeActionParams, _: Call) -> list[dict[str, Any]]:
        """`textDocument/codeAction`."""
        greeted = self._connection.greeted
        prompts: dict[str, str] = greeted.configuration.values.get("prompts", {})
        return code_actions(params, prompts, literals=takes_literals(greeted.client.capabilities))

    # --- the commands -------------------------------------------------------------------------------------------------

    def _run(self, params: ExecuteParams, call: Call) -> Any:
        given = params.arguments
        prompt = argument(given, 0, Words)
        place = argument(given, 1, Place) if is_given(given, 1) else None
        options = argument(given, 2, RunOptions) if is_given(given, 2) else RunOptions()
        parts: list[dict[str, Any]] = [{"type": "text", "text": prompt.words}]
        if place:
            parts.append({"type": "resource", **place.model_dump(exclude_none=True)})
        result = self._methods["agent/run"].serve(
            call, input=parts, workDoneToken=params.work_done_token, queueIfBusy=True
        )
        served = self._hub.get(None)  # a run makes its session the current one
        self._lenses.watch(served.session)
        answered = self._answered(served, result)
        if options.wait:
            return answered
        self._connection.spawn(answered)
        return {"sessionId": served.session.session_id, "runId": _last_taken_on(served)}

    async def _answered(self, served: Served, result: Awaitable[RunAnswer]) -> RunAnswer:
        answer = await result
        await self._answers.give(served, answer)
        return answer

    def _steer(self, params: ExecuteParams, call: Call) -> SteerAnswer:
        words = argument(params.arguments, 0, Words)
        self._current()
        answer: SteerAnswer = self._methods["agent/steer"].serve(call, input=words.words)
        if not answer.accepted:
            self._answers.say("warning", "Nothing runs that could be steered: use agent.run.")
        return answer

    def _abort(self, _: ExecuteParams, call: Call) -> Awaitable[AbortAnswer]:
        self._current()
        return self._methods["agent/abort"].serve(call)

    def _compact(self, _: ExecuteParams, call: Call) -> Awaitable[CompactAnswer]:
        self._current()
        return self._compacted(self._methods["agent/compact"].serve(call))

    async def _compacted(self, result: Awaitable[CompactAnswer]) -> CompactAnswer:
        answer = await result
        if answer.availability != "ok":
            self._answers.say("info", f"There is nothing to compact: {answer.availability.replace('_', ' ')}.")
        elif answer.status == "completed":
            self._answers.say("info", "The context was compacted.")
        elif answer.status != "aborted":
            self._answers.say("error", f"The context was not compacted: {answer.error_message or answer.status}")
        return answer

    def _show_transcript(self, _: ExecuteParams, __: Call) -> dict[str, str]:
        """Answered before it is shown: some clients can answer nothing while they wait for a command."""
        served = self._current()
        uri = self._answers.uri(served)
        self._connection.spawn(self._answers.show(served))
        return {"uri": uri}

    def _show_trace(self, _: ExecuteParams, call: Call) -> dict[str, str]:
        """Answered before the page is made, which can take longer than some clients wait for a command."""
        session_id = self._current().session.session_id
        page = self._methods["agent/session/page"].serve(call, sessionId=session_id)
        self._connection.spawn(self._answers.browse(page))
        return {}

    def _show_usage(self, _: ExecuteParams, call: Call) -> dict[str, str]:
        self._connection.spawn(self._answers.browse(self._methods["agent/usage/page"].serve(call)))
        return {}

    def _current(self) -> Served:
        """The session that a command is about."""
        if not self._hub.has_current:
            error = SessionNotFound(None)
            error.hint = "run a prompt first"
            raise error
        return self._hub.get(None)


def _say_it_all(error: RequestRefused) -> None:
    """Puts into the message what is otherwise beside it: which argument is wrong and why, or what to do."""
    if isinstance(error, InvalidParams):
        error.errors = [(_INPUT.sub("arguments[", path), why) for path, why in error.errors]
        error.message = "invalid params: " + "; ".join(f"{path} {why}" for path, why in error.errors)
    elif error.hint:
        error.message = f"{error.message}: {error.hint}"


def _last_taken_on(served: Served) -> str | None:
    session = served.session.session
    waiting, current = session.waiting(), session.current()
    return waiting[-1].run_id if waiting else current.run_id if current else None
