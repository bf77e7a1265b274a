"""Plays one task again: everything the engine is plugged into, in one object that follows the recorded story."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TYPE_CHECKING, Any

from agent_lsp.engine.ports import (
    LLM,
    Approver,
    Asking,
    Decision,
    Environment,
    Part,
    Ports,
    Request,
    Sink,
    StateChange,
    ToolResult,
    Trace,
)
from agent_lsp.engine.session import Session
from agent_lsp.messages import markers
from agent_lsp.messages.content import PARTIAL_TYPES, Text, ToolCall
from agent_lsp.messages.envelope import Message, SessionMeta, encode, envelope
from agent_lsp.messages.events import CompactionBegin, Event, RequestBegin, TokenCounts, TokenUsage, ToolSpec
from agent_lsp.slotted import frozen
from agent_lsp.trace.view.script import Script, result_of

if TYPE_CHECKING:
    from agent_lsp.trace.view.recorded import Payload, Task

STANDSTILL_S = 2.0
"""Nothing takes time in a replay: when nothing has happened for so long, nothing will."""
_BREATHS = 25
_LOST = Text(role="user", text="…")
"""Stands for words that nobody knows any more."""
_NOT_COMPARED = {"run_begin": ("run_id",), "token_usage": ("context_window", "compaction_at")}


@frozen
class Difference:
    """Where a task came out otherwise: the line, what it has (None: nothing), what came instead (None: nothing)."""

    line: int
    recorded: str | None
    replayed: str | None


@frozen
class Before:
    """What there was before a task: the messages of its file, and what earlier files have used up."""

    meta: SessionMeta
    messages: Sequence[Message]
    call_ids: Sequence[str]
    used: TokenCounts


class Player:
    """One task, played once. `place`: so many of its records have come out as recorded."""

    def __init__(self, task: Task, script: Script, tools: tuple[ToolSpec, ...]) -> None:
        self.place = 0
        self._task, self._script, self._tools = task, script, tools
        self._difference: Difference | None = None
        self._moved = asyncio.Event()
        self._asked = 0
        self._interrupt = task.interrupt()
        self._session: Session | None = None

    async def play(self, before: Before) -> Difference | None:
        """Plays the task; the first difference, if there is one."""
        ports = Ports(llm=self, environment=self, approver=self, trace=self, sink=self)
        session = self._session = Session(before.meta, ports, self._task.options(before.meta.model_context_window))
        session.replay(before.messages, before.call_ids)
        if not any(isinstance(one.payload, TokenUsage) for one in before.messages):
            session.count_from(session.turns, before.used)
        running = self._start(session)
        interrupting = asyncio.create_task(self._interrupt_in_time(session))
        try:
            await self._until_over(running)
        finally:
            interrupting.cancel()
            self._session = None
            await session.close()
        return self._difference

    def _start(self, session: Session) -> asyncio.Future[Any]:
        if self._task.is_run:
            return session.submit(self._task.input()).result
        begin = self._task.records[0]
        ticket = session.start_compaction(begin.mode if isinstance(begin, CompactionBegin) else None)
        if ticket is None:
            self._differs(None)
            return asyncio.get_running_loop().create_future()
        return ticket.result

    async def _until_over(self, running: asyncio.Future[Any]) -> None:
        records = self._task.records
        while self._difference is None and not running.done():
            if self.place >= len(records) and not self._task.has_ended:
                return  # what came next is not in this file
            self._moved.clear()
            moved = asyncio.create_task(self._moved.wait())
            done, _ = await asyncio.wait((moved, running), timeout=STANDSTILL_S, return_when=asyncio.FIRST_COMPLETED)
            moved.cancel()
            if not done:
                self._differs(None)
        if self._difference is None and self.place < len(records):
            self._differs(None)

    def _differs(self, replayed: str | None) -> None:
        if self._difference is None:
            task = self._task
            recorded = _comparable(task.records[self.place]) if self.place < len(task.records) else None
            line = task.lines[min(self.place, len(task.lines) - 1)]
            self._difference = Difference(line, recorded, replayed)
            self._moved.set()

    async def _reached(self, place: int) -> None:
        """Returns when everything before the place has happened."""
        while self.place < place or self._difference is not None:
            self._moved.clear()
            await self._moved.wait()

    async def _interrupt_in_time(self, session: Session) -> None:
        if self._interrupt is None:
            return
        place, _ = self._interrupt
        await self._reached(place)
        for _ in range(_BREATHS):  # what else waits for this place, half a reply or half an output, comes before
            await asyncio.sleep(0)
        self._interrupt_now(session)

    def _interrupt_now(self, session: Session) -> None:
        reason = self._interrupt[1] if self._interrupt else None
        if ticket := session.current():
            session.cancel(ticket, reason)
        elif compaction := session.compaction():
            compaction.interrupt.fire(reason)

    # --- the trace, which is compared ---

    def append(self, line: bytes) -> None:
        """The next record of the replay, held against the recorded one."""
        if self._session is None or self._difference is not None:
            return
        came = _comparable_json(json.loads(line)["payload"])
        if self.place >= len(self._task.records):
            if self._task.has_ended:
                self._differs(came)
            return
        recorded = self._task.records[self.place]
        if came != _comparable(recorded):
            self._differs(came)
            return
        self.place += 1
        self._moved.set()
        if self._interrupt and self._interrupt[0] == self.place and not self._task.is_cut_short(self.place):
            self._interrupt_now(self._session)
        self._steer(self._session, recorded)

    def _steer(self, session: Session, recorded: Payload) -> None:
        """Queues what was said while the record's request or compaction went on."""
        if isinstance(recorded, RequestBegin):
            for entry in self._task.steering(self.place - 1):
                session.steer(entry)
        if isinstance(recorded, RequestBegin | CompactionBegin) and self._task.lost_steering(self.place - 1):
            session.steer([_LOST])

    def rotate(self, preamble: Sequence[bytes]) -> None:
        """What follows is in another file."""

    async def sync(self) -> None:
        """Nothing is written."""

    # --- the front end ---

    def push(self, message: Message, run_id: str | None) -> None:
        """The trace has it already."""

    def state(self, change: StateChange) -> None:
        """Waits are not waited for, unless they were interrupted."""
        session = self._session
        if session and change.retry_in_ms is not None and not self._task.waits_for_interrupt(self.place):
            asyncio.get_running_loop().call_soon(session.retry_now)

    async def drain(self) -> None:
        """There is always room."""

    # --- the model ---

    async def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        """The recorded reply; one that has no end stays open."""
        number, self._asked = self._asked, self._asked + 1
        for place, parts in self._script.replies[number] if number < len(self._script.replies) else ():
            await self._reached(place)
            for part in parts:
                yield part
        await _for_ever()

    # --- the person ---

    async def approve(self, call: ToolCall, asking: Asking) -> Decision:
        """The recorded decision; where there is none, nobody ever answered."""
        place, decision = self._script.decisions.get(call.tool_call_id, (0, None))
        if decision is None:
            return await _for_ever()
        await self._reached(place)
        return decision

    # --- the tools ---

    def prepare(self, announce: Callable[[Event], None]) -> asyncio.Future[None] | None:
        """Everything is there."""

    def tools(self) -> tuple[ToolSpec, ...]:
        """The recorded tools."""
        return self._tools

    def renew(self) -> None:
        """The recorded tools stay those of the task."""

    def check(self, call: ToolCall) -> ToolResult | None:
        """The recorded result of a call that did not fit."""
        return self._script.unfit(call.tool_call_id)

    async def execute(self, call: ToolCall) -> AsyncGenerator[str | ToolResult, None]:
        """The recorded output; of one that was interrupted what it had said until then."""
        recorded = self._script.outputs.get(call.tool_call_id)
        if recorded is None:
            await _for_ever()
            return
        place, output = recorded
        if output.stop_reason == "aborted" and output.output.endswith(markers.INTERRUPTED):
            if said := output.output.removesuffix(markers.INTERRUPTED):
                yield said
            await _for_ever()
        await self._reached(place)
        yield result_of(output)

    def reports(self) -> Sequence[str]:
        """The recorded reports."""
        return self._task.reports(self.place)

    async def close(self) -> None:
        """Nothing was started."""


async def _for_ever() -> Any:
    return await asyncio.get_running_loop().create_future()


def _comparable(payload: Payload) -> str:
    if isinstance(payload, PARTIAL_TYPES):
        return ""
    return _comparable_json(json.loads(encode(envelope(payload)))["payload"])


def _comparable_json(payload: dict[str, Any]) -> str:
    left_out = _NOT_COMPARED.get(payload["type"], ())
    kept = {name: value for name, value in payload.items() if name not in left_out}
    return json.dumps(kept, ensure_ascii=False, sort_keys=True)


if TYPE_CHECKING:
    _llm: type[LLM] = Player
    _approver: type[Approver] = Player
    _environment: type[Environment] = Player
    _trace: type[Trace] = Player
    _sink: type[Sink] = Player
