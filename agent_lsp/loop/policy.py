"""The rules of a loop session, at the engine's hooks: limits, repeats, variables, what an answer must be.

It decides by the records, which the stream has brought up to date just before, and keeps no second account. Every
session has a policy and few are ever in loop mode, so what only that mode needs is imported when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json

from agent_lsp.engine.hooks import CallEnd, HistoryPlan, Hooks, Retry, Stop
from agent_lsp.engine.ports import LLM, CallBegin, CallDelta, Outcome, Part, SegmentEnd, ToolResult
from agent_lsp.loop import endings
from agent_lsp.loop.marks import Mark, reason_of
from agent_lsp.loop.options import CANNOT_COMPLETE, FINAL_ANSWER, LoopOptions
from agent_lsp.loop.turn_reducer import SAME_RESULTS
from agent_lsp.loop.variables import UnknownVariable
from agent_lsp.messages import markers
from agent_lsp.messages.content import Content, Fidelity, Text, ToolCall, ToolCallOutput, UserContent
from agent_lsp.messages.events import Event, LoopDecision, LoopStep, ToolSpec
from agent_lsp.slotted import frozen, replace

if TYPE_CHECKING:
    from agent_lsp.engine.account import RunResult
    from agent_lsp.loop.preparation import Child
    from agent_lsp.loop.records import CallRecord, Turn
    from agent_lsp.loop.reducer import Reducer
    from agent_lsp.messages.envelope import SessionMeta

_NOTED = "Noted."
_REJECTED = "The answer is not the one that is expected. Check what was asked for, and give another one."


@frozen
class Around:
    """What a policy needs of its session: its tools, the model for small requests and for summaries, and children.

    `summarizer`: None: the session's own model.
    """

    tools: Callable[[], Sequence[ToolSpec]]
    llm: Callable[[], LLM]
    summarizer: Callable[[], LLM] | None = None
    child: Child | None = None


class LoopPolicy(Hooks):
    """One session's. Out of loop mode it lets everything pass."""

    def __init__(self, options: LoopOptions, reducer: Reducer, around: Around) -> None:
        self._options, self._limits, self._around = options, options.limits, around
        self._reducer, self._turns, self._records = reducer, reducer.turns, reducer.records
        self._say: Callable[[Event], None] = _nowhere
        self._known: Sequence[Content] = ()
        self._initial: Sequence[Part] = ()

    def attach(self, say: Callable[[Event], None]) -> None:
        """Where steps are said."""
        self._say = say

    def observe(self, payload: Content | Event | SessionMeta) -> None:
        """The records follow everything."""
        self._reducer.apply(payload)

    def waits_for_tools(self) -> bool:
        """A prompt that was interrupted ends with its tools."""
        return self._is_on

    # --- before the first request ---

    def compression(self, messages: Sequence[Content]) -> HistoryPlan | None:
        """A summary, if the history has become too long."""
        self._known = messages
        if not self._is_on:
            return None
        from agent_lsp.loop import compression
        from agent_lsp.loop.planned_llm import PlannedLLM

        summarizer = self._around.summarizer
        planned = PlannedLLM(summarizer(), str, self._options.max_output_chars) if summarizer else None
        return compression.plan(messages, self._limits, planned)

    def setting_up(self, input: Sequence[UserContent]) -> Coroutine[Any, Any, Sequence[Text] | Stop] | None:
        """Finds out whether a tool that has asked is answered, and has values named for the prompt."""
        self._initial = ()
        if not self._is_on or not (self._records.pending or self._options.preparation):
            return None
        return self._set_up(input)

    def initial_parts(self, input: Sequence[UserContent]) -> Sequence[Part]:
        """The call of the tool that is answered, in place of a decision."""
        initial, self._initial = self._initial, ()
        return initial

    async def _set_up(self, input: Sequence[UserContent]) -> Sequence[Text] | Stop:
        said = "\n\n".join(one.text for one in input if isinstance(one, Text))
        if self._records.pending:
            self._initial = await self._answering(self._records.pending, said)
        preparation, child = self._options.preparation, self._around.child
        if preparation is None or child is None:
            return ()
        from agent_lsp.loop.preparation import PreparationFailed, prepare

        try:
            text = await prepare(preparation, child, self._known)
        except PreparationFailed as error:
            return Stop("failed", endings.failed_setup(str(error)), str(error))
        return (text,) if text else ()

    async def _answering(self, pending: CallRecord, said: str) -> Sequence[Part]:
        """The call that takes the words as an answer; nothing when they are a prompt of their own."""
        from agent_lsp.loop.preparation import is_answer
        from agent_lsp.loop.reader import Planned, arguments, single_string

        tools = {tool.name: tool for tool in self._around.tools()}
        spec = tools.get(pending.tool)
        others = (name for name in tools if name != pending.tool)
        if single_string(spec) is None or any(name in said for name in others):
            return ()
        if not await is_answer(self._around.llm(), pending.output, said):
            return ()
        raw = arguments(Planned(pending.tool, said), spec)
        return (
            CallBegin(0, pending.tool, ""),
            CallDelta(0, raw),
            SegmentEnd(0),
            Outcome("completed", finish="tool_calls"),
        )

    # --- requests ---

    def before_request(self) -> Stop | None:
        """Ends a prompt that has no step left; an answer that was not the last word is a step all the same."""
        turn = self._turn
        if turn is None:
            return None
        if self._turns.answer is not None:
            self._step(turn, LoopDecision(tool=FINAL_ANSWER), "final_answer")
        if len(turn.steps) < self._limits.max_steps_per_turn:
            return None
        return Stop("max_turns", endings.step_limit(self._limits.max_steps_per_turn))

    def after_attempt(self, outcome: Outcome) -> Retry | Stop | None:
        """A reply that could not be read is an error, and the model is told of it."""
        turn = self._turn
        if turn is None or outcome.status != "malformed":
            return None
        if turn.errors + 1 >= self._limits.max_errors:  # this one is counted when it is said
            return Stop("malformed", endings.error_limit(self._limits.max_errors), outcome.message)
        if outcome.reply is None:
            return None
        from agent_lsp.loop.rendering import unreadable_note

        note = unreadable_note(outcome.reply, outcome.message or "it could not be read")
        return Retry(Text(role="user", text=note, sender="harness"))

    # --- calls ---

    def prepare_call(self, call: ToolCall) -> ToolCall | ToolResult:
        """Puts variables in; what only ends the prompt needs no tool."""
        if self._turn is None:
            return call
        if call.name == CANNOT_COMPLETE:
            return ToolResult(_NOTED)
        try:
            given: Any = from_json(call.arguments) if call.arguments.strip() else {}
            resolved = self._records.variables.resolve_in(given)
        except UnknownVariable as error:
            return ToolResult(f"[tool error] {error}; the call was not run", "failed")
        return call if resolved == given else call.model_copy(update={"arguments": to_json(resolved).decode()})

    def mark_output(self, call: ToolCall, end: CallEnd) -> Fidelity | None:
        """A result becomes a variable, whether the tool has returned it or the call was denied."""
        if self._turn is None or call.name == CANNOT_COMPLETE:
            return None
        result = end.result
        named = result.stop_reason in (None, "completed") or _is_denied(end)
        ref = self._records.variables.next_name(call.name) if named else None
        return Mark(ref, result.note_chars, result.archive, result.needs_input).fidelity()

    def after_tool(self, call: ToolCall, output: ToolCallOutput, end: CallEnd) -> Stop | None:
        """One step is done; it may have been the last."""
        turn = self._turn
        if turn is None or (end.result.stop_reason == "aborted" and not _is_denied(end)):
            return None
        decision = LoopDecision(tool=call.name, reason=reason_of(call))
        if call.name == CANNOT_COMPLETE:
            self._step(turn, decision, "cannot_complete")
            return Stop("completed", self._turns.reason(turn) or "The model gave no reason.")
        if _is_denied(end):
            self._step(turn, decision, "error" if end.decision and end.decision.failed else "denied")
        else:
            self._step(turn, decision, "result" if end.result.stop_reason in (None, "completed") else "error")
        return self._stop_after(turn, end)

    def late_result(self, call: ToolCall, result: ToolResult) -> None:
        """It is written down, and goes nowhere else."""
        for record in self._records.calls:
            if record.call_id == call.tool_call_id:
                record.late = result.output or markers.NO_OUTPUT

    def _stop_after(self, turn: Turn, end: CallEnd) -> Stop | None:
        last = turn.last_call
        if turn.errors >= self._limits.max_errors:
            return Stop("failed", endings.error_limit(self._limits.max_errors))
        if last and end.result.needs_input and last.status == "ok":
            return Stop("completed", last.output)
        if last and turn.streak >= SAME_RESULTS:
            return Stop("completed", endings.repeated(last))
        return None

    # --- the end ---

    def before_end(self) -> Sequence[Text]:
        """Holds the answer against what is expected."""
        turn = self._turn
        if turn is None:
            return ()
        answer = self._turns.answer or ""
        if turn.expected is None or answer.strip().casefold() == turn.expected.strip().casefold():
            self._step(turn, LoopDecision(tool=FINAL_ANSWER), "final_answer")
            return ()
        self._step(turn, LoopDecision(tool=FINAL_ANSWER), "rejected")
        if turn.status != "running":
            return ()
        return (Text(role="user", text=markers.block("answer_rejected", _REJECTED), sender="harness"),)

    def ended(self, result: RunResult) -> RunResult:
        """The caller hears what the records say."""
        if not self._is_on:
            return result
        turn = self._records.turn
        if turn is None or turn.run_id != result.run_id:
            return replace(result, outcome="interrupted")  # it never began
        self._turns.settle("interrupted" if result.status == "aborted" else "failed")
        return replace(result, text=self._records.last_answer or "", outcome=turn.outcome)

    # --- small things ---

    @property
    def _is_on(self) -> bool:
        return self._reducer.is_looping

    @property
    def _turn(self) -> Turn | None:
        """The prompt that goes on, if the rules hold for it."""
        return self._records.turn if self._is_on else None

    def _step(self, turn: Turn, decision: LoopDecision, outcome: Any) -> None:
        self._say(LoopStep(step=len(turn.steps) + 1, decision=decision, outcome=outcome))


def _is_denied(end: CallEnd) -> bool:
    return end.decision is not None and end.decision.decision != "allow"


def _nowhere(_: Event) -> None:
    pass
