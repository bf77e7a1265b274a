"""What runs and compactions come to: their results, and the account that is kept of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from agent_lsp.messages.events import Finish, TokenCounts
from agent_lsp.slotted import field, frozen

if TYPE_CHECKING:
    from agent_lsp.engine.attempt import Attempt
    from agent_lsp.engine.hooks import RunStatus
    from agent_lsp.engine.ports import Outcome
    from agent_lsp.messages.content import StopReason


@frozen
class GoalResult:
    """How a goal ended; `used` are tokens, those read from a cache aside."""

    outcome: Literal["complete", "blocked", "budget_limited", "aborted"]
    rounds: int
    used: int


@frozen
class RunResult:
    """How a run ended. `turns` and `usage` are this run's; `text` is that of the last committed turn, else attempt."""

    run_id: str
    status: RunStatus
    turns: int = 0
    text: str = ""
    usage: TokenCounts = field(default_factory=TokenCounts)
    error_message: str | None = None
    finish: Finish | None = None
    undelivered: int | None = None
    goal: GoalResult | None = None
    outcome: str | None = None
    """What a policy makes of the end, in its own words."""


Availability = Literal["ok", "unsupported", "empty", "just_compacted"]
"""Whether a compaction by hand would do anything."""


@frozen
class CompactionResult:
    """What a compaction came to; the tokens are those of all of its attempts."""

    status: StopReason
    error_message: str | None = None
    usage: TokenCounts = field(default_factory=TokenCounts)


class Account:
    """What one run has done so far."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.turns, self.usage = 0, TokenCounts()
        self.answer: str | None = None
        self._finish: Finish | None = None

    def commit(self, outcome: Outcome, attempt: Attempt) -> None:
        """A turn was committed."""
        self.turns += 1
        self.usage += outcome.usage or TokenCounts()
        self.answer, self._finish = attempt.text, outcome.finish

    def result(
        self, status: RunStatus, last: Attempt | None, error: str | None = None, undelivered: int | None = None
    ) -> RunResult:
        """How it ended; without a committed turn the text is that of the last attempt."""
        text = self.answer if self.answer is not None else last.text if last else ""
        return RunResult(self.run_id, status, self.turns, text, self.usage, error, self._finish, undelivered or None)
