"""Shapes that are written out only to be described: what handlers answer as plain dicts.

Nothing here is imported by a running server. A test holds real answers and messages against these shapes.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict

from agent_lsp.engine.account import Availability
from agent_lsp.engine.ports import Permission
from agent_lsp.messages.content import StopReason
from agent_lsp.server.methods import ModelRef, Result
from agent_lsp.server.reference_told import ApproveParams, OmniMessage
from agent_lsp.server.shapes import Input


class Nothing(Result):
    """An empty object."""


# --- answers ----------------------------------------------------------------------------------------------------------


class PendingRun(Result):
    """A run that waits its turn, with its input as it was given."""

    run_id: str
    input: Input


class PendingSteer(Result):
    """Words for the running task that were not delivered yet."""

    steer_id: str
    input: Input


class Pending(Result):
    """What waits: runs, words for the running task, questions."""

    runs: list[PendingRun]
    steers: list[PendingSteer]
    approvals: list[ApproveParams]


class HistoryAnswer(Result):
    """A page, oldest first. Notifications from `nextSeq` on continue it; `live` are the fragments of a running turn.

    `nextCursor` leads on to what follows; `previousCursor`, of a page read from the end, back to what comes before it,
    which are `earlier` messages. Either may be given back to read in the other direction from its place.
    `live` is on the page that has the newest message; it also has all that subagents at work said, with `origin`.
    """

    messages: list[OmniMessage]
    next_cursor: str | None = None
    previous_cursor: str | None = None
    earlier: int | None = None
    live: list[OmniMessage] | None = None
    next_seq: int
    pending: Pending


class Snapshot(Result):
    """A session as of this moment. That of loop mode has more: turns, tool calls, variables, limits."""

    model_config = ConfigDict(extra="allow")

    type: Literal["native", "loop"]
    status: str
    history: list[Any]
    system_prompt: str


class Withdrawn(Result):
    """False once it was delivered."""

    withdrawn: bool


class Skipped(Result):
    """Whether there was a wait to end."""

    skipped: bool


class Compactability(Result):
    """Whether a compaction by hand would do anything: only if this is `ok`."""

    availability: Availability


class Title(Result):
    """The title; empty when there is none and the model gave none."""

    title: str


class ToolInfo(Result):
    """A tool; `parameters` is a JSON Schema, `source` says where it comes from."""

    name: str
    description: str
    parameters: dict[str, Any]
    permission: Permission
    source: str


class Tools(Result):
    """Those of a session, else of one that would be made."""

    tools: list[ToolInfo]


class ModelInfo(Result):
    """A model that can be named. No credential is ever told, only whether there is one."""

    provider: str
    model: str
    context_window: int | None = None
    max_output_tokens: int | None = None
    vision: bool
    tool_calling: bool
    has_credential: bool


class Models(Result):
    """The models there are, and that of a session which names none."""

    models: list[ModelInfo]
    default_model: ModelRef


class ModelTest(Result):
    """Whether a reply began, and after how long."""

    ok: bool
    latency_ms: int | None = None
    status: StopReason | None = None
    message: str | None = None


class UsageSums(Result):
    """Tokens, and US dollars where the price is known."""

    requests: int
    cache_read: int
    cache_write: int
    output: int
    total: int
    cost_usd: float | None


class UsageRow(UsageSums):
    """What one model, day or session has used."""

    key: str


class UsageFailure(Result):
    """A request that failed."""

    ts: str
    session_id: str
    kind: str
    attempt: int
    message: str


class Usage(Result):
    """What was used, and what failed."""

    rows: list[UsageRow]
    totals: UsageSums
    errors: list[UsageFailure]
