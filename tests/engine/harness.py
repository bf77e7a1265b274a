"""A session with everything around it fake, on a clock that costs no time.

@virtual
async def test_outputs_come_as_they_complete():
    async with Rig() as rig:
        rig.llm.script([work("a", then=2), work("b", then=1)], [text("done")])
        await rig.run("go")
        assert rig.ids(ToolCallOutput) == ["b", "a"]
"""

from __future__ import annotations

import asyncio
import functools
import json
import selectors
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from agent_lsp.engine.account import RunResult
from agent_lsp.engine.goal import Goal
from agent_lsp.engine.hooks import Hooks
from agent_lsp.engine.ledger import Ledger
from agent_lsp.engine.options import EngineOptions
from agent_lsp.engine.ports import (
    LLM,
    Approver,
    Asking,
    Decision,
    Environment,
    GoalFile,
    Part,
    Pictures,
    Ports,
    Request,
    Sink,
    StateChange,
    ToolResult,
    Trace,
)
from agent_lsp.engine.session import Session
from agent_lsp.engine.tasks import Ticket
from agent_lsp.messages import markers
from agent_lsp.messages.content import PARTIAL_TYPES, ImageUrl, Text, Thinking, ToolCall, ToolCallOutput, UserContent
from agent_lsp.messages.envelope import Message, SessionMeta
from agent_lsp.messages.events import Event, ToolSpec
from agent_lsp.providers.scripted import Called, Scripted, call

T = TypeVar("T")
ALLOW = Decision("allow", "user")
DENY = Decision("deny", "user")
PIXEL = "data:image/png;base64,iVBORw0KGgo="
INTERRUPTED = markers.INTERRUPTED


# --- the clock --------------------------------------------------------------------------------------------------------


class Deadlock(Exception):
    """Everything waits for something that nobody will ever do."""


class _JumpingSelector(selectors.DefaultSelector):
    """Waits for nothing: when nothing is ready, it is later."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise Deadlock
        if not ready:
            self.now_s += max(0.0, timeout or 0.0)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose seconds pass as soon as nobody has anything left to do in them."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now_s


def run(main: Coroutine[Any, Any, T]) -> T:
    """Runs a scenario in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


