"""Two policies over one session: each is asked, the first one first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from agent_lsp.engine.hooks import CallEnd, HistoryPlan, Hooks, Retry, Stop
from agent_lsp.messages.content import Content, Fidelity, Text, ToolCall, ToolCallOutput, UserContent

if TYPE_CHECKING:
    from agent_lsp.engine.account import RunResult
    from agent_lsp.engine.ports import Outcome, Part, ToolResult
    from agent_lsp.messages.envelope import SessionMeta
    from agent_lsp.messages.events import Event


class BothHooks(Hooks):
    """What the first one decides counts; where it decides nothing, the second. Both are told of everything."""

    def __init__(self, first: Hooks, second: Hooks) -> None:
        self._first, self._second = first, second

    def waits_for_tools(self) -> bool:
        """Whether either does."""
        return self._first.waits_for_tools() or self._second.waits_for_tools()

    def attach(self, say: Callable[[Event], None]) -> None:
        """To both."""
        self._first.attach(say)
        self._second.attach(say)

    def observe(self, payload: Content | Event | SessionMeta) -> None:
        """To both."""
        self._first.observe(payload)
        self._second.observe(payload)

    def before_run(self, run_id: str) -> asyncio.Future[None] | None:
        """What either has to wait for."""
        awaited = [one for hooks in (self._first, self._second) if (one := hooks.before_run(run_id))]
        if len(awaited) < 2:
            return awaited[0] if awaited else None
        both: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def look(_: asyncio.Future[None]) -> None:
            if not both.done() and all(one.done() for one in awaited):
                both.set_result(None)

        for one in awaited:
            one.add_done_callback(look)
        return both

    def compression(self, messages: Sequence[Content]) -> HistoryPlan | None:
        """The plan of either."""
        return self._first.compression(messages) or self._second.compression(messages)

    def setting_up(self, input: Sequence[UserContent]) -> Coroutine[Any, Any, Sequence[Text] | Stop] | None:
        """The work of either."""
        return self._first.setting_up(input) or self._second.setting_up(input)

    def initial_parts(self, input: Sequence[UserContent]) -> Sequence[Part]:
        """The reply of either."""
        return self._first.initial_parts(input) or self._second.initial_parts(input)

    def before_request(self) -> Stop | None:
        """The stop of either."""
        return self._first.before_request() or self._second.before_request()

    def after_attempt(self, outcome: Outcome) -> Retry | Stop | None:
        """The verdict of either."""
        return self._first.after_attempt(outcome) or self._second.after_attempt(outcome)

    def prepare_call(self, call: ToolCall) -> ToolCall | ToolResult:
        """The second gets what the first has made of the call, unless that is its end."""
        prepared = self._first.prepare_call(call)
        return self._second.prepare_call(prepared) if isinstance(prepared, ToolCall) else prepared

    def mark_output(self, call: ToolCall, end: CallEnd) -> Fidelity | None:
        """The mark of either."""
        return self._first.mark_output(call, end) or self._second.mark_output(call, end)

    def after_tool(self, call: ToolCall, output: ToolCallOutput, end: CallEnd) -> Stop | None:
        """The stop of either; both hear of the output."""
        stops = (self._first.after_tool(call, output, end), self._second.after_tool(call, output, end))
        return stops[0] or stops[1]

    def late_result(self, call: ToolCall, result: ToolResult) -> None:
        """To both."""
        self._first.late_result(call, result)
        self._second.late_result(call, result)

    def before_end(self) -> Sequence[Text]:
        """What either has to say."""
        return self._first.before_end() or self._second.before_end()

    def ended(self, result: RunResult) -> RunResult:
        """What both make of it."""
        return self._second.ended(self._first.ended(result))
