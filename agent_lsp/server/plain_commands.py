"""The commands and code actions of an editor without a plugin: the methods of the protocol under names of LSP.

agent.run              [prompt, {uri, range}?, {wait: true}?]
agent.steer            [text]
agent.abort  agent.compact  agent.showTranscript
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from agent_lsp.errors import InvalidParams, RequestRefused, SessionNotFound
from agent_lsp.server import refusals
from agent_lsp.server.connection import Connection
from agent_lsp.server.hub import Hub, Served
from agent_lsp.server.methods import CompactAnswer, Params, Range
from agent_lsp.server.plain_actions import CodeActionParams, code_actions
from agent_lsp.server.plain_answers import Answers
from agent_lsp.server.plain_capabilities import COMMANDS, takes_literals
from agent_lsp.server.run_methods import AbortAnswer, RunAnswer, SteerAnswer
from agent_lsp.server.service import Call, Method

ModelT = TypeVar("ModelT", bound=BaseModel)


class ExecuteParams(Params):
    """`workspace/executeCommand`."""

    command: str
    arguments: list[Any] | None = None
    work_done_token: str | int | None = None


class Words(Params):
    """The first argument of a command that takes words."""

    words: Annotated[str, Field(min_length=1)]


class Place(Params):
    """The second argument of `agent.run`: a file, or a selection of it."""

    uri: str
    range: Range | None = None


class RunOptions(Params):
    """The third argument of `agent.run`. `wait`: answered at the end, with the run's result."""

    wait: bool = False


class PlainHandlers:
    """`workspace/executeCommand` and `textDocument/codeAction`, on `methods`: those of the protocol."""

    def __init__(self, connection: Connection, hub: Hub, methods: Mapping[str, Method[Any]]) -> None:
        self._connection, self._hub, self._methods = connection, hub, methods
        self._answers = Answers(connection, hub)
        self._commands: dict[str, Callable[[ExecuteParams, Call], Any]] = dict(
            zip(COMMANDS, (self._run, self._steer, self._abort, self._compact, self._show_transcript), strict=True)
        )

    def requests(self) -> dict[str, Method[Any]]:
        """The methods, by name."""
        return {
            "workspace/executeCommand": Method(ExecuteParams, self.execute),
            "textDocument/codeAction": Method(CodeActionParams, self.code_actions),
        }

    def execute(self, params: ExecuteParams, call: Call) -> Any:
        """`workspace/executeCommand`. Editors show the message of an error and nothing else: it says what to do."""
        command = self._commands.get(params.command)
        if command is None:
            known = ", ".join(self._commands)
            raise InvalidParams(f"no command {params.command[:100]!r}", [("command", f"must be one of {known}")])
        try:
            return command(params, call)
        except RequestRefused as error:
            if error.hint:
                error.message = f"{error.message}: {error.hint}"
            raise

    def code_actions(self, params: CodeActionParams, _: Call) -> list[dict[str, Any]]:
        """`textDocument/codeAction`."""
        greeted = self._connection.greeted
        prompts: dict[str, str] = greeted.configuration.values.get("prompts", {})
        return code_actions(params, prompts, literals=takes_literals(greeted.client.capabilities))

    # --- the commands -------------------------------------------------------------------------------------------------

    def _run(self, params: ExecuteParams, call: Call) -> Any:
        given = params.arguments or []
        prompt = _argument(given, 0, Words)
        place = _argument(given, 1, Place) if _is_given(given, 1) else None
        options = _argument(given, 2, RunOptions) if _is_given(given, 2) else RunOptions()
        parts: list[dict[str, Any]] = [{"type": "text", "text": prompt.words}]
        if place:
            parts.append({"type": "resource", **place.model_dump(exclude_none=True)})
        result = self._ask("agent/run", call, input=parts, workDoneToken=params.work_done_token, queueIfBusy=True)
        served = self._hub.get(None)  # a run makes its session the current one
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
        words = _argument(params.arguments or [], 0, Words)
        self._current()
        answer: SteerAnswer = self._ask("agent/steer", call, input=words.words)
        if not answer.accepted:
            self._answers.say("warning", "Nothing runs that could be steered: use agent.run.")
        return answer

    def _abort(self, _: ExecuteParams, call: Call) -> Awaitable[AbortAnswer]:
        self._current()
        return self._ask("agent/abort", call)

    def _compact(self, _: ExecuteParams, call: Call) -> Awaitable[CompactAnswer]:
        self._current()
        return self._compacted(self._ask("agent/compact", call))

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

    def _current(self) -> Served:
        """The session that a command is about."""
        if not self._hub.has_current:
            error = SessionNotFound(None)
            error.hint = "run a prompt first"
            raise error
        return self._hub.get(None)

    def _ask(self, name: str, call: Call, **sent: Any) -> Any:
        """Serves a command as the method of the protocol that it stands for."""
        method = self._methods[name]
        return method.handler(method.params.model_validate(sent), call)


def _last_taken_on(served: Served) -> str | None:
    session = served.session.session
    waiting, current = session.waiting(), session.current()
    return waiting[-1].run_id if waiting else current.run_id if current else None


def _is_given(arguments: Sequence[Any], index: int) -> bool:
    return index < len(arguments) and arguments[index] is not None


def _argument(arguments: Sequence[Any], index: int, shape: type[ModelT]) -> ModelT:
    """An argument of a command. Raises InvalidParams, which names it by its place."""
    field = f"arguments[{index}]"
    if not _is_given(arguments, index):
        raise InvalidParams(f"invalid params: {field}: is required", [(field, "is required")])
    given: Any = {"words": arguments[index]} if shape is Words else arguments[index]
    try:
        return shape.model_validate(given)
    except ValidationError as error:
        found = refusals.invalid_params(error, given).errors
        errors = [(field if path in ("", "words") else f"{field}.{path}", message) for path, message in found]
        raise InvalidParams(f"invalid params: {errors[0][0]}: {errors[0][1]}", errors) from None
