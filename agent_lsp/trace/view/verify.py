"""Checks that a trace is what a trace must be: whole lines, in an order that can have been, calls and outputs paired.

An *error* is what no engine writes. A *note* is what a crash, or a process that is still running, leaves behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from agent_lsp.engine.carry_over import is_paired
from agent_lsp.engine.ledger import Ledger
from agent_lsp.messages.content import PARTIAL_TYPES, Content, Text, ToolCall, ToolCallOutput
from agent_lsp.messages.envelope import FORMAT, Message, SessionMeta
from agent_lsp.messages.events import (
    Abort,
    ApprovalDecision,
    CompactionBegin,
    CompactionEnd,
    ContextSeed,
    Event,
    McpConnectBegin,
    McpConnectEnd,
    RequestBegin,
    RequestEnd,
    RunBegin,
    SessionUpdate,
    TokenCounts,
    TokenUsage,
)
from agent_lsp.slotted import field, frozen, mutable
from agent_lsp.trace.reader import read_records

_AFTER_ABORT = (RunBegin, CompactionBegin, SessionUpdate, ContextSeed, McpConnectBegin, McpConnectEnd)
"""What may come next although an abort is the last message of its run."""

Severity = Literal["error", "note"]


@frozen
class Finding:
    """Something about one line of a file (0: about the whole)."""

    line: int
    severity: Severity
    message: str


@frozen
class Verdict:
    """What was found in one file, and how much was looked at."""

    path: Path
    records: int
    turns: int
    findings: tuple[Finding, ...]

    @property
    def is_sound(self) -> bool:
        """Whether there is no error."""
        return not any(one.severity == "error" for one in self.findings)


def verify(path: Path) -> Verdict:
    """Checks one trace file. OSError when it cannot be read."""
    check = _Check()
    for record in read_records(path):
        check.line = record.number
        if record.message is not None:
            check.take(record.message)
        elif record.terminated:
            check.error("not a message")
        else:
            check.note("cut off in the middle, as a crash leaves it")
    return check.verdict(path)


@mutable
class _Call:
    line: int
    is_cut: bool
    decided: bool = False
    answered: bool = False


@mutable
class _Check:
    """What was read so far, and what was wrong with it."""

    line: int = 0
    records: int = 0
    findings: list[Finding] = field(default_factory=list[Finding])
    _ledger: Ledger = field(default_factory=Ledger)
    _stamp: str = ""
    _calls: dict[str, _Call] = field(default_factory=dict[str, _Call])
    _request_line: int = 0
    _compaction_line: int = 0
    _counted: TokenUsage | None = None
    _session: TokenCounts | None = None
    _aborted: bool = False
    _seeds: int = 0

    def error(self, message: str) -> None:
        """Something that no engine writes."""
        self.findings.append(Finding(self.line, "error", message))

    def note(self, message: str) -> None:
        """Something that is left when a process ends."""
        self.findings.append(Finding(self.line, "note", message))

    def take(self, message: Message) -> None:
        """The next record."""
        self.records += 1
        payload = message.payload
        if isinstance(payload, PARTIAL_TYPES):
            self.error(f"a fragment ({payload.type}), which belongs to the stream only")
            return
        if message.origin:
            self.error("a message of a child session, which has a trace of its own")
            return
        self._check_place(message)
        if self._seeds and isinstance(payload, Content):
            self._seeds -= 1
        elif isinstance(payload, Content):
            self._said(payload)
        elif not isinstance(payload, SessionMeta):
            self._happened(payload)
        self._ledger.apply(payload)

    def verdict(self, path: Path) -> Verdict:
        """What came of it."""
        if not self.records:
            self.line = 0
            self.error("no message in it")
        self._left_open()
        self._check_pairing()
        ordered = sorted(self.findings, key=lambda one: one.line)
        return Verdict(path, self.records, self._ledger.turns, tuple(ordered))

    # --- one record ---

    def _check_place(self, message: Message) -> None:
        meta = message.payload if isinstance(message.payload, SessionMeta) else None
        if (self.records == 1) != (meta is not None):
            self.error("a second session_meta" if meta else "the first record is not a session_meta")
        if meta and meta.format > FORMAT:
            self.note(f"written in format {meta.format}; this version knows up to {FORMAT}")
        if message.timestamp < self._stamp:
            self.note(f"earlier than the record before it ({message.timestamp} after {self._stamp})")
        self._stamp = max(self._stamp, message.timestamp)
        if self._aborted and not isinstance(message.payload, _AFTER_ABORT):
            self.error("it follows an abort, which is the last of a run")
            self._aborted = False

    def _said(self, content: Content) -> None:
        match content:
            case ToolCall():
                self._called(content)
            case ToolCallOutput():
                self._answered(content)
            case Text() if content.role == "assistant" and not self._request_line:
                if content.stop_reason is None:
                    self.error("a text of the model outside a request")
            case _:
                if content.role == "assistant" and not self._request_line:
                    self.error(f"{content.type} of the model outside a request")

    def _called(self, call: ToolCall) -> None:
        if not self._request_line:
            self.error("a tool call outside a request")
        if call.tool_call_id in self._calls:
            self.error(f"the id {call.tool_call_id!r} is that of an earlier call")
        self._calls[call.tool_call_id] = _Call(self.line, call.stop_reason is not None)

    def _answered(self, output: ToolCallOutput) -> None:
        call = self._calls.get(output.tool_call_id)
        if call is None:
            self.error(f"an output of {output.tool_call_id!r}, which was never called")
        elif call.answered:
            self.error(f"a second output of {output.tool_call_id!r}")
        elif call.is_cut:
            self.error(f"an output of {output.tool_call_id!r}, which was cut and never run")
        elif not call.decided and not self._compaction_line:
            self.error(f"an output of {output.tool_call_id!r} before it was decided")
        if call:
            call.answered = True

    def _happened(self, event: Event) -> None:
        match event:
            case RunBegin():
                self._left_open()
            case RequestBegin():
                self._request_began()
            case TokenUsage():
                self._count(event)
            case RequestEnd():
                self._request_ended(event)
            case ApprovalDecision():
                self._decided(event)
            case CompactionBegin():
                if self._compaction_line:
                    self.error("a compaction inside another one")
                self._compaction_line, self._aborted = self.line, False
            case CompactionEnd():
                if not self._compaction_line:
                    self.error("the end of a compaction that never began")
                self._compaction_line = self._request_line = 0
            case ContextSeed():
                self._seeds = event.count
            case Abort():
                self._aborted = True
            case _:
                pass

    def _request_began(self) -> None:
        if self._request_line:
            self.error(f"a request while that of line {self._request_line} is open")
        batch = self._ledger.batch
        if batch and not batch.is_settled() and not self._compaction_line:
            self.error("a request before every call of the last reply has its output")
        self._request_line, self._counted = self.line, None

    def _request_ended(self, end: RequestEnd) -> None:
        if not self._request_line:
            self.error("the end of a request that never began")
        elif end.status == "completed" and self._counted is None:
            self.note("a completed request whose tokens are not known")
        elif end.status != "completed" and self._counted is not None:
            self.error("tokens of a request that did not complete")
        self._request_line = 0

    def _count(self, usage: TokenUsage) -> None:
        if not self._request_line:
            self.error("tokens outside a request")
        request, before = usage.request, self._session
        if request.total != request.cache_read + request.cache_write + request.output:
            self.error("the tokens of the request do not add up to their total")
        if before is not None and before + request != usage.session:
            self.error("the tokens of the session are not those before and those of the request")
        self._counted, self._session = usage, usage.session

    def _decided(self, decision: ApprovalDecision) -> None:
        call = self._calls.get(decision.tool_call_id)
        if call is None:
            self.error(f"a decision on {decision.tool_call_id!r}, which was never called")
        elif call.decided:
            self.error(f"a second decision on {decision.tool_call_id!r}")
        elif call.answered:
            self.error(f"a decision on {decision.tool_call_id!r} after its output")
        if call:
            call.decided = True

    # --- the whole ---

    def _left_open(self) -> None:
        """What a process that ended (or still runs) has left without its end."""
        for line, what in ((self._request_line, "request"), (self._compaction_line, "compaction")):
            if line:
                self.findings.append(Finding(line, "note", f"a {what} without its end"))
        self._request_line = self._compaction_line = 0
        self._aborted = False

    def _check_pairing(self) -> None:
        self.line = 0
        if self._seeds:
            self.error(f"{self._seeds} messages of the earlier history are missing")
        batch = self._ledger.batch
        unanswered = [one.tool_call_id for one in batch.calls if one.tool_call_id not in batch.outputs] if batch else []
        if unanswered:
            self.note(f"calls without an output at the end: {', '.join(unanswered)}")
        messages = [one for commit in self._ledger.history for one in commit.messages]
        if not is_paired([*messages, *self._ledger.wire(self._ledger.request_input())]):
            self.error("in the context that it leads to, calls and outputs are not paired")


def summary(verdicts: Iterable[Verdict], say: Callable[[str], None]) -> bool:
    """Says what was found, a line each; whether all of it is sound."""
    all_sound = True
    for verdict in verdicts:
        all_sound = all_sound and verdict.is_sound
        said = "sound" if verdict.is_sound else "NOT SOUND"
        say(f"{verdict.path.name}: {said}, {verdict.records} records, {verdict.turns} turns")
        for one in verdict.findings:
            where = f"line {one.line}: " if one.line else ""
            say(f"  {one.severity}: {where}{one.message}")
    return all_sound
