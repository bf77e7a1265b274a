"""The person behind an embedded session: two functions of the embedding program."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from agent_lsp.policy.approver import Answer, Person, Question

Approve = Callable[[Question], "bool | Answer | Awaitable[bool | Answer]"]
"""Decides on a call: `True` runs it, `False` does not, an `Answer` can tell the model why."""
Ask = Callable[[str, Sequence[str]], "str | Awaitable[str | None] | None"]
"""Answers a question of the model's, which may come with options; None: no answer."""


class Sayer:
    """Has a function decide. What it raises is a deny, and is logged by whoever asked."""

    def __init__(self, approve: Approve | None) -> None:
        self._approve = approve

    async def ask(self, question: Question) -> Answer | None:
        """What the function says; None without one."""
        if self._approve is None:
            return None
        said = self._approve(question)
        answer = await said if inspect.isawaitable(said) else said
        if isinstance(answer, Answer):
            return answer
        return Answer("allow" if answer is True else "deny")


class Questions:
    """Has a function answer questions."""

    def __init__(self, ask: Ask | None) -> None:
        self._ask = ask

    async def __call__(self, question: str, options: Sequence[str], *, multiple: bool) -> str | list[str] | None:
        """What the function says; None without one."""
        if self._ask is None:
            return None
        said = self._ask(question, options)
        return await said if inspect.isawaitable(said) else said


if TYPE_CHECKING:
    from agent_lsp.tools import ask_user

    _person: type[Person] = Sayer
    _ask: type[ask_user.Ask] = Questions
