"""What the methods of sessions that are there take and give: lists, pages, changes, compaction, forks, rules."""

from typing import Annotated, Literal

from pydantic import Field

from agent_lsp.engine.account import Availability
from agent_lsp.engine.ports import ThinkingLevel
from agent_lsp.messages.content import StopReason
from agent_lsp.messages.events import CompactionMode
from agent_lsp.policy.modes import ApprovalMode
from agent_lsp.server.methods import ModelRef, Params, Result, SessionInfo


class ListParams(Params):
    """`agent/session/list`."""

    workspace: str | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 50
    cursor: str | None = None


class HistoryParams(Params):
    """`agent/session/history`: the messages after the cursor, or with `from_end` the last ones before it."""

    session_id: str
    limit: Annotated[int, Field(ge=1, le=10_000)] = 200
    cursor: str | None = None
    from_end: bool = False


class UpdateParams(Params):
    """`agent/session/update`."""

    session_id: str
    approval_mode: ApprovalMode | None = None
    thinking_level: ThinkingLevel | None = None
    title: Annotated[str, Field(min_length=1)] | None = None
    model: ModelRef | str | None = None
    mode: Literal["native", "loop"] | None = None
    tools: list[str] | None = None


class SessionList(Result):
    """Newest first."""

    sessions: list[SessionInfo]
    next_cursor: str | None = None


class CompactParams(Params):
    """`agent/compact`; `mode`: another one than the settings', for this once."""

    session_id: str | None = None
    mode: CompactionMode | None = None


class CompactAnswer(Result):
    """What the compaction came to; nothing was done unless `availability` is `ok`."""

    status: StopReason
    availability: Availability
    error_message: str | None = None


class ForkParams(Params):
    """`agent/session/fork`; `atTurn`: the last turn that is taken along, the first one is 1."""

    session_id: str
    at_turn: int | None = None


class RevokeParams(Params):
    """`agent/rules/revoke`."""

    rule_ids: list[str]


class RuleInfo(Result):
    """A remembered rule."""

    rule_id: str
    kind: str
    scope: str
    label: str
    created_at: str


class Rules(Result):
    """What is remembered, that of the session first."""

    rules: list[RuleInfo]


class ModelTestParams(Params):
    """`agent/models/test`."""

    model: ModelRef | str
