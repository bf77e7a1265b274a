"""The records of a loop session: what a client sees of it, and what its policy decides by."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Literal

from agent_lsp.loop.variables import ReadArchive, Variables
from agent_lsp.slotted import as_dict, field, mutable

if TYPE_CHECKING:
    from agent_lsp.loop.options import Limits

SessionStatus = Literal["idle", "running", "active", "awaiting_input", "failed", "interrupted"]
TurnStatus = Literal["running", "done", "failed", "awaiting_input", "interrupted"]
Outcome = Literal["final_answer", "cannot_complete", "awaiting_input", "interrupted", "limit", "failed"]
CallStatus = Literal["running", "ok", "error", "denied", "interrupted", "withdrawn"]

Entry = dict[str, Any]


@mutable
class CallRecord:
    """One call. `input` is what the model wrote, `result` the tool's own text; `late`: that came after an interrupt."""

    call_id: str
    tool: str
    input: Any
    reason: str | None
    status: CallStatus = "running"
    result: str | None = None
    output: str = ""
    ref: str | None = None
    needs_input: bool = False
    late: str | None = None

    def told(self) -> Entry:
        """As a client is told of it."""
        told = {"toolCallId": self.call_id, "tool": self.tool, "input": self.input, "status": self.status}
        optional = {"reason": self.reason, "result": self.result, "ref": self.ref, "late": self.late}
        return told | {name: value for name, value in optional.items() if value is not None}


@mutable
class Turn:
    """One prompt. `errors` are those since it began; `streak` is how often its last call has come out the same."""

    run_id: str
    max_retries: int
    expected: str | None = None
    prompt: str = ""
    status: TurnStatus = "running"
    steps: list[Entry] = field(default_factory=list[Entry])
    final_answer: str | None = None
    used_tools: list[str] = field(default_factory=list[str])
    retry_count: int = 0
    errors: int = 0
    outcome: Outcome | None = None
    streak: int = 0
    last_key: object = None
    last_call: CallRecord | None = None
    has_begun: bool = False

    def told(self) -> Entry:
        """As a client is told of it."""
        told = {
            "prompt": self.prompt,
            "steps": self.steps,
            "status": self.status,
            "usedTools": self.used_tools,
            "retryCount": self.retry_count,
            "maxRetries": self.max_retries,
        }
        optional = {"finalAnswer": self.final_answer, "expected": self.expected}
        return told | {name: value for name, value in optional.items() if value is not None}


class Records:
    """All of one session."""

    def __init__(self, limits: Limits, read_archive: ReadArchive) -> None:
        self.limits = limits
        self.variables = Variables(read_archive)
        self.status: SessionStatus = "idle"
        self.last_answer: str | None = None
        self.history: list[Entry] = []
        self.turns: list[Turn] = []
        self.failed_turns: list[Turn] = []
        self.calls: list[CallRecord] = []
        self.error_count = 0
        self.pending: CallRecord | None = None
        self.turn: Turn | None = None
        """The prompt that is going on, or the last one."""

    def add(self, **entry: Any) -> None:
        """One more entry of the history."""
        self.history.append(entry)

    def snapshot(self, system_prompt: str, base_system_prompt: str) -> Entry:
        """All of it as JSON values of its own: nothing in it changes later."""
        told: Entry = {
            "type": "loop",
            "status": self.status,
            "lastAnswer": self.last_answer,
            "history": self.history,
            "turns": [turn.told() for turn in self.turns],
            "toolCalls": [call.told() for call in self.calls],
            "toolVars": self.variables.all(),
            "toolVarCounter": self.variables.counter,
            "failedTurns": [turn.told() for turn in self.failed_turns],
            "errorCount": self.error_count,
            "options": {_camel(name): value for name, value in as_dict(self.limits).items() if value is not None},
            "systemPrompt": system_prompt,
            "baseSystemPrompt": base_system_prompt,
        }
        if self.pending:
            told["pending"] = {"tool": self.pending.tool, "question": self.pending.output}
        return copy.deepcopy(told)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
