"""What a trace says, as things that last: runs, the requests in them, the calls in these. Times in seconds since 1970.

A span whose end is None was still open when the trace ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from agent_lsp.messages.events import (
    ApprovalDecision,
    CompactionBegin,
    CompactionEnd,
    RequestEnd,
    SessionUpdate,
    TokenCounts,
    ToolSpec,
)
from agent_lsp.slotted import field, mutable

if TYPE_CHECKING:
    from agent_lsp.messages.content import ImageUrl, InlineData, StopReason, Text, Thinking, ToolCall, ToolCallOutput
    from agent_lsp.messages.envelope import SessionMeta

NoteKind = Literal["input", "steering", "harness", "summary", "remark", "abort", "setting", "event"]


@mutable
class Piece:
    """A segment of a reply: from where the one before it ended (or the request began) to its own end."""

    began_s: float
    ended_s: float
    content: Text | Thinking | InlineData


@mutable
class CallSpan:
    """A tool call: written by the model until `asked_s`, decided on at `decided_s`, answered at `ended_s`."""

    began_s: float
    asked_s: float
    call: ToolCall
    decided_s: float | None = None
    decision: ApprovalDecision | None = None
    ended_s: float | None = None
    output: ToolCallOutput | None = None

    @property
    def is_refused(self) -> bool:
        """Whether it was decided that it must not run."""
        return self.decision is not None and self.decision.decision != "allow"

    @property
    def waited_s(self) -> float:
        """How long a person took to decide."""
        asked = self.decision is not None and self.decision.decided_by == "user"
        return self.decided_s - self.asked_s if asked and self.decided_s is not None else 0.0


@mutable
class RequestSpan:
    """One attempt at a request. `number` counts the turns of the trace, `attempt` within the turn; None: a summary.

    `model` is `provider/model`.
    """

    number: int | None
    attempt: int
    model: str
    began_s: float
    ended_s: float | None = None
    end: RequestEnd | None = None
    tokens: TokenCounts | None = None
    reply: list[Piece | CallSpan] = field(default_factory=list["Piece | CallSpan"])

    @property
    def status(self) -> StopReason | None:
        """How it ended."""
        return self.end.status if self.end else None

    @property
    def calls(self) -> list[CallSpan]:
        """The calls of its reply."""
        return [one for one in self.reply if isinstance(one, CallSpan)]


@mutable
class Note:
    """Something at one moment: what was said to the model, or what happened around it. `images` came with it."""

    at_s: float
    kind: NoteKind
    text: str
    images: list[ImageUrl | InlineData] = field(default_factory=list["ImageUrl | InlineData"])


@mutable
class CompactionSpan:
    """A compaction: the requests that it made, and what it said to the model."""

    began_s: float
    begin: CompactionBegin
    ended_s: float | None = None
    end: CompactionEnd | None = None
    items: list[RequestSpan | Note] = field(default_factory=list["RequestSpan | Note"])

    @property
    def requests(self) -> list[RequestSpan]:
        """Its requests in order."""
        return [one for one in self.items if isinstance(one, RequestSpan)]


Item = RequestSpan | CompactionSpan | Note


@mutable
class RunSpan:
    """One run, or (`run_id` None) what happened between two. `status` is None while it has not ended."""

    run_id: str | None
    began_s: float
    ended_s: float
    items: list[Item] = field(default_factory=list["Item"])
    status: str | None = None

    @property
    def requests(self) -> list[RequestSpan]:
        """Its requests in order, those of compactions included."""
        found: list[RequestSpan] = []
        for item in self.items:
            if isinstance(item, RequestSpan):
                found.append(item)
            elif isinstance(item, CompactionSpan):
                found += item.requests
        return found

    @property
    def tokens(self) -> TokenCounts:
        """What its completed requests used."""
        return sum((one.tokens for one in self.requests if one.tokens), TokenCounts())

    @property
    def prompt(self) -> str:
        """The first words of what it was told to do."""
        told = (one.text.strip() for one in self.items if isinstance(one, Note) and one.kind == "input")
        return next((words.split("\n")[0] for words in told if words), "")


@mutable
class Timeline:
    """All that a trace says. `bad_lines` (file name, line number) hold no message."""

    meta: SessionMeta | None = None
    settings: SessionUpdate = field(default_factory=SessionUpdate)
    tools: tuple[ToolSpec, ...] = ()
    runs: list[RunSpan] = field(default_factory=list[RunSpan])
    contexts: int = 0
    bad_lines: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    @property
    def requests(self) -> list[RequestSpan]:
        """Every request in order."""
        return [one for run in self.runs for one in run.requests]

    @property
    def tokens(self) -> TokenCounts:
        """What all completed requests used."""
        return sum((run.tokens for run in self.runs), TokenCounts())

    @property
    def model(self) -> str:
        """`provider/model`: the last that was chosen, else the first."""
        first = f"{self.meta.provider}/{self.meta.model_id}" if self.meta else "unknown"
        return self.settings.model or first
