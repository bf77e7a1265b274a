"""Reads traces into spans: one pass, in the order of the lines, whatever state the trace is in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from agent_lsp.messages import markers
from agent_lsp.messages.content import (
    PARTIAL_TYPES,
    Content,
    ImageUrl,
    InlineData,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
)
from agent_lsp.messages.envelope import Message, SessionMeta
from agent_lsp.messages.events import (
    Abort,
    ApprovalDecision,
    CompactionBegin,
    CompactionEnd,
    ContextSeed,
    Event,
    GoalFinished,
    GoalRound,
    LoopStep,
    McpConnectEnd,
    RequestBegin,
    RequestEnd,
    RunBegin,
    SessionUpdate,
    Subagent,
    TokenUsage,
    ToolListReady,
)
from agent_lsp.trace.reader import read_records
from agent_lsp.trace.view.spans import (
    CallSpan,
    CompactionSpan,
    Note,
    NoteKind,
    Piece,
    RequestSpan,
    RunSpan,
    Timeline,
)

_MAX_TURNS = "[reached max turns ("


def read_timeline(paths: Sequence[Path]) -> Timeline:
    """What the files of one session say together, oldest first. OSError when one cannot be read."""
    reading = _Reading()
    for path in paths:
        for record in read_records(path):
            if record.message is not None:
                reading.take(record.message)
            elif record.terminated:
                reading.timeline.bad_lines.append((path.name, record.number))
    return reading.timeline


class _Reading:
    """The timeline so far, and what is open in it."""

    def __init__(self) -> None:
        self.timeline = Timeline()
        self._now_s = 0.0
        self._run: RunSpan | None = None
        self._request: RequestSpan | None = None
        self._compaction: CompactionSpan | None = None
        self._segment_s = 0.0  # where the open request's latest segment ended
        self._calls: dict[str, CallSpan] = {}
        self._turns = 0
        self._seeds = 0

    def take(self, message: Message) -> None:
        """The next message of the trace."""
        payload = message.payload
        if message.origin or isinstance(payload, PARTIAL_TYPES):
            return  # these belong to no trace; `verify` complains of them
        self._now_s = _seconds(message.timestamp, self._now_s)
        if isinstance(payload, SessionMeta):
            self._met(payload)
        elif isinstance(payload, Text | Thinking | ToolCall | ToolCallOutput | ImageUrl | InlineData):
            self._said(payload)
        else:
            self._happened(payload)
        if self._run:
            self._run.ended_s = max(self._run.ended_s, self._now_s)

    def _met(self, meta: SessionMeta) -> None:
        timeline = self.timeline
        timeline.contexts += 1
        if timeline.meta is None:
            timeline.meta = meta
        else:
            self._note("event", "a new context begins, in a trace file of its own")

    # --- content ---

    def _said(self, content: Content) -> None:
        if self._seeds:
            self._seeds -= 1
            return
        match content:
            case ToolCallOutput():
                if span := self._calls.get(content.tool_call_id):
                    span.output, span.ended_s = content, self._now_s
            case ToolCall():
                span = CallSpan(self._segment_s or self._now_s, self._now_s, content)
                self._calls[content.tool_call_id] = span
                self._reply(span)
            case ImageUrl():
                self._picture(content)
            case InlineData() if content.role == "user":
                self._picture(content)
            case Text() if content.role == "user":
                kind = _kind(content)
                self._note(kind, _unwrapped(content.text) if kind in ("steering", "summary") else content.text)
            case Text() if self._request is None:
                self._remark(content)
            case Text() | Thinking() | InlineData():
                self._reply(Piece(self._segment_s, self._now_s, content))

    def _reply(self, part: Piece | CallSpan) -> None:
        if self._request:
            self._request.reply.append(part)
            self._segment_s = self._now_s

    def _remark(self, text: Text) -> None:
        self._note("remark", text.text)
        if text.text.startswith(_MAX_TURNS):
            self._section().status = "max_turns"

    def _picture(self, picture: ImageUrl | InlineData) -> None:
        last = self._section().items[-1:]
        if last and isinstance(note := last[0], Note) and note.kind in ("input", "steering"):
            note.images.append(picture)
        else:
            self._note("input", "", picture)

    # --- events ---

    def _happened(self, event: Event) -> None:
        match event:
            case RunBegin():
                self._run_began(event.run_id)
            case RequestBegin():
                self._request_began()
            case RequestEnd():
                self._request_ended(event)
            case TokenUsage():
                if self._request:
                    self._request.tokens = event.request
            case ApprovalDecision():
                if span := self._calls.get(event.tool_call_id):
                    span.decision, span.decided_s = event, self._now_s
            case CompactionBegin():
                self._compaction = CompactionSpan(self._now_s, event)
                self._section().items.append(self._compaction)
            case CompactionEnd():
                if self._compaction:
                    self._compaction.end, self._compaction.ended_s = event, self._now_s
                self._compaction = self._request = None
            case Abort():
                self._aborted(event)
            case ContextSeed():
                self._seeds = event.count
                self._note("event", f"{event.count} messages of an earlier history are committed as they stand")
            case ToolListReady():
                self.timeline.tools = event.tools
            case SessionUpdate():
                changed = event.model_dump(exclude_none=True, exclude={"type"})
                self.timeline.settings = self.timeline.settings.model_copy(update=changed)
                self._note("setting", ", ".join(f"{name} = {value}" for name, value in changed.items()))
            case _:
                if said := _told(event):
                    self._note("event", said)

    def _run_began(self, run_id: str) -> None:
        self._run = RunSpan(run_id, self._now_s, self._now_s)
        self.timeline.runs.append(self._run)
        self._request = self._compaction = None

    def _request_began(self) -> None:
        items = self._compaction.items if self._compaction else self._section().items
        last = next((one for one in reversed(items) if not isinstance(one, Note)), None)
        again = isinstance(last, RequestSpan) and last.end is not None and last.end.retry_in_ms is not None
        attempt = last.attempt + 1 if again and isinstance(last, RequestSpan) else 1
        if not again and not self._compaction:
            self._turns += 1
        self._request = RequestSpan(
            None if self._compaction else self._turns, attempt, self.timeline.model, self._now_s
        )
        self._segment_s = self._now_s
        if self._compaction:
            self._compaction.items.append(self._request)
        else:
            self._section().items.append(self._request)

    def _request_ended(self, end: RequestEnd) -> None:
        if self._request:
            self._request.end, self._request.ended_s = end, self._now_s
        self._request = None
        if not self._compaction:
            self._section().status = end.status if end.retry_in_ms is None else None

    def _aborted(self, event: Abort) -> None:
        section = self._section()
        section.status = section.status if section.status not in (None, "completed") else "aborted"
        self._note("abort", event.reason or "aborted")

    def _note(self, kind: NoteKind, text: str, picture: ImageUrl | InlineData | None = None) -> None:
        note = Note(self._now_s, kind, text, [picture] if picture else [])
        if self._compaction:
            self._compaction.items.append(note)
        else:
            self._section().items.append(note)

    def _section(self) -> RunSpan:
        """The run that is on; what comes before the first one gets a section of its own."""
        if self._run is None:
            self._run = RunSpan(None, self._now_s, self._now_s)
            self.timeline.runs.append(self._run)
        return self._run


def _kind(text: Text) -> NoteKind:
    if markers.is_block(text.text, "user_steering"):
        return "steering"
    if markers.is_block(text.text, "context_summary"):
        return "summary"
    return "harness" if text.sender else "input"


def _unwrapped(text: str) -> str:
    """What stands inside a block's tags."""
    return text[text.index("]") + 1 : text.rindex("[")].strip("\n") if text.startswith("[") else text


def _told(event: Event) -> str:
    match event:
        case McpConnectEnd():
            servers = ", ".join(f"{one.server}: {one.status}" for one in event.results)
            return f"servers of further tools: {servers or event.status}"
        case Subagent():
            return f"a session of its own works on a part: {event.session_id}"
        case GoalRound():
            return f"round {event.round} of the goal, {event.used:,} tokens used"
        case GoalFinished():
            return f"the goal ended as {event.outcome} after {event.rounds} rounds, {event.used:,} tokens"
        case LoopStep():
            return f"step {event.step}: {event.decision.tool} → {event.outcome}"
        case _:
            return ""


def _seconds(stamp: str, otherwise: float) -> float:
    try:
        return datetime.fromisoformat(stamp).timestamp()
    except (ValueError, OverflowError):
        return otherwise
