"""The gate: calls are decided one at a time, in call order.

Answers, withdrawals and aborts resolve futures to values. Only the question to the approver itself is cancelled, so
that it can take back what it asked.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agent_lsp.engine.ports import Approver, Decision

if TYPE_CHECKING:
    from agent_lsp.engine.scope import TaskScope
    from agent_lsp.messages.content import ToolCall

_log = logging.getLogger(__name__)
_NOBODY = Decision("deny", "default")
_BROKEN = Decision("deny", "default", failed=True)
_DECISIONS = ("allow", "deny", "forbidden")
_DECIDERS = ("user", "rule", "policy", "mode", "default")


class _Question:
    """One call that is to be decided, and what its approver says it is doing about it (`ports.Asking`)."""

    __slots__ = ("_changed", "answer", "call", "task", "waits")

    def __init__(self, call: ToolCall, changed: Callable[[], None]) -> None:
        self.call, self._changed = call, changed
        self.answer: asyncio.Future[Decision | None] = asyncio.get_running_loop().create_future()
        self.task: asyncio.Task[Decision] | None = None
        self.waits = False

    @contextmanager
    def waiting(self) -> Generator[None]:
        """Around the wait for a person."""
        self.waits = True
        self._changed()
        try:
            yield
        finally:
            self.waits = False
            self._changed()


class Gate:
    """The queue of one root session. `changed` is called whenever the number of waiting persons changes."""

    def __init__(self, approver: Approver | None, scope: TaskScope, changed: Callable[[], None]) -> None:
        self._approver, self._scope, self._changed = approver, scope, changed
        self._queue: list[_Question] = []

    @property
    def pending(self) -> int:
        """How many questions wait for a person; one that was taken back does not, whatever its approver still does."""
        return sum(question.waits for question in self._queue)

    def ask(self, call: ToolCall) -> asyncio.Future[Decision | None]:
        """Queues the call. The future resolves to the decision, or to None when the question was withdrawn."""
        question = _Question(call, self._changed)
        self._queue.append(question)
        if len(self._queue) == 1:
            self._open()
        return question.answer

    def withdraw(self, answer: asyncio.Future[Decision | None]) -> None:
        """Takes a question back, whether it waits its turn or is being asked; a decided one is left alone."""
        for question in self._queue:
            if question.answer is answer:
                if question.task:
                    question.task.cancel()
                self._settle(question, None)
                return

    def _open(self) -> None:
        question = self._queue[0]
        if self._approver is None:
            self._settle(question, _NOBODY)
            return
        question.task = self._scope.spawn(
            self._approver.approve(question.call, question), lambda task: self._answered(question, task)
        )

    def _answered(self, question: _Question, task: asyncio.Task[Decision]) -> None:
        if task.cancelled():
            decision = _NOBODY
        elif error := task.exception():
            _log.error("the approver failed; the call is denied", exc_info=error)
            decision = _BROKEN
        else:
            decision = _known(task.result())
        self._settle(question, decision)

    def _settle(self, question: _Question, decision: Decision | None) -> None:
        if question not in self._queue:
            return
        was_head = self._queue[0] is question
        self._queue.remove(question)
        if question.waits:
            self._changed()
        question.answer.set_result(decision)
        if was_head and self._queue:
            self._open()


def _known(answer: object) -> Decision:
    """The answer, if it is one: an approver is somebody else's code, and anything else may mean anything."""
    if isinstance(answer, Decision) and answer.decision in _DECISIONS and answer.decided_by in _DECIDERS:
        return answer
    _log.error("the approver gave no decision but %r; the call is denied", answer)
    return _NOBODY
