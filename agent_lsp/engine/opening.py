"""What comes before a task's first request: waits, a shorter history, the input, and what a policy sets up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Literal

from agent_lsp.engine.assembly import begin, prepare
from agent_lsp.engine.hooks import HistoryPlan, Stop

if TYPE_CHECKING:
    from agent_lsp.engine.interrupt import Interrupt
    from agent_lsp.engine.ports import Part
    from agent_lsp.engine.runtime import Runtime
    from agent_lsp.messages.content import Text, UserContent

_log = logging.getLogger(__name__)
Compact = Callable[[Literal["history"], HistoryPlan], Awaitable[str]]
_BROKEN = Stop("failed", error="the policy of the session failed inside; the server's log has the details")


async def open_task(
    runtime: Runtime, interrupt: Interrupt, run_id: str, input: Sequence[UserContent], compact: Compact
) -> Sequence[Part] | Stop:
    """Takes the input in, whatever comes before it; parts stand for the reply of the first request.

    Whoever gets them looks at the interrupt first: nothing begins here once it has fired.
    """
    await prepare(runtime, interrupt, run_id)
    plan = None if interrupt.is_fired else runtime.hooks.compression(runtime.ledger.messages())
    if plan:
        await compact("history", plan)
    begin(runtime, input)
    work = None if interrupt.is_fired else runtime.hooks.setting_up(input)
    if work:
        brought = await _within(runtime, interrupt, work)
        if isinstance(brought, Stop):
            return brought
        for text in brought:
            runtime.emit(text)
    return () if interrupt.is_fired else runtime.hooks.initial_parts(input)


async def _within(
    runtime: Runtime, interrupt: Interrupt, work: Coroutine[Any, Any, Sequence[Text] | Stop]
) -> Sequence[Text] | Stop:
    """What the work comes to; nothing when the run is interrupted, which cancels it and does not wait for that."""
    settled: asyncio.Future[Sequence[Text] | Stop] = asyncio.get_running_loop().create_future()

    def ended(task: asyncio.Task[Sequence[Text] | Stop]) -> None:
        if task.cancelled():
            settled.set_result(())
        elif error := task.exception():
            _log.error("what a task needs could not be set up", exc_info=error)
            settled.set_result(_BROKEN)
        else:
            settled.set_result(task.result())

    task = runtime.scope.spawn(work, ended)
    if await interrupt.wait(settled):
        return settled.result()
    task.cancel()
    return ()
