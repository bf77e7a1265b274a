"""The tool calls of a run: each is an object with a state, and all of its output goes through it.

asked → running → settled     it has its one output; what the tool does later goes nowhere
  ├───────────────→ settled   denied, or unfit: its output comes alone
  └→ withdrawn                taken back before it was decided: no decision, no output
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from enum import Enum, auto
from typing import TYPE_CHECKING

from agent_lsp.engine.hooks import CallEnd, Stop
from agent_lsp.engine.ports import Decision, ToolResult
from agent_lsp.messages import markers
from agent_lsp.messages.content import Partial, ToolCall, ToolCallOutput
from agent_lsp.messages.events import ApprovalDecision
from agent_lsp.messages.partial import Segment, encodable

if TYPE_CHECKING:
    from agent_lsp.engine.runtime import Runtime

_log = logging.getLogger(__name__)
_DENIED_BY_USER = f"{markers.DENIED}user."
_DENIED_BY_POLICY = f"{markers.DENIED}policy."
_BUG = ToolResult("[tool error] the tool failed inside; the server's log has the details", "failed")


class CallState(Enum):
    """Where a call is; see the drawing above."""

    ASKED = auto()
    RUNNING = auto()
    SETTLED = auto()
    WITHDRAWN = auto()


class LiveCall:
    """One complete call from the moment the model has made it. `settled` resolves when nothing more will come of it.

    Its `task` may take longer: a tool that was interrupted need not end at once.
    """

    def __init__(self, runtime: Runtime, call: ToolCall) -> None:
        self.call, self.state = call, CallState.ASKED
        self.settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.stop: Stop | None = None
        self._runtime = runtime
        self._prepared = call
        self._decision: Decision | None = None
        self._answer: asyncio.Future[Decision | None] | None = None
        self._segment: Segment | None = None
        self.task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Has the call decided, at once or when its turn comes; then it runs beside everything else."""
        if self._runtime.is_interrupted:
            self.withdraw()
            return
        prepared = self._runtime.hooks.prepare_call(self.call)
        unfit = prepared if isinstance(prepared, ToolResult) else self._runtime.environment.check(prepared)
        if unfit:
            self._decided(Decision("allow", "default"))
            self._settle(unfit)
            return
        if isinstance(prepared, ToolCall):
            self._prepared = prepared
        self._answer = self._runtime.gate.ask(self._prepared)
        if self._answer.done():
            self._answered(self._answer)
        else:
            self._answer.add_done_callback(self._answered)

    def withdraw(self) -> None:
        """Takes the question back if the call is not decided yet; anything else is left to go on."""
        if self.state is CallState.ASKED:
            self.state = CallState.WITHDRAWN
            if self._answer:
                self._runtime.gate.withdraw(self._answer)
            self.settled.set_result(None)

    def interrupt(self) -> None:
        """Ends the call now: one that runs is shown as interrupted with what it had; one only asked about vanishes."""
        self.withdraw()
        if self.state is CallState.RUNNING:
            body = self._segment.body if self._segment else ""
            on_own_line = "" if not body or body.endswith("\n") else "\n"
            self._settle(ToolResult(on_own_line + markers.INTERRUPTED, "aborted"))
            if self.task:
                self.task.cancel()

    def so_far(self) -> tuple[Partial, ...]:
        """The output that is being streamed, as fragments."""
        return self._segment.so_far() if self._segment else ()

    def _answered(self, answer: asyncio.Future[Decision | None]) -> None:
        decision = answer.result()
        if self.state is not CallState.ASKED or decision is None or self._runtime.is_interrupted:
            return
        self._decided(decision)
        if decision.decision == "allow":
            self.state = CallState.RUNNING
            self.task = self._runtime.scope.spawn(self._run(), self._ended)
            return
        by_policy = decision.decision == "forbidden" or decision.decided_by == "mode"
        line = _DENIED_BY_POLICY if by_policy else _DENIED_BY_USER
        self._settle(ToolResult(f"{line}\n{decision.feedback}" if decision.feedback else line, "aborted"))

    def _decided(self, decision: Decision) -> None:
        self._decision = decision
        self._runtime.emit(
            ApprovalDecision(
                tool_call_id=self.call.tool_call_id,
                decision=decision.decision,
                decided_by=decision.decided_by,
                rule=decision.rule,
            )
        )

    async def _run(self) -> None:
        if self._runtime.is_interrupted:
            return
        async with aclosing(self._runtime.environment.execute(self._prepared)) as pieces:
            async for piece in pieces:
                if self.state is not CallState.RUNNING:
                    if isinstance(piece, ToolResult):
                        self._runtime.hooks.late_result(self.call, piece)
                    return
                if isinstance(piece, ToolResult):
                    self._settle(piece)
                    return
                self._stream(piece)
                await self._runtime.sink.drain()

    def _ended(self, task: asyncio.Task[None]) -> None:
        """The task of the tool is over; a call that has no output by now failed inside."""
        error = None if task.cancelled() else task.exception()
        if error:
            _log.error("%s failed inside", self.call.name, exc_info=error)
        if self.state is CallState.RUNNING and not self._runtime.is_interrupted:
            self._settle(_BUG)

    def _stream(self, piece: str) -> None:
        if self._segment is None:
            self._segment = Segment(self._runtime.emit, "tool_call_output", call_id=self.call.tool_call_id)
        self._segment.delta(piece)

    def _settle(self, result: ToolResult) -> None:
        end = CallEnd(self._prepared, result, self._decision)
        fidelity = self._runtime.hooks.mark_output(self.call, end)
        if self._segment:
            self._segment.delta(result.output)
            output = self._segment.close(result.stop_reason, fidelity, result.images)
            self._segment = None
        else:
            output = ToolCallOutput(
                tool_call_id=self.call.tool_call_id,
                output=encodable(result.output) or markers.NO_OUTPUT,
                images=result.images,
                stop_reason=result.stop_reason,
                fidelity=fidelity,
            )
            self._runtime.emit(output)
        self.state = CallState.SETTLED
        try:
            if isinstance(output, ToolCallOutput):
                self.stop = self._runtime.hooks.after_tool(self.call, output, end)
        finally:  # whatever becomes of the hook, the run does not wait for ever
            self.settled.set_result(None)
