"""Makes spans and metrics of what one session says, message by message.

    invoke_agent              a run
    ├── chat MODEL            a request, each attempt one of its own
    └── execute_tool NAME     a call, from the permission to its output

A session in a session (a subagent) has a run of its own, below the run that started it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from agent_lsp.messages.content import Content, Text, ToolCall, ToolCallOutput
from agent_lsp.messages.events import ApprovalDecision, RequestBegin, RequestEnd, SessionUpdate, TokenCounts, TokenUsage
from agent_lsp.telemetry import names

if TYPE_CHECKING:
    from opentelemetry.metrics import Histogram

    from agent_lsp.messages.envelope import Message

_AGENT = "agent-lsp"
_TELLING = (RequestBegin, RequestEnd, TokenUsage, ApprovalDecision, SessionUpdate, Text, ToolCall, ToolCallOutput)
_MOST_CHARS = 32_768
"""Of one attribute with content: collectors refuse what is much longer."""

Attributes = dict[str, str | int | float | list[str]]


class Subject(NamedTuple):
    """Whose messages they are. `host` and `port` are those of the model's server, if it has any."""

    session_id: str
    parent_id: str | None
    provider: str
    model: str
    host: str = ""
    port: int | None = None


class Instruments(NamedTuple):
    """What is measured with. `runs` are the spans of the runs that go on now, by session."""

    tracer: Tracer
    duration: Histogram
    tokens: Histogram
    has_content: bool
    runs: dict[str, Span]


