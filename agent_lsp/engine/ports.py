"""What the engine is plugged into: Protocols, so that whoever implements one imports nothing but the values below."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, Protocol

from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.messages.content import Content, Fidelity, StopReason, ToolCall
    from agent_lsp.messages.envelope import Message
    from agent_lsp.messages.events import Event, Finish, TokenCounts, ToolSpec

ThinkingLevel = Literal["none", "low", "medium", "high", "xhigh", "max"]
Permission = Literal["r", "rw"]

# --- the language model -----------------------------------------------------------------------------------------------


@frozen
class TextDelta:
    """A piece of the reply's text. Opens a text segment if none is open."""

    text: str


@frozen
class ThinkingDelta:
    """A piece of the reply's reasoning. Opens a thinking segment if none is open, even if the piece is empty."""

    thinking: str


@frozen
class CallBegin:
    """A tool call begins. `key` tells the calls of one reply apart; `call_id` is the provider's ("" = none given)."""

    key: int
    name: str
    call_id: str


@frozen
class CallDelta:
    """A piece of the arguments of the call `key`."""

    key: int
    arguments: str


@frozen
class SegmentEnd:
    """The open segment ends here: a call (`key`), which is complete and may run now, or the text or thinking (None).

    `fidelity` goes onto the complete message. An adapter sends this only when it knows that the segment was not cut:
    what is still open at the `Outcome` is closed by the engine with the stop reason that fits.
    """

    key: int | None = None
    fidelity: Fidelity | None = None


@frozen
class Outcome:
    """How a request ended; always the last part of a stream, exactly once.

    `message` is one line for a person, never with a credential in it; on everything but completed. `permanent`: the
    same request can never succeed. `context_length`: it was too long for the model. `retry_after_ms`: what the provider
    asked for. `usage` and `finish`: on completed only. `reply`: what the model wrote, if it could not be read.
    """

    status: StopReason
    message: str | None = None
    permanent: bool = False
    context_length: bool = False
    retry_after_ms: int | None = None
    usage: TokenCounts | None = None
    finish: Finish | None = None
    reply: str | None = None


Part = TextDelta | ThinkingDelta | CallBegin | CallDelta | SegmentEnd | Outcome


@frozen(eq=False, weakref_slot=True)
class Commit:
    """What one completed request added to the context: its input, then its reply.

    Identity is its key: an adapter may keep what it encoded for a commit (in a `WeakKeyDictionary`), because history
    only ever grows by whole commits and a commit never changes. `messages` carry the ids that the provider knows.
    """

    messages: tuple[Content, ...]


@frozen
class Request:
    """One request to a model: `history`, then `input`. The same values always give the same bytes.

    `tools` and `system` never change within a context. `input` is never empty. `response_schema`: the JSON Schema that
    the reply's text has to fit, which an adapter passes on where the provider can hold a model to it.
    """

    system: str
    tools: tuple[ToolSpec, ...]
    history: Sequence[Commit]
    input: tuple[Content, ...]
    thinking_level: ThinkingLevel | None = None
    session_id: str = ""
    response_schema: Mapping[str, Any] | None = None


class LLM(Protocol):
    """A model behind a provider. Stateless: it gets the whole request each time."""

    def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        """Streams the reply; the last part is the `Outcome`. Never raises but `CancelledError`; never retries.

        Closing the iterator or cancelling its task lets go of the connection at once; reading on to the end keeps it.
        """
        ...


# --- tools ------------------------------------------------------------------------------------------------------------


@frozen
class ToolResult:
    """How a tool ended. Comes last from `execute`, exactly once.

    If text was streamed, it is the output and `output` must be empty. If nothing was streamed, `output` is the whole
    output and is shown as one complete message. One of the two is not empty. `needs_input` asks the person (loop mode).
    The last `note_chars` of the output are the harness's remarks; `archive` is the file with all of a cut text.
    """

    output: str = ""
    stop_reason: StopReason | None = None
    images: tuple[str, ...] | None = None
    needs_input: bool = False
    note_chars: int = 0
    archive: str | None = None


