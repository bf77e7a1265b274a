"""What becomes of one prompt, record by record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pydantic_core import from_json

from agent_lsp.loop import endings
from agent_lsp.loop.marks import Mark, reason_of, text_of
from agent_lsp.loop.options import FINAL_ANSWER, RESERVED
from agent_lsp.loop.records import CallRecord, Entry, Outcome, Records, SessionStatus, Turn, TurnStatus
from agent_lsp.loop.variables import Value
from agent_lsp.messages.content import Content, ImageUrl, Text, ToolCall, ToolCallOutput
from agent_lsp.messages.events import Abort, ApprovalDecision, Event, LoopStep, RequestBegin, RequestEnd

if TYPE_CHECKING:
    from agent_lsp.messages.envelope import SessionMeta

SAME_RESULTS = 3
"""The same call with the same result so often running ends a prompt."""


class TurnReducer:
    """Applies what happens inside of prompts. Out of loop mode it only follows along."""

    def __init__(self, records: Records, *, is_looping: bool) -> None:
        self.records, self.is_looping = records, is_looping
        self.answer: str | None = None
        """The text of the last reply without calls, as long as nobody has judged it."""
        self._in_request = False
        self._reply: list[str] = []
        self._has_calls = False
        self._gave_up = False

    def begin(self, turn: Turn) -> None:
        """A prompt begins."""
        self.records.turn = turn
        self._gave_up, self.answer = False, None
        if self.is_looping:
            self.records.turns.append(turn)
            self.records.status = "running"

    def join(self) -> None:
        """The session has come to loop mode; a prompt that its model is being asked about counts from here on."""
        turn = self.records.turn
        if turn and self._in_request and turn not in self.records.turns:
            self.records.turns.append(turn)
            self.records.status = "running"
            self.records.add(type="user", message=turn.prompt)

    def settle(self, status: TurnStatus = "interrupted") -> None:
        """Nothing more comes of the present turn: one that has no end by now was left, or has failed inside."""
        turn = self.records.turn
        if turn and turn.status == "running":
            if status == "interrupted":
                self._interrupted(turn, None)
            else:
                self._fail(turn, "failed", {"type": "error", "message": "the session failed inside"})

    def apply(self, payload: Content | Event | SessionMeta, turn: Turn) -> None:
        """Takes the next record of the prompt."""
        match payload:
            case Text(role="user") | ImageUrl():
                self._heard(payload, turn)
            case Text():
                if self._in_request:
                    self._reply.append(payload.text)
                else:
                    self._ended_by_policy(payload.text, turn)
            case RequestBegin():
                self._asked(turn)
            case RequestEnd():
                self._request_ended(payload, turn)
            case ToolCall():
                self._called(payload)
            case ToolCallOutput():
                self._answered(payload, turn)
            case ApprovalDecision(decision="deny" | "forbidden"):
                if call := self._call(payload.tool_call_id):
                    call.status = "denied"
            case LoopStep():
                self._stepped(payload, turn)
            case Abort():
                self._aborted(payload, turn)
            case _:
                pass

    def _heard(self, said: Text | ImageUrl, turn: Turn) -> None:
        """The prompt, or what was said while it runs; what the harness says is no part of it."""
        if isinstance(said, Text) and said.sender == "harness":
            return
        words = said.text if isinstance(said, Text) else "[image]"
        if not turn.has_begun:
            turn.prompt = f"{turn.prompt}\n\n{words}" if turn.prompt else words
        if self.is_looping:
            self.records.add(type="user", message=words)

    def _asked(self, turn: Turn) -> None:
        self._in_request, self._reply, self._has_calls = True, [], False
        self._gave_up, turn.has_begun, self.records.pending = False, True, None
        if turn.status != "running" and self.is_looping:  # it goes on: something was said meanwhile
            turn.status, self.records.status = "running", "running"

    def _request_ended(self, end: RequestEnd, turn: Turn) -> None:
        self._in_request = False
        failed = end.status not in ("completed", "aborted")
        self._gave_up = failed and end.retry_in_ms is None
        if end.status == "completed" and not self._has_calls:
            self.answer = "".join(self._reply)
        if end.status == "malformed" and self.is_looping:
            self._count_error(turn)
            self.records.add(type="error", message=end.error_message or "the reply could not be read")

    def _called(self, call: ToolCall) -> None:
        self._has_calls = self._has_calls or call.stop_reason is None
        if call.stop_reason is not None or not self.is_looping:
            return
        record = CallRecord(call.tool_call_id, call.name, _value(call.arguments), reason_of(call))
        if call.name not in RESERVED:
            self.records.calls.append(record)
            reason = {"reason": record.reason} if record.reason else {}
            self.records.add(type="tool_call", tool=call.name, input=record.input, **reason)
        if self.records.turn:
            self.records.turn.last_call = record

    def _answered(self, output: ToolCallOutput, turn: Turn) -> None:
        call = self._call(output.tool_call_id)
        if call is None:
            return
        mark = Mark.of(output)
        call.result, call.output, call.ref, call.needs_input = (
            text_of(output),
            output.output,
            mark.ref,
            mark.needs_input,
        )
        if call.status == "running":
            reason = output.stop_reason
            call.status = "ok" if reason in (None, "completed") else "interrupted" if reason == "aborted" else "error"
        if mark.ref:
            self.records.variables.keep(mark.ref, Value(call.result, mark.archive))
        turn.last_call = call

    def _stepped(self, step: LoopStep, turn: Turn) -> None:
        match step.outcome:
            case "final_answer" | "rejected":
                self._answer_judged(step, turn)
            case "cannot_complete":
                reason = self.reason(turn)
                decision = _decision(step.decision.tool, {"reason": reason}, step.decision.reason)
                turn.steps.append({"decision": decision, "result": reason})
            case _:
                self._call_ended(step, turn)

    def _call_ended(self, step: LoopStep, turn: Turn) -> None:
        call = turn.last_call
        if call is None:
            return
        call.status = "ok" if step.outcome == "result" else "denied" if step.outcome == "denied" else "error"
        turn.steps.append({"decision": _decision(call.tool, call.input, call.reason), step.outcome: call.output})
        if call.tool not in turn.used_tools:
            turn.used_tools.append(call.tool)
        ref = {"ref": call.ref} if call.ref else {}
        self.records.add(type="tool", tool=call.tool, status=call.status, result=call.output, **ref)
        if step.outcome == "error":
            self._count_error(turn)
        key = (call.tool, call.input, call.result, call.status)
        turn.streak = turn.streak + 1 if key == turn.last_key else 1
        turn.last_key = key

    def _answer_judged(self, step: LoopStep, turn: Turn) -> None:
        answer, self.answer = self.answer or "", None
        entry: Entry = {"decision": _decision(FINAL_ANSWER, {"answer": answer}, step.decision.reason)}
        if step.outcome == "final_answer":
            turn.steps.append(entry | {"result": answer})
            self._done(turn, answer)
            return
        turn.steps.append(entry | {"denied": "the answer is not the expected one"})
        turn.retry_count += 1
        if turn.retry_count < turn.max_retries:
            self.records.add(type="validation_failed", answer=answer, expected=turn.expected)
            return
        turn.final_answer = answer
        self.records.add(type="final_answer", answer=answer, validationFailed=True)
        self._end(turn, "failed", "active", "failed", answer)
        self.records.failed_turns.append(turn)

    # --- the ends ---

    def _ended_by_policy(self, text: str, turn: Turn) -> None:
        if not self.is_looping or turn.status != "running":
            return
        limit, call = endings.reached(text), turn.last_call
        if limit:
            self._fail(turn, "limit", {"type": "timeout" if limit == "step" else "error", "message": text}, text)
        elif call and call.tool in RESERVED:
            self._fail(turn, "cannot_complete", {"type": "cannot_complete", "reason": text}, text)
        elif call and call.needs_input and call.status == "ok":
            self.records.pending = call
            self.records.add(type="awaiting_input", tool=call.tool, question=text)
            self._end(turn, "awaiting_input", "awaiting_input", "awaiting_input", text)
        elif call and turn.streak >= SAME_RESULTS and call.status == "ok":
            self._done(turn, text)
        elif call and turn.streak >= SAME_RESULTS:
            self._fail(turn, "cannot_complete", {"type": "cannot_complete", "reason": text}, text)
        else:
            self._fail(turn, "failed", {"type": "error", "message": text}, text)

    def _aborted(self, abort: Abort, turn: Turn) -> None:
        if not self.is_looping or turn.status != "running":
            return
        if self._gave_up:
            reason = abort.reason or "the provider gave up"
            self._fail(turn, "failed", {"type": "error", "message": reason}, reason)
        else:
            self._interrupted(turn, abort.reason)

    def _interrupted(self, turn: Turn, reason: str | None) -> None:
        if not self.is_looping:
            return
        text = endings.interrupted(reason)
        self.records.add(type="system", event="interrupted", message=text)
        self._end(turn, "interrupted", "interrupted", "interrupted", text)

    def _done(self, turn: Turn, answer: str) -> None:
        turn.final_answer = answer
        self.records.add(type="final_answer", answer=answer)
        self._end(turn, "done", "active", "final_answer", answer)

    def _fail(self, turn: Turn, outcome: Outcome, entry: Entry, text: str | None = None) -> None:
        self.records.add(**entry)
        self._end(turn, "failed", "failed", outcome, text or str(entry.get("message", "")))
        self.records.failed_turns.append(turn)

    def _end(self, turn: Turn, status: TurnStatus, session: SessionStatus, outcome: Outcome, text: str) -> None:
        for call in self.records.calls:
            if call.status == "running":
                call.status = "interrupted" if status == "interrupted" else "withdrawn"
        turn.status, turn.outcome = status, outcome
        self.records.status, self.records.last_answer = session, text

    # --- small things ---

    def _count_error(self, turn: Turn) -> None:
        turn.errors += 1
        self.records.error_count += 1

    def _call(self, call_id: str) -> CallRecord | None:
        turn = self.records.turn
        if turn and turn.last_call and turn.last_call.call_id == call_id:
            return turn.last_call
        return next((call for call in reversed(self.records.calls) if call.call_id == call_id), None)

    def reason(self, turn: Turn) -> str:
        """Why the model has given up."""
        given: Any = turn.last_call.input if turn.last_call else None
        return str(cast("dict[str, Any]", given).get("reason", "")) if isinstance(given, dict) else ""


def _decision(tool: str, input: Any, reason: str | None) -> Entry:
    return {"tool": tool, "input": input, **({"reason": reason} if reason else {})}


def _value(arguments: str) -> Any:
    try:
        return from_json(arguments) if arguments.strip() else {}
    except ValueError:
        return arguments
