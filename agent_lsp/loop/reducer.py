"""Makes the records of a session's stream, record by record: live, and from a trace. There is no other way in.

run_begin, prompt → a turn
tool_call → approval_decision → tool_call_output → loop_step        one step
text → request_end → loop_step                                      an answer, taken or turned down
a text of the engine's, behind a request                            a policy has ended the turn
abort                                                               interrupted, or the provider gave up
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_lsp.loop.records import Records, Turn
from agent_lsp.loop.turn_reducer import TurnReducer
from agent_lsp.messages import markers
from agent_lsp.messages.content import Content, Text
from agent_lsp.messages.events import (
    CompactionBegin,
    CompactionEnd,
    ContextSeed,
    Event,
    Mode,
    RunBegin,
    SessionUpdate,
)

if TYPE_CHECKING:
    from agent_lsp.messages.envelope import SessionMeta


class Reducer:
    """Applies a session's payloads, fragments aside, in order. It never raises, whatever comes."""

    def __init__(self, records: Records, mode: Mode) -> None:
        self.records = records
        self.mode: Mode = mode
        self.turns = TurnReducer(records, is_looping=mode == "loop")
        self._compacting: CompactionBegin | None = None
        self._summary: list[str] = []
        self._seed_left = 0
        self._tools: tuple[str, ...] | None = None

    @property
    def is_looping(self) -> bool:
        """Whether the session is in loop mode now."""
        return self.mode == "loop"

    def apply(self, payload: Content | Event | SessionMeta) -> None:
        """Takes the next one."""
        match payload:
            case RunBegin():
                self._begin(payload)
            case SessionUpdate():
                self._updated(payload)
            case ContextSeed():
                self._seed_left = payload.count
            case _ if self._seed_left and payload.type in ("text", "thinking", "tool_call", "tool_call_output"):
                self._seed_left -= 1
                self._seeded(payload)
            case CompactionBegin():
                self._compacting, self._summary = payload, []
            case CompactionEnd():
                self._compacted(payload)
            case Text(role="assistant") if self._compacting:
                self._summary.append(payload.text)
            case _ if not self._compacting and self.records.turn:
                self.turns.apply(payload, self.records.turn)
            case _:
                pass

    # --- the session ---

    def _begin(self, begun: RunBegin) -> None:
        self.turns.settle()
        usual = self.records.limits.max_retries_per_turn
        retries = usual if begun.max_retries is None else begun.max_retries
        self.turns.begin(Turn(begun.run_id, retries, begun.expected))

    def _updated(self, update: SessionUpdate) -> None:
        if update.mode and update.mode != self.mode:
            self.mode, self.turns.is_looping = update.mode, update.mode == "loop"
            if self.is_looping:
                self.turns.join()
        if update.tools is not None and update.tools != self._tools:
            self._tools = update.tools
            self.records.add(type="system", event="tools_refreshed", tools=list(update.tools))

    def _seeded(self, payload: Any) -> None:
        """A history that was brought along; what a compaction of the history kept is in the records already."""
        if self.records.turns or not isinstance(payload, Text):
            return
        if payload.role == "user":
            self.records.add(type="user", message=payload.text)
        else:
            self.records.add(type="final_answer", answer=payload.text)

    def _compacted(self, end: CompactionEnd) -> None:
        began, self._compacting = self._compacting, None
        if end.status != "completed" or began is None or began.reason != "history":
            return
        records = self.records
        keep = records.limits.history_compression_keep_recent_entries
        at = max(0, len(records.history) - keep)
        while 0 < at < len(records.history) and records.history[at]["type"] == "tool":
            at -= 1  # a result stays with its call
        summary = {"type": "history_summary", "summary": markers.read_summary("".join(self._summary))}
        records.history = [summary, *records.history[at:]]
