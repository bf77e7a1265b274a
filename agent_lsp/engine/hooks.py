"""Where a policy can take part in the loop. Every hook of `Hooks` does nothing; a policy overrides what it needs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent_lsp.engine.ports import Outcome, Part, ToolResult
from agent_lsp.messages.content import Text, ToolCall, ToolCallOutput, UserContent

RunStatus = Literal["completed", "failed", "aborted", "timeout", "malformed", "auth", "max_turns"]


@dataclass(frozen=True, slots=True)
class Stop:
    """Ends the task with this status; `text` is told as the run's answer. The batch is finished and paired first.

    `error` is the one line of the result that says why.
    """

    status: RunStatus
    text: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """Goes on with the next attempt; `note` is added to its input."""

    note: Text | None = None


class Hooks:
    """The places, in the order in which a run comes by. All synchronous: a hook decides, it does not wait."""

    def before_run(self, run_id: str) -> asyncio.Future[None] | None:
        """Before anything of a run is sent: what that has to wait for, within a few seconds, never an exception."""
        return None

    def initial_parts(self, input: Sequence[UserContent]) -> Sequence[Part]:
        """Stands for the reply of the first request, which is then not made; empty: the model is asked."""
        return ()

    def before_request(self) -> Stop | None:
        """Before each turn's first attempt."""
        return None

    def after_attempt(self, outcome: Outcome) -> Retry | Stop | None:
        """After an attempt that did not complete and before the wait; None: as the ladder says."""
        return None

    def prepare_call(self, call: ToolCall) -> ToolCall | ToolResult:
        """Before a call is checked and approved: the call to run, or its failed result."""
        return call

    def after_tool(self, call: ToolCall, output: ToolCallOutput) -> Stop | None:
        """When a call has its output."""
        return None

    def before_end(self) -> Sequence[Text]:
        """When a turn called no tool and nothing waits: what to say to the model instead of ending."""
        return ()
