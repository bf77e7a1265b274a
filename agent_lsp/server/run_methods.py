"""What `agent/run` and the methods about a run take and give."""

from typing import Annotated, Literal

from pydantic import Field

from agent_lsp.engine.account import GoalResult
from agent_lsp.engine.hooks import RunStatus
from agent_lsp.engine.ports import ThinkingLevel
from agent_lsp.messages.events import Finish, TokenCounts
from agent_lsp.server.methods import ModelRef, Params, Result
from agent_lsp.server.shapes import Input


class GoalParams(Params):
    """Pursue the input as an objective; `budget`: tokens, those read from a cache aside."""

    budget: Annotated[int, Field(ge=1)] | None = None


class BudgetParams(Params):
    """What the run may use; tokens, those read from a cache aside. Limits of the settings hold too."""

    usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    tokens: Annotated[int, Field(ge=1)] | None = None


class RunParams(Params):
    """`agent/run`."""

    session_id: str | None = None
    input: Input
    thinking_level: ThinkingLevel | None = None
    queue_if_busy: bool = False
    model: ModelRef | str | None = None
    work_done_token: str | int | None = None
    goal: GoalParams | None = None
    budget: BudgetParams | None = None
    expected: str | None = None
    max_retries: int | None = None


class GoalAnswer(Result):
    """How a goal ended; `used`: tokens, those read from a cache aside."""

    outcome: Literal["complete", "blocked", "budget_limited", "aborted"]
    rounds: int
    used: int

    @classmethod
    def of(cls, result: GoalResult) -> "GoalAnswer":
        """The result as it is sent."""
        return cls(outcome=result.outcome, rounds=result.rounds, used=result.used)


class LoopAnswer(Result):
    """How a prompt of a loop session ended."""

    outcome: str


class RunAnswer(Result):
    """How a run ended. A task that ended badly is a result too."""

    session_id: str
    status: RunStatus
    run_id: str
    turns: int
    text: str
    usage: TokenCounts
    error_message: str | None = None
    queued: bool | None = None
    finish: Finish | None = None
    undelivered: int | None = None
    goal: GoalAnswer | None = None
    loop: LoopAnswer | None = None


class SteerParams(Params):
    """`agent/steer`."""

    session_id: str | None = None
    run_id: str | None = None
    input: Input


class SteerAnswer(Result):
    """Accepted: the running task will deliver it before it ends."""

    accepted: bool
    steer_id: str | None = None
    run_id: str | None = None


class UnsteerParams(Params):
    """`agent/unsteer`."""

    session_id: str | None = None
    steer_id: str


class AbortParams(Params):
    """`agent/abort`; `runId` may name a queued run."""

    session_id: str | None = None
    run_id: str | None = None
    reason: str | None = None


class AbortAnswer(Result):
    """What was aborted, once it has ended."""

    aborted: bool
    what: Literal["run", "queued", "compaction"] | None = None
    run_id: str | None = None
