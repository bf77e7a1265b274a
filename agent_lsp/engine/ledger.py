"""The one reducer: what was traced, record by record, makes the context. Live and replay share it.

The engine records what happens and asks the ledger what the next request must hold; it keeps no second account.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_lsp.engine import carry_over
from agent_lsp.engine.call_ids import CallIds
from agent_lsp.engine.carry_over import AttemptRecord, Batch
from agent_lsp.engine.ports import Commit
from agent_lsp.messages import markers
from agent_lsp.messages.content import (
    CONTENT_TYPES,
    Content,
    ImageUrl,
    InlineData,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
)
from agent_lsp.messages.events import (
    Abort,
    CompactionBegin,
    CompactionEnd,
    ContextSeed,
    Event,
    Finish,
    RequestBegin,
    RequestEnd,
    RunBegin,
    SessionUpdate,
    TokenCounts,
    TokenUsage,
    ToolListReady,
    ToolSpec,
)

if TYPE_CHECKING:
    from agent_lsp.messages.envelope import SessionMeta


class Ledger:
    """The context of a session and what waits to join it.

    `history` grows by whole commits. What waits is, in this order: the outputs of the last reply's calls (`batch`),
    other input (carry-over, prompts, steering), and what failed attempts of this turn produced. While a compaction is
    on (`compacting`), its prompt comes last, and what a refused request left waiting is held back.
    """

    def __init__(self) -> None:
        self.ids = CallIds()
        self.history: list[Commit] = []
        self.batch: Batch | None = None
        self.cut_calls: list[str] = []
        self.tools_told: tuple[ToolSpec, ...] | None = None
        self.settings = SessionUpdate()
        self.turns = self.context_turns = 0
        self.usage = TokenCounts()
        self.context_tokens = 0
        self.compacting: CompactionBegin | None = None
        self._was_compacted = False
        self.is_closed = False
        self._pending: list[Content] = []
        self._attempts: list[AttemptRecord] = []
        self._open: AttemptRecord | None = None
        self._asked: list[Content] = []
        self._held: list[Content] = []
        self._summary = ""
        self._kept: list[Content] = []
        self._head: tuple[Content, ...] = ()
        self._seed: list[Content] = []
        self._seed_left = 0

    def request_input(self) -> tuple[Content, ...]:
        """The input of the next request, the ids as the session knows them."""
        outputs = self.batch.answered() if self.batch else []
        note = carry_over.retried(self._attempts)
        return (*outputs, *self._pending, *([note] if note else ()), *self._asked)

    def has_input(self) -> bool:
        """Whether there is anything to send."""
        return bool(self.batch or self._pending or self._attempts)

    def wire(self, messages: tuple[Content, ...]) -> tuple[Content, ...]:
        """The messages with the call ids that the provider knows."""
        return tuple(self._with_original_id(one) for one in messages)

    @property
    def just_compacted(self) -> bool:
        """Whether nothing was committed since the last compaction."""
        return not self.history and (self.turns > 0 or self._was_compacted)

    def opening(self) -> tuple[Content | ContextSeed, ...]:
        """What a fresh context begins with: the summary of the one before, and the input that waits for it.

        A summary with kept messages behind it is committed already, so it comes as a seed.
        """
        seed = (ContextSeed(count=len(self._head)), *self._head) if self._head else ()
        return (*seed, *self._pending)

    def messages(self) -> list[Content]:
        """All that is in the context or waits to join it, as the provider knows it."""
        committed = [one for commit in self.history for one in commit.messages]
        waiting = [*(self.batch.answered() if self.batch else []), *self._pending]
        return [*committed, *self.wire(tuple(waiting))]

    def end_replay(self) -> None:
        """Nothing more will be replayed: a compaction that has no end has failed."""
        if self.compacting:
            self._compaction_ended("failed")

    def apply(self, payload: Content | Event | SessionMeta) -> None:
        """Takes the next record. Fragments are no records; what does not touch the context changes nothing.

        `is_closed` afterwards: the context has ended with this record, and the next one belongs to another.
        """
        self.is_closed = False
        if self._seed_left and not isinstance(payload, ContextSeed):
            self._seeded(payload)
            return
        match payload:
            case Text() | InlineData() if payload.role == "assistant":
                self._replied(payload)
            case Text() | InlineData() | ImageUrl():
                (self._asked if self.compacting else self._pending).append(payload)
            case Thinking() | ToolCall():
                self._replied(payload)
            case ToolCallOutput():
                self._answered(payload)
            case _:
                self._happened(payload)

    def _happened(self, event: Event | SessionMeta) -> None:
        match event:
            case RequestEnd():
                self._request_ended(event)
            case RunBegin():
                self._settle()
            case RequestBegin():
                self._open = AttemptRecord()
            case TokenUsage():
                self.usage = event.session
                self.context_tokens = self.context_tokens if self.compacting else event.request.total
            case ToolListReady():
                self.tools_told = event.tools
            case ContextSeed():
                self._seed_left = event.count
            case SessionUpdate():
                self.settings = self.settings.model_copy(update=event.model_dump(exclude_none=True))
            case CompactionBegin():
                self._compaction_began(event)
            case CompactionEnd():
                self._compaction_ended(event.status)
            case Abort():
                self._interrupt(markers.INTERRUPTED)
            case _:
                pass

    # --- replies and outputs ---

    def _replied(self, payload: Text | InlineData | Thinking | ToolCall) -> None:
        if isinstance(payload, ToolCall):
            self.ids.note(payload.tool_call_id)
        if self._open:  # a text outside a request is the engine's own note, which no model sees
            self._open.reply.append(payload)

    def _answered(self, output: ToolCallOutput) -> None:
        id = output.tool_call_id
        if self.batch and any(call.tool_call_id == id for call in self.batch.calls):
            self.batch.outputs.setdefault(id, output)
            return
        for attempt in (self._open, *reversed(self._attempts)):
            if attempt and any(isinstance(one, ToolCall) and one.tool_call_id == id for one in attempt.reply):
                attempt.outputs.setdefault(id, output)
                return

    def _seeded(self, payload: Content | Event | SessionMeta) -> None:
        """One of the messages that are committed as they stand; the last of them commits them all."""
        if isinstance(payload, CONTENT_TYPES):
            if isinstance(payload, ToolCall):
                self.ids.note(payload.tool_call_id)
            self._seed.append(payload)
            self._seed_left -= 1
        if self._seed_left == 0:
            self.history.append(Commit(self.wire(tuple(self._seed))))
            self._seed = []

    # --- requests ---

    def _request_ended(self, event: RequestEnd) -> None:
        attempt = self._open or AttemptRecord()
        self._open = None
        if event.status == "completed":
            self._commit(attempt, event.finish)
        elif not self.compacting:  # a compaction sends the same request again, whatever an attempt produced
            attempt.status = event.status
            self._attempts.append(attempt)

    def _commit(self, attempt: AttemptRecord, finish: Finish | None) -> None:
        torn = [one for one in attempt.reply if isinstance(one, ToolCall) and one.stop_reason]
        reply = tuple(one for one in attempt.reply if one not in torn)
        self.history.append(Commit(self.wire(self.request_input() + reply)))
        calls = [one for one in reply if isinstance(one, ToolCall)]
        self.batch = Batch(calls, attempt.outputs) if calls else None
        self._pending, self._attempts, self._asked = [], [], []
        if self.compacting:
            self._summary = "".join(one.text for one in reply if isinstance(one, Text))
            return
        self.cut_calls = [one.name for one in torn] if finish == "length" else []
        self.turns += 1
        self.context_turns += 1

    # --- interrupts ---

    def _settle(self) -> None:
        """What is not ended here was left by a process that ended."""
        self.end_replay()
        if self._open or self._attempts or (self.batch and not self.batch.is_settled()):
            self._interrupt(markers.INTERRUPTED_BY_EXIT)

    def _interrupt(self, placeholder: str) -> None:
        """The turn ends here: what it leaves waits for the next request."""
        if self._open:  # no `request_end`: the process ended; an attempt without product leaves its input as it was
            self._open.status = "aborted" if self._open.reply else "failed"
            self._attempts.append(self._open)
            self._open = None
        given = [*(self.batch.answered(placeholder) if self.batch else []), *self._pending]
        if self._attempts and self._attempts[-1].status == "aborted":
            earlier = carry_over.retried(self._attempts[:-1])
            self._pending = carry_over.aborted([*given, *([earlier] if earlier else [])], self._attempts[-1:])
        else:
            note = carry_over.retried(self._attempts)
            self._pending = [*given, *([note] if note else [])]
        self.batch, self._attempts = None, []

    # --- compaction ---

    def _compaction_began(self, event: CompactionBegin) -> None:
        """Folds in what waits. What a request that was refused as too long would have said is kept for afterwards.

        Outputs are not: their calls are in the context.
        """
        if event.reason == "manual":
            self._settle()
        self._kept = self.messages()[-event.kept :] if event.kept else []
        if self._attempts:
            note = carry_over.retried(self._attempts)
            outputs: list[Content] = [one for one in self._pending if isinstance(one, ToolCallOutput)]
            self._held = [*(one for one in self._pending if one not in outputs), *([note] if note else [])]
            self._pending, self._attempts = outputs, []
        self.compacting, self._summary = event, ""

    def _compaction_ended(self, status: str) -> None:
        began, self.compacting = self.compacting, None
        self._open, self._asked = None, []
        if status == "completed" and began:
            dropped = [*(self.batch.answered() if self.batch else []), *self._pending]
            self.history, self.batch, self._was_compacted = [], None, True
            self._pending = self._opening(began, dropped)
            self._head = (*self._pending, *self._kept) if began.reason == "history" else ()
            if self._head:
                self.history, self._pending = [Commit(tuple(self._pending) + tuple(self._kept))], []
            self.context_turns = self.context_tokens = 0
            self.is_closed = True
        self._pending += self._held
        self._held = []

    def _opening(self, began: CompactionBegin, dropped: list[Content]) -> list[Content]:
        if began.mode == "summarize":
            text = markers.context_summary(markers.read_summary(self._summary))
            return [Text(role="user", text=text, sender="harness")]
        return carry_over.detached(dropped)

    def _with_original_id(self, payload: Content) -> Content:
        if not isinstance(payload, ToolCall | ToolCallOutput):
            return payload
        original = self.ids.original(payload.tool_call_id)
        return payload if original == payload.tool_call_id else payload.model_copy(update={"tool_call_id": original})