def virtual(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Makes an async test one that runs in virtual time."""

    @functools.wraps(test)
    def in_virtual_time(*args: Any, **kwargs: Any) -> None:
        run(test(*args, **kwargs))

    return in_virtual_time


def now_s() -> float:
    """The virtual time."""
    return asyncio.get_running_loop().time()


async def passing(seconds: float, *, stubborn: bool = False) -> None:
    """Lets virtual time pass; a stubborn wait cannot be cancelled."""
    until = now_s() + seconds
    while True:
        try:
            await asyncio.sleep(until - now_s())
            return
        except asyncio.CancelledError:
            if not stubborn:
                raise


async def forever() -> None:
    """Never returns; can be cancelled."""
    await asyncio.get_running_loop().create_future()


# --- the ports --------------------------------------------------------------------------------------------------------


def work(call_id: str, name: str = "work", **plan: Any) -> Called:
    """A call whose arguments say what the tool will do; see `Tools`."""
    return call(name, plan, call_id)


@dataclass
class Tools:
    """An environment whose tools do what their arguments say.

    `say`: pieces, `gap` seconds before each. `then`: seconds before the end (`inf`: never ends). `out`: output of a
    tool that streams nothing. `stop`, `images`: of the result. `stubborn`: cannot be cancelled. `fail`: raises.
    `quit`: ends without a result.
    """

    names: tuple[str, ...] = ("work", "other")
    beside: list[str] = field(default_factory=list[str])
    ran: list[str] = field(default_factory=list[str])
    ended: list[str] = field(default_factory=list[str])
    running: int = 0
    most_running: int = 0
    close_s: float = 0
    prepare_s: float = 0
    renewed: int = 0

    def prepare(self, announce: Callable[[Event], None]) -> asyncio.Future[None] | None:
        self.announce = announce
        if not self.prepare_s:
            return None
        ready = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(self.prepare_s, ready.set_result, None)
        return ready

    def renew(self) -> None:
        self.renewed += 1

    def tools(self) -> tuple[ToolSpec, ...]:
        return tuple(ToolSpec(name=name, description=name, parameters={"type": "object"}) for name in self.names)

    def check(self, call: ToolCall) -> ToolResult | None:
        if call.name not in self.names:
            return ToolResult(f"Unknown tool: {call.name}", "failed")
        if "unfit" in plan_of(call):
            return ToolResult("[tool error] the arguments do not fit", "failed")
        return None

    async def execute(self, call: ToolCall) -> AsyncGenerator[str | ToolResult, None]:
        plan = plan_of(call)
        self.ran.append(call.tool_call_id)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            async for piece in self._doing(plan):
                yield piece
        finally:
            self.running -= 1
            self.ended.append(call.tool_call_id)

    async def _doing(self, plan: dict[str, Any]) -> AsyncGenerator[str | ToolResult, None]:
        stubborn = bool(plan.get("stubborn"))
        for piece in plan.get("say", ()):
            await passing(plan.get("gap", 0), stubborn=stubborn)
            yield piece
        if plan.get("then") == "inf":
            await forever()
        await passing(plan.get("then", 0), stubborn=stubborn)
        if plan.get("fail"):
            raise RuntimeError("the tool broke")
        images = tuple(plan["images"]) if "images" in plan else None
        output = "" if plan.get("say") else plan.get("out", "ok")
        if not plan.get("quit"):
            yield ToolResult(output, plan.get("stop"), images)

    def reports(self) -> list[str]:
        told, self.beside = self.beside, []
        return told

    async def close(self) -> None:
        await passing(self.close_s, stubborn=True)


def plan_of(call: ToolCall) -> dict[str, Any]:
    """What the arguments of a call say."""
    return json.loads(call.arguments) if call.arguments.strip() else {}


@dataclass
class Person:
    """An approver. `answers` by call id (an exception is raised), `delays` in seconds, `never` answers not at all."""

    answers: dict[str, Any] = field(default_factory=dict[str, Any])
    delays: dict[str, float] = field(default_factory=dict[str, float])
    never: set[str] = field(default_factory=set[str])
    asked: list[str] = field(default_factory=list[str])
    withdrawn: list[str] = field(default_factory=list[str])
    asking: int = 0
    most_asking: int = 0

    async def approve(self, call: ToolCall, asking: Asking) -> Decision:
        self.asked.append(call.tool_call_id)
        self.asking += 1
        self.most_asking = max(self.most_asking, self.asking)
        try:
            with asking.waiting():
                await (forever() if call.tool_call_id in self.never else passing(self._delay(call)))
        except asyncio.CancelledError:
            self.withdrawn.append(call.tool_call_id)
            raise
        finally:
            self.asking -= 1
        answer = self.answers.get(call.tool_call_id, ALLOW)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _delay(self, call: ToolCall) -> float:
        return self.delays.get(call.tool_call_id, 0)


@dataclass
class Paced:
    """A model with `gap_s` before each of its parts; a stubborn one cannot be cancelled."""

    inner: Scripted
    gap_s: float = 0
    stubborn: bool = False

    async def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        async for part in self.inner.stream(request):
            if self.gap_s:
                await passing(self.gap_s, stubborn=self.stubborn)
            yield part


@dataclass
class Lines:
    """A trace in memory; `sync_s` is how long the disk takes, `on_append` is called with each line.

    `contexts` are the places where one begins; `heads` those of the lines that say again what goes on.
    """

    lines: list[bytes] = field(default_factory=list[bytes])
    synced: int = 0
    syncs: int = 0
    sync_s: float = 0
    contexts: list[int] = field(default_factory=lambda: [0])
    heads: set[int] = field(default_factory=set[int])
    opening: list[bytes] | None = None
    on_append: list[Callable[[bytes], None]] = field(default_factory=list[Callable[[bytes], None]])

    def append(self, line: bytes) -> None:
        if self.opening is not None:
            self.contexts.append(len(self.lines))
            self.heads.update(range(len(self.lines), len(self.lines) + len(self.opening)))
            self.lines += self.opening
            self.opening = None
        self.lines.append(line)
        for notice in tuple(self.on_append):
            notice(line)

    def rotate(self, preamble: Sequence[bytes]) -> None:
        self.opening = list(preamble)

    async def sync(self) -> None:
        count = len(self.lines)
        self.syncs += 1
        await passing(self.sync_s)
        self.synced = max(self.synced, count)


@dataclass
class Screen:
    """A front end. `on_push` are called with each message, while it is being pushed; `full` holds up `drain`."""

    messages: list[Message] = field(default_factory=list[Message])
    run_ids: list[str | None] = field(default_factory=list["str | None"])
    at_s: list[float] = field(default_factory=list[float])
    states: list[StateChange] = field(default_factory=list[StateChange])
    on_push: list[Callable[[Message], None]] = field(default_factory=list[Callable[[Message], None]])
    room: asyncio.Event = field(default_factory=asyncio.Event)
    keep: bool = True

    def __post_init__(self) -> None:
        self.room.set()

    def push(self, message: Message, run_id: str | None) -> None:
        if self.keep:
            self.messages.append(message)
            self.run_ids.append(run_id)
            self.at_s.append(now_s())
        for notice in tuple(self.on_push):
            notice(message)

    def state(self, change: StateChange) -> None:
        self.states.append(change)

    async def drain(self) -> None:
        await self.room.wait()


@dataclass
class Shelf:
    """Keeps images by number."""

    kept: list[str] = field(default_factory=list[str])

    def keep(self, image_url: str) -> str:
        self.kept.append(image_url)
        return f"/pad/{len(self.kept)}.png"


@dataclass
class Slate:
    """A goal file. `status` is what it says now; `later` what it says after each further look."""

    now: str | None = "active"
    later: list[str | None] = field(default_factory=list["str | None"])
    objectives: list[str] = field(default_factory=list[str])

    def create(self, objective: str) -> str:
        self.objectives.append(objective)
        return "/pad/GOAL.yaml"

    def status(self) -> Any:
        if self.later:
            self.now = self.later.pop(0)
        return self.now


# --- all of it together -----------------------------------------------------------------------------------------------


META = SessionMeta(
    session_id="s",
    provider="p",
    model_id="m",
    system_prompt="be brief",
    workspace="/w",
    created_at="2026-01-01T00:00:00.000Z",
)


class Rig:
    """A session, its fakes, and what a test wants to know of them."""

    def __init__(
        self,
        *,
        person: Person | None = None,
        has_approver: bool = True,
        options: EngineOptions | None = None,
        hooks: Hooks | None = None,
        gap_s: float = 0,
        stubborn_model: bool = False,
        pictures: Pictures | None = None,
        meta: SessionMeta | None = None,
    ) -> None:
        self.llm, self.tools, self.person = Scripted(), Tools(), person or Person()
        self.trace, self.screen, self.slate = Lines(), Screen(), Slate()
        self.session = Session(
            meta or META,
            Ports(
                Paced(self.llm, gap_s, stubborn_model),
                self.tools,
                self.person if has_approver else None,
                self.trace,
                self.screen,
                pictures,
                self.slate,
            ),
            options,
            hooks,
        )

    async def __aenter__(self) -> Rig:
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        await self.session.close()
        if kind is None:
            assert not other_tasks(), f"left behind: {other_tasks()}"

    @property
    def ledger(self) -> Ledger:
        """The live context."""
        return self.session._runtime.ledger

    async def run(self, *input: str | UserContent) -> RunResult:
        """Runs a task to its end; strings are texts of the person."""
        return await self.session.run(said(*input))

    async def pursue(self, *input: str | UserContent, budget: int | None = None) -> RunResult:
        """Runs a goal to its end."""
        return await self.session.run(said(*input), goal=Goal(budget))

    def start(self, *input: str | UserContent, goal: Goal | None = None) -> Ticket:
        """Starts a task, or queues it."""
        return self.session.submit(said(*input), goal=goal, queue=True)

    def abort(self, reason: str | None = None) -> None:
        """Interrupts the task that is going on."""
        if ticket := self.session.current():
            self.session.cancel(ticket, reason)

    def at(self, seconds: float, action: Callable[..., Any], *args: Any) -> None:
        """Does something when so much virtual time has passed."""
        asyncio.get_running_loop().call_later(seconds, action, *args)

    def when(self, label: str, action: Callable[[], Any]) -> None:
        """Does something the first time a message with this label (partials included) is pushed."""

        def look(message: Message) -> None:
            if label_of(message) == label:
                self.screen.on_push.remove(look)
                action()

        self.screen.on_push.append(look)

    async def until(self, label: str) -> None:
        """Waits until a message with this label (partials included) is pushed."""
        event = asyncio.Event()
        self.when(label, event.set)
        await event.wait()

    def labels(self, *, partials: bool = False) -> list[str]:
        """One short word a message."""
        return [label_of(one) for one in self.screen.messages if partials or not isinstance(one.payload, PARTIAL_TYPES)]

    def of(self, kind: type[T]) -> list[T]:
        """The payloads of this type in the stream."""
        return [one.payload for one in self.screen.messages if isinstance(one.payload, kind)]

    def ids(self, kind: type[Any]) -> list[str]:
        """The call ids of the payloads of this type in the stream."""
        return [one.tool_call_id for one in self.of(kind)]

    def sent(self, number: int = -1) -> list[tuple[str, ...]]:
        """A request in short: history and input."""
        request = self.llm.requests[number]
        return [short(one) for one in (*(m for c in request.history for m in c.messages), *request.input)]

    def traced(self) -> list[dict[str, Any]]:
        """The payloads of the trace."""
        return [json.loads(line)["payload"] for line in self.trace.lines]

    def states(self) -> list[str]:
        """The states that were told."""
        return [change.state for change in self.screen.states]


def said(*input: str | UserContent) -> list[UserContent]:
    """An input of the person."""
    return [Text(role="user", text=one) if isinstance(one, str) else one for one in input]


def short(payload: Any) -> tuple[str, ...]:
    """A message in a request: ("user", text), ("call", id), ("output", id, output), …"""
    match payload:
        case Text():
            return (payload.role, payload.text)
        case Thinking():
            return ("thinking", payload.thinking)
        case ToolCall():
            return ("call", payload.tool_call_id)
        case ToolCallOutput():
            return ("output", payload.tool_call_id, payload.output)
        case ImageUrl():
            return ("image", payload.image_url)
        case _:
            return (payload.type,)


def label_of(message: Message) -> str:
    """One short word: `request_begin`, `text`, `tool_call:work`, `request_end:timeout`, `partial_text:start`, …"""
    payload: Any = message.payload
    if isinstance(payload, PARTIAL_TYPES):
        return f"{payload.type}:{payload.event_type}"
    detail = {"tool_call": "name", "request_end": "status", "approval_decision": "decision"}.get(payload.type)
    return f"{payload.type}:{getattr(payload, detail)}" if detail else payload.type


def block(tag: str, *items: str) -> str:
    """A carried block, spelled out."""
    return "\n".join([f"[{tag}]", *(f"  {item}" for item in items), f"[/{tag}]"])


def other_tasks() -> set[asyncio.Task[Any]]:
    """The tasks of this loop but the present one."""
    return asyncio.all_tasks() - {asyncio.current_task()}  # pyright: ignore[reportOperatorIssue]


if TYPE_CHECKING:
    _llm: LLM = Paced(Scripted())
    _environment: Environment = Tools()
    _approver: Approver = Person()
    _trace: Trace = Lines()
    _sink: Sink = Screen()
    _pictures: Pictures = Shelf()
    _goal_file: GoalFile = Slate()
