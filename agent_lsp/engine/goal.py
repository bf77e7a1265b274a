"""Goal mode: tasks on one objective, round after round, until the model has written into the goal's file how it ended.

goal_round → [goal] + objective → a task → what does the file say?
    ▲                                 │ active
    └─────────────────────────────────┘            complete, blocked → goal_finished
                                                   budget spent → one more round, to wrap up → goal_finished
                                                   anything but completed → goal_finished (before an `abort`)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from agent_lsp.engine.account import GoalResult, RunResult
from agent_lsp.engine.assembly import folded
from agent_lsp.messages import markers
from agent_lsp.messages.content import Text, UserContent
from agent_lsp.messages.events import GoalFinished, GoalRound
from agent_lsp.slotted import frozen, replace

if TYPE_CHECKING:
    from agent_lsp.engine.loop import Run
    from agent_lsp.engine.ports import GoalFile
    from agent_lsp.engine.runtime import Runtime

MOST_ROUNDS = 100
"""Rounds are a budget too: a goal that has used them up ends as `budget_limited`."""

_RULES = """\
You work on the objective that follows, round after round, without the user. How it stands is kept in the goal file;
change its `status` to
- complete: once all of the objective is done and you have seen evidence for each part of it (the output of a test or
  of a command, a file read back). What you merely expect to work is no evidence.
- blocked: once the same obstacle has stopped you in three rounds running, and only the user can remove it.
Leave it active otherwise: do what can be done now, then end your turn, and the next round begins."""
_WRAP_UP = """\
The budget is spent, and this is the last round. Begin nothing new. Leave the workspace in order, then say what is done,
what is not, and what should come next."""

_Outcome = Literal["complete", "blocked", "budget_limited", "aborted"]


@frozen
class Goal:
    """Makes a run pursue its input as an objective. `budget`: tokens, those read from a cache aside; None: no limit."""

    budget: int | None = None


class Pursuit:
    """One goal, over the tasks of one run. `goal_finished` is said exactly once, whatever the end."""

    def __init__(self, runtime: Runtime, run: Run, goal: Goal, file: GoalFile) -> None:
        self._runtime, self._run, self._file = runtime, run, file
        self._budget = goal.budget
        self._used_before = self._spent()
        self._rounds = 0
        self._result: GoalResult | None = None

    async def drive(self, input: Sequence[UserContent]) -> RunResult:
        """Runs rounds to the goal's end. Images become files first, so that every round can name them."""
        objective = tuple(folded(self._runtime, input, always=True))
        path = self._file.create("\n\n".join(one.text for one in objective if isinstance(one, Text)))
        self._run.before_abort = self._aborted
        whole: RunResult | None = None
        while True:
            is_last = self._budget is not None and self._used >= self._budget
            self._begin_round()
            result = await self._run.drive((self._opening(path, is_last=is_last), *objective))
            whole = _joined(whole, result)
            if outcome := self._outcome(result, is_last=is_last):
                return replace(whole, goal=self._finish(outcome))
            if self._run.interrupt.is_fired:  # it has hit what a completed task does at its end
                return replace(whole, status=self._run.abort("aborted by user").status, goal=self._result)

    def _begin_round(self) -> None:
        self._rounds += 1
        self._runtime.emit(GoalRound(round=self._rounds, budget=self._budget, used=self._used))

    def _outcome(self, result: RunResult, *, is_last: bool) -> _Outcome | None:
        """How the goal has ended with this round; None when it goes on."""
        if result.status != "completed":
            return "aborted"
        if is_last:
            return "budget_limited"
        status = self._file.status()
        if status != "active":
            return status or "blocked"
        exhausted = self._rounds >= MOST_ROUNDS and not self._run.interrupt.is_fired
        return "budget_limited" if exhausted else None

    def _aborted(self) -> None:
        self._finish("aborted")

    def _finish(self, outcome: _Outcome) -> GoalResult:
        if self._result is None:
            self._result = self._run.goal = GoalResult(outcome, self._rounds, self._used)
            self._runtime.emit(GoalFinished(outcome=outcome, rounds=self._rounds, used=self._used))
        return self._result

    def _opening(self, path: str, *, is_last: bool) -> Text:
        used = f"Tokens used so far: {self._used}"
        if self._budget is not None:
            used += f" of {self._budget} ({max(0, self._budget - self._used)} left)"
        head = f"Round {self._rounds} of at most {MOST_ROUNDS}. {used}.\nGoal file: {path}"
        body = f"{head}\n\n{_WRAP_UP if is_last else _RULES}"
        return Text(role="user", text=markers.block("goal", body), sender="harness")

    @property
    def _used(self) -> int:
        return self._spent() - self._used_before

    def _spent(self) -> int:
        """What the session's requests and those of its children have used so far, a cache's tokens aside."""
        spent = self._runtime.ledger.usage + self._runtime.children_usage
        return spent.total - spent.cache_read


def _joined(before: RunResult | None, result: RunResult) -> RunResult:
    """The rounds so far as one run; its text is that of its last committed turn."""
    if before is None:
        return result
    turns, usage = before.turns + result.turns, before.usage + result.usage
    if before.turns and not result.turns:
        return replace(result, turns=turns, usage=usage, text=before.text, finish=before.finish)
    return replace(result, turns=turns, usage=usage)
