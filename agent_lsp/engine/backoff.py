"""The reconnect ladder: how long to wait before which retry, and when to give up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.engine.ports import Outcome

LONGEST_RETRY_AFTER_MS = 60_000
"""A provider that asks for more than this ends the ladder: a person should not watch a countdown of minutes."""

_REASONS = {"timeout": "reconnect failed", "malformed": "malformed response failed", "failed": "llm request failed"}


@frozen
class Ladder:
    """Waits in milliseconds: `min(base · 2^(n-1), cap)` before retry n, up to `max_retries` retries of one turn."""

    max_retries: int
    base_ms: int
    cap_ms: int

    def wait_ms(self, attempt: int, outcome: Outcome) -> int | None:
        """The wait after attempt `attempt` (1-based) ended in `outcome`; None: there is no further attempt."""
        if attempt > self.max_retries or self.ends_at_once(outcome):
            return None
        return max(min(self.base_ms * 2 ** (attempt - 1), self.cap_ms), outcome.retry_after_ms or 0)

    def ends_at_once(self, outcome: Outcome) -> bool:
        """Whether waiting cannot help: no credential, a permanent refusal, too long a wait asked for."""
        asked_ms = outcome.retry_after_ms or 0
        return (
            outcome.status == "auth" or outcome.permanent or outcome.context_length or asked_ms > LONGEST_RETRY_AFTER_MS
        )

    def give_up_reason(self, outcome: Outcome) -> str:
        """Why the run ends after its last attempt came to `outcome`."""
        if outcome.status != "auth" and (outcome.retry_after_ms or 0) > LONGEST_RETRY_AFTER_MS:
            return f"llm request error: the provider asks to wait {(outcome.retry_after_ms or 0) // 1000} s"
        if self.ends_at_once(outcome):
            return f"llm request error: {outcome.message}"
        reason = f"{_REASONS[outcome.status]} after {self.max_retries} retries"
        return f"{reason}: {outcome.message}" if outcome.status == "failed" else reason

    def explanation(self, outcome: Outcome) -> str:
        """The same for whoever gets the result, with what went wrong the last time."""
        reason = self.give_up_reason(outcome)
        is_told = self.ends_at_once(outcome) or outcome.status == "failed" or not outcome.message
        return reason if is_told else f"{reason}: {outcome.message}"