class Environment(Protocol):
    """The tools of one session."""

    def prepare(self, announce: Callable[[Event], None]) -> asyncio.Future[None] | None:
        """Gets ready for a run, before anything of it is sent; what the run has to wait for, never an exception.

        The environment bounds that wait; an abort ends it, and what goes on then goes on. `announce` puts an event
        into the session's stream, also after the run, until `close` has returned.
        """
        ...

    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools as the model is told of them, in an order that never changes within a context."""
        ...

    def renew(self) -> None:
        """A new context begins: tools that have come or gone meanwhile count from here on."""
        ...

    def check(self, call: ToolCall) -> ToolResult | None:
        """None when the call names a tool and fits its schema, else the failed result. Fast, touches no file."""
        ...

    def execute(self, call: ToolCall) -> AsyncGenerator[str | ToolResult, None]:
        """Runs a call that `check` passed: pieces of output as they come, then the result. Never raises but
        `CancelledError`; cancelling it ends what it started. Limits, notes and time-outs are inside."""
        ...

    def reports(self) -> Sequence[str]:
        """What the model should hear of what goes on beside its calls (a background command has ended), each once."""
        ...

    async def close(self) -> None:
        """Ends everything the tools have left running, within 5 s."""
        ...


# --- approval ---------------------------------------------------------------------------------------------------------


@frozen
class Decision:
    """What became of the question whether a call may run. `feedback` (of a deny) reaches the model below the denial;
    `failed`: nobody has decided, because the approver or the client behind it broke."""

    decision: Literal["allow", "deny", "forbidden"]
    decided_by: Literal["user", "rule", "policy", "mode", "default"]
    rule: str | None = None
    feedback: str | None = None
    failed: bool = False


class Asking(Protocol):
    """How an approver says that it is waiting for a person."""

    def waiting(self) -> AbstractContextManager[None]:
        """Around the wait: the session's state is `waiting_approval` meanwhile."""
        ...


class Approver(Protocol):
    """Policy, rules, mode and the person, in that order, in one place."""

    async def approve(self, call: ToolCall, asking: Asking) -> Decision:
        """Called exactly once for each call that fits its tool, one at a time, in call order.

        It is cancelled when the question is withdrawn (an abort, a failed attempt): it takes back what it asked and
        re-raises. Whatever it raises otherwise is a deny.
        """
        ...


# --- where everything goes --------------------------------------------------------------------------------------------

SessionState = Literal["idle", "running", "compacting", "waiting_approval", "reconnecting", "auth_required"]


@frozen
class StateChange:
    """The state of a session, told on every change."""

    state: SessionState
    queued: int = 0
    pending_approvals: int = 0
    attempt: int | None = None
    retry_in_ms: int | None = None
    hint: str | None = None


class Trace(Protocol):
    """Where what happened is kept. Never raises: a write that fails is said once and tried again."""

    def append(self, line: bytes) -> None:
        """Adds one message (JSON without its line end) as the next line, in the order of the calls."""
        ...

    def rotate(self, preamble: Sequence[bytes]) -> None:
        """A new context begins: the next line goes to a new file, behind the lines of the preamble."""
        ...

    async def sync(self) -> None:
        """Returns when everything appended so far is on the disk."""
        ...


class Sink(Protocol):
    """The front end's side of a session: synchronous, cannot fail, called in program order."""

    def push(self, message: Message, run_id: str | None) -> None:
        """The next message of the stream; the trace has it already."""
        ...

    def state(self, change: StateChange) -> None:
        """The session's state has changed."""
        ...

    async def drain(self) -> None:
        """Waits while the client is too slow to take more; returns at once below the high-water mark."""
        ...


class Pictures(Protocol):
    """Where images go that the model cannot see."""

    def keep(self, image_url: str) -> str:
        """Keeps the image (a data URL) and returns where, as a model names it to a tool; a web address as it is."""
        ...


class GoalFile(Protocol):
    """Where the model and the engine keep how a goal stands. Neither method raises."""

    def create(self, objective: str) -> str:
        """Begins a goal, in the place of an earlier one; returns where, as a model names it to a tool."""
        ...

    def status(self) -> Literal["active", "complete", "blocked"] | None:
        """What the model has written; None when that is missing or broken."""
        ...


@frozen
class Ports:
    """All a session is plugged into. No approver: calls are denied. `aside` wraps the model for untraced requests."""

    llm: LLM
    environment: Environment
    approver: Approver | None
    trace: Trace
    sink: Sink
    pictures: Pictures | None = None
    goal_file: GoalFile | None = None
    aside: Callable[[LLM], LLM] | None = None
