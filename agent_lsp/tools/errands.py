"""Errands: what a subagent is asked for and answers, whoever runs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.engine.ports import ThinkingLevel


@frozen
class Errand:
    """What a subagent is asked for. What is None is as the parent has it; `profile` names a configured one."""

    prompt: str
    profile: str | None = None
    model: str | None = None
    thinking_level: ThinkingLevel | None = None
    with_context: bool = False


@frozen
class Answer:
    """What a subagent's task came to. `status` is that of its run."""

    status: str
    text: str
    turns: int
    error: str | None = None


class Subagent(Protocol):
    """One subagent; it can be given one task after the other."""

    @property
    def id(self) -> str:
        """By which a model names it."""
        ...

    @property
    def is_running(self) -> bool:
        """Whether it is at a task."""
        ...

    def send(self, prompt: str) -> None:
        """Words for the task it is at, else its next task."""
        ...

    async def answer(self, within_s: float | None = None) -> Answer | None:
        """What its last task came to; waits for the end, None when `within_s` is over before."""
        ...

    def leave_behind(self) -> None:
        """Nobody waits for its task any more: its end is to be reported."""
        ...

    def stop(self) -> None:
        """Interrupts its task, in this very step."""
        ...


class Subagents(Protocol):
    """The subagents of one session."""

    def profiles(self) -> Mapping[str, str]:
        """The configured profiles: name and what it is for."""
        ...

    def start(self, errand: Errand) -> Subagent | str:
        """Begins a task; a text says why it cannot."""
        ...

    def find(self, id: str) -> Subagent | None:
        """One that was started and has not been let go."""
        ...

    async def kill(self, subagent: Subagent) -> None:
        """Ends it for good."""
        ...


class NoSubagents:
    """The subagents of a session that nobody runs: it is only looked at."""

    def __init__(self, profiles: Mapping[str, str]) -> None:
        self._profiles = profiles

    def profiles(self) -> Mapping[str, str]:
        """The configured ones all the same."""
        return self._profiles

    def start(self, errand: Errand) -> Subagent | str:
        """Refuses."""
        return "This session has no subagents."

    def find(self, id: str) -> Subagent | None:
        """None."""
        return None

    async def kill(self, subagent: Subagent) -> None:
        """Nothing to end."""


def note(id: str, answer: Answer) -> str:
    """One line on how a subagent's task has ended."""
    error = f" ({answer.error})" if answer.error else ""
    return f"[subagent {id}: {answer.status}{error}; {answer.turns} turns]"