class Observer:
    """One session's. Never raises: what the SDK has trouble with it keeps to itself."""

    def __init__(self, instruments: Instruments, subject: Subject) -> None:
        self._instruments, self._subject = instruments, subject
        self._run: Span | None = None
        self._run_id: str | None = None
        self._request: tuple[Span, float] | None = None
        self._calls: dict[str, tuple[ToolCall, Span]] = {}
        self._decisions: dict[str, ApprovalDecision] = {}
        self._asked: dict[str, ToolCall] = {}
        self._tokens: TokenCounts | None = None
        self._heard: list[Content] = []
        self._said: list[Content] = []
        self._used = TokenCounts()

    def see(self, message: Message, run_id: str | None) -> None:
        """The next message of the session's stream; those of its children are theirs."""
        payload = message.payload
        if not isinstance(payload, _TELLING) or message.origin:
            return
        if run_id is not None and run_id != self._run_id:
            self.rest()
            self._begin_run(run_id)
        match payload:
            case RequestBegin():
                self._begin_request()
            case TokenUsage(request=tokens):
                self._tokens = tokens
            case RequestEnd():
                self._end_request(payload)
            case ToolCall():
                self._asked[payload.tool_call_id] = payload
                self._said.append(payload)
            case ApprovalDecision():
                self._decided(payload)
            case ToolCallOutput():
                self._end_call(payload)
                self._heard.append(payload)
            case SessionUpdate(model=str(name)):
                provider, _, model = name.partition("/")
                self._subject = self._subject._replace(provider=provider, model=model, host="", port=None)
            case SessionUpdate():
                pass
            case Text():
                (self._said if payload.role == "assistant" else self._heard).append(payload)

    def rest(self, status: str = "") -> None:
        """Nothing goes on any more. `status`: how the last run has ended, if that is known."""
        for _, span in self._calls.values():
            _fail(span, "interrupted")
        if self._request:
            _fail(self._request[0], "interrupted")
        self._calls.clear()
        self._asked.clear()
        self._decisions.clear()
        self._request = None
        if self._run is None:
            return
        self._run.set_attributes(_usage(self._used))
        if status:
            self._run.set_attribute(names.STATUS, status)
        self._instruments.runs.pop(self._subject.session_id, None)
        self._run.end()
        self._run = self._run_id = None
        self._used = TokenCounts()

    # --- what goes on ---

    def _begin_run(self, run_id: str) -> None:
        self._run_id = run_id
        above = self._instruments.runs.get(self._subject.parent_id or "")
        about = self._about("invoke_agent") | {names.AGENT: _AGENT}
        self._run = self._start(f"invoke_agent {_AGENT}", SpanKind.INTERNAL, about, above)
        self._instruments.runs[self._subject.session_id] = self._run

    def _begin_request(self) -> None:
        span = self._start(
            f"chat {self._subject.model}", SpanKind.CLIENT, self._about("chat") | self._where(), self._run
        )
        self._request, self._tokens, self._said = (span, time.monotonic()), None, []

    def _end_request(self, end: RequestEnd) -> None:
        if self._request is None:
            return
        (span, began_s), self._request = self._request, None
        measured = self._measured()
        if end.finish:
            span.set_attribute(names.FINISH_REASONS, [end.finish])
        if end.attempt:
            span.set_attribute(names.ATTEMPT, end.attempt)
        if self._tokens:
            span.set_attributes(_usage(self._tokens))
            self._used += self._tokens
            self._count(self._tokens)
        if self._instruments.has_content:
            span.set_attribute(names.INPUT_MESSAGES, _told(self._heard))
            span.set_attribute(names.OUTPUT_MESSAGES, _told(self._said))
        self._heard = []
        if end.status == "completed":
            span.end()
        else:
            measured[names.ERROR] = end.status
            _fail(span, end.status)
        self._instruments.duration.record(time.monotonic() - began_s, measured)

    def _decided(self, decision: ApprovalDecision) -> None:
        self._decisions[decision.tool_call_id] = decision
        if decision.decision == "allow":
            self._begin_call(decision.tool_call_id)

    def _begin_call(self, call_id: str) -> None:
        call = self._asked.pop(call_id, None)
        if call is None:
            return
        about: Attributes = {
            names.OPERATION: "execute_tool",
            names.TOOL: call.name,
            names.TOOL_CALL: call_id,
            names.TOOL_TYPE: "function",
            names.CONVERSATION: self._subject.session_id,
        }
        if decision := self._decisions.pop(call_id, None):
            about |= {names.DECISION: decision.decision, names.DECIDED_BY: decision.decided_by}
        self._calls[call_id] = call, self._start(f"execute_tool {call.name}", SpanKind.INTERNAL, about, self._run)

    def _end_call(self, output: ToolCallOutput) -> None:
        self._begin_call(output.tool_call_id)  # one that was refused has not begun
        known = self._calls.pop(output.tool_call_id, None)
        if known is None:
            return
        call, span = known
        if self._instruments.has_content:
            span.set_attribute(names.TOOL_ARGUMENTS, call.arguments[:_MOST_CHARS])
            span.set_attribute(names.TOOL_RESULT, output.output[:_MOST_CHARS])
        if output.stop_reason in (None, "completed"):
            span.end()
        else:
            _fail(span, output.stop_reason)

    # --- what is said of it ---

    def _start(
        self, name: str, kind: SpanKind, about: Mapping[str, str | int | float | list[str]], above: Span | None
    ) -> Span:
        context = trace.set_span_in_context(above) if above else None
        return self._instruments.tracer.start_span(name, context, kind, about)

    def _about(self, operation: str) -> Attributes:
        return {
            names.OPERATION: operation,
            names.PROVIDER: names.provider_name(self._subject.provider),
            names.REQUEST_MODEL: self._subject.model,
            names.CONVERSATION: self._subject.session_id,
        }

    def _measured(self) -> Attributes:
        """What a metric is told apart by: never by session, or there would be a series for each."""
        measured = self._about("chat") | self._where()
        del measured[names.CONVERSATION]
        return measured

    def _where(self) -> Attributes:
        if not self._subject.host:
            return {}
        port: Attributes = {names.PORT: self._subject.port} if self._subject.port else {}
        return {names.SERVER: self._subject.host} | port

    def _count(self, tokens: TokenCounts) -> None:
        measured = self._measured()
        for kind, count in (("input", tokens.cache_read + tokens.cache_write), ("output", tokens.output)):
            self._instruments.tokens.record(count, measured | {names.TOKEN_TYPE: kind})


def _usage(tokens: TokenCounts) -> Attributes:
    return {
        names.INPUT_TOKENS: tokens.cache_read + tokens.cache_write,
        names.OUTPUT_TOKENS: tokens.output,
        names.CACHE_READ_TOKENS: tokens.cache_read,
    }


def _fail(span: Span, kind: str) -> None:
    span.set_attribute(names.ERROR, kind)
    span.set_status(Status(StatusCode.ERROR))
    span.end()


def _told(messages: list[Content]) -> str:
    """Messages as the conventions write them, as JSON that is cut where it would be too long."""
    return json.dumps([one for message in messages if (one := _part(message))], ensure_ascii=False)[:_MOST_CHARS]


def _part(message: Content) -> dict[str, object] | None:
    match message:
        case Text():
            return {"role": message.role, "parts": [{"type": "text", "content": message.text}]}
        case ToolCall():
            part = {
                "type": "tool_call",
                "id": message.tool_call_id,
                "name": message.name,
                "arguments": message.arguments,
            }
            return {"role": "assistant", "parts": [part]}
        case ToolCallOutput():
            part = {"type": "tool_call_response", "id": message.tool_call_id, "response": message.output}
            return {"role": "tool", "parts": [part]}
        case _:
            return None
