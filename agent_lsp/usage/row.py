"""What is recorded of requests: the values that go from whoever measures to whoever keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from agent_lsp.messages.events import TokenCounts
from agent_lsp.slotted import field, frozen

if TYPE_CHECKING:
    from agent_lsp.messages.content import StopReason

Purpose = Literal["turn", "compaction", "title", "loop", "history"]


@frozen
class Subject:
    """On whose account a request was made: the session, and the model that was asked."""

    session_id: str
    workspace: str
    provider: str
    model: str
    tags: tuple[str, ...] = ()
    parent_id: str | None = None


@frozen
class UsageRow:
    """One request, however it ended. `ts` is its end (ISO 8601, UTC); `tokens` are those of a completed one.

    `attempt` counts from 1 within its turn. `ttft_ms`: until the first piece of the reply; None when there was none.
    """

    ts: str
    subject: Subject
    purpose: Purpose
    status: StopReason
    attempt: int = 1
    tokens: TokenCounts = field(default_factory=TokenCounts)
    duration_ms: int = 0
    ttft_ms: int | None = None
    error: str | None = None


@frozen
class CompactionFailure:
    """A compaction that was given up, after the requests that it made (each has a row of its own)."""

    ts: str
    session_id: str
    attempt: int
    message: str


Entry = UsageRow | CompactionFailure


class Recorder(Protocol):
    """Keeps entries."""

    def record(self, entry: Entry) -> None:
        """Takes an entry. Returns at once and never raises, whatever becomes of it."""
        ...
