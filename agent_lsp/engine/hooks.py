"""Where a policy can take part in the loop. Every hook of `Hooks` does nothing; a policy overrides what it needs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Literal

from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.engine.account import RunResult
    from agent_lsp.engine.ports import LLM, Decision, Outcome, Part, ToolResult
    from agent_lsp.messages.content import Content, Fidelity, Text, ToolCall, ToolCallOutput, UserContent
    from agent_lsp.messages.envelope import SessionMeta
    from agent_lsp.messages.events import Event

RunStatus = Literal["completed", "failed", "aborted", "timeout", "malformed", "auth", "max_turns"]


@frozen
class Stop:
    """Ends the task with this status; `text` is told as the run's answer. The batch is finished and paired first.

    `error` is the one line of the result that says why.
    """

    status: RunStatus
    text: str = ""
    error: str | None = None


@frozen
class Retry:
    """Goes on with the next attempt; `note` is added to its input."""

    note: Text | None = None


@frozen
class Terms:
    """What a caller asks of one run's answer; a policy holds the run to it."""

    expected: str | None = None
    max_retries: int | None = None


@frozen
class CallEnd:
    """How a call came to its output: the call as it ran, the tool's result, the decision that let it run or not."""

    ran: ToolCall
    result: ToolResult
    decision: Decision | None


@frozen
class HistoryPlan:
    """A summary of the history that is due before a task's input: asked for by `prompt`, from `llm` if it is given.

    The last `kept` messages stay as they are, behind the summary.
    """

    kept: int
    prompt: str
    llm: LLM | None = None


class Hooks:
    """The places, in the order in which a run comes by. All synchronous: a hook decides, it does not wait."""

    def waits_for_tools(self) -> bool:
        """Whether an interrupted run ends only when its tools have ended too."""
        return False

    def attach(self, say: Callable[[Event], None]) -> None:
        """Once, before anything else: what the policy may put into the session's stream."""

    def observe(self, payload: Content | Event | SessionMeta) -> None:
        """After each record of the session was said, fragments aside, in program order. Must not raise."""

    def before_run(self, run_id: str) -> asyncio.Future[None] | None:
        """Before anything of a run is sent: what that has to wait for, within a few seconds, never an exception."""
        return None

    def compression(self, messages: Sequence[Content]) -> HistoryPlan | None:
        """Before the input of a task: a summary to make first of what the context holds."""
        return None

    def setting_up(self, input: Sequence[UserContent]) -> Coroutine[Any, Any, Sequence[Text] | Stop] | None:
        """After the input of a task and before its first request: work whose outcome joins the input, or ends the task.

        It is cancelled when the run is interrupted.
        """
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

    def mark_output(self, call: ToolCall, end: CallEnd) -> Fidelity | None:
        """Before a call's output is said: what is to be kept with it."""
        return None

    def after_tool(self, call: ToolCall, output: ToolCallOutput, end: CallEnd) -> Stop | None:
        """When a call has its output."""
        return None

    def late_result(self, call: ToolCall, result: ToolResult) -> None:
        """When the tool of a call that was interrupted has come to a result all the same, which goes nowhere."""

    def before_end(self) -> Sequence[Text]:
        """When a turn called no tool and nothing waits: what to say to the model instead of ending."""
        return ()

    def ended(self, result: RunResult) -> RunResult:
        """When a run is over, or was taken out of the queue: what its caller is to hear."""
        return result
