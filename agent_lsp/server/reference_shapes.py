"""Shapes that are written out only to be described: what handlers answer as plain dicts, and what the client is sent.

Nothing here is imported by a running server. A test holds real answers and messages against these shapes.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from agent_lsp.engine.compaction import Availability
from agent_lsp.engine.ports import Permission, SessionState
from agent_lsp.messages.content import StopReason
from agent_lsp.messages.envelope import EventMessage, MetaMessage, ModelMessage
from agent_lsp.server.methods import Input, ModelRef, Result

OmniMessage = Annotated[ModelMessage | EventMessage | MetaMessage, Field(discriminator="type")]


class Nothing(Result):
    """An empty object."""


# --- answers ----------------------------------------------------------------------------------------------------------


class PendingRun(Result):
    """A run that waits its turn, with its input as it was given."""

    run_id: str
    input: Input


class PendingSteer(Result):
    """Words for the running task that were not delivered yet."""

    steer_id: str
    input: Input


class ToolCallShown(Result):
    """A call as the model wrote it; `arguments` is JSON text."""

    tool_call_id: str = Field(alias="tool_call_id")
    name: str
    arguments: str


class EditShown(Result):
    """An edit that waits for permission, as a unified diff."""

    kind: Literal["edit"]
    uri: str
    diff: str
    created: bool


class CommandShown(Result):
    """A command that waits for permission."""

    kind: Literal["command"]
    command: str
    cwd: str


class TextShown(Result):
    """Anything else that waits for permission."""

    kind: Literal["text"]
    text: str


Preview = Annotated[EditShown | CommandShown | TextShown, Field(discriminator="kind")]


class RuleOffered(Result):
    """What may be allowed for longer than once. `rule` is opaque and goes back as it is; `label` is for the person."""

    kind: str
    scope: Literal["session", "workspace"]
    rule: str
    label: str


class ApproveParams(Result):
    """`agent/approve`: a call that waits for permission. Of one session one at a time."""

    session_id: str
    origin: list[str] | None = None
    tool_call: ToolCallShown
    permission: Permission
    title: str
    preview: Preview | None = None
    remember: list[RuleOffered]


class Pending(Result):
    """What waits: runs, words for the running task, questions."""

    runs: list[PendingRun]
    steers: list[PendingSteer]
    approvals: list[ApproveParams]


class HistoryAnswer(Result):
    """A page, oldest first. Notifications from `nextSeq` on continue it; `live` are the fragments of a running turn.

    `nextCursor` leads on to what follows; `previousCursor`, of a page read from the end, back to what comes before it.
    `live` is on the page that has the newest message.
    """

    messages: list[OmniMessage]
    next_cursor: str | None = None
    previous_cursor: str | None = None
    live: list[OmniMessage] | None = None
    next_seq: int
    pending: Pending


class Snapshot(Result):
    """A session as of this moment. That of loop mode has more: turns, tool calls, variables, limits."""

    model_config = ConfigDict(extra="allow")

    type: Literal["native", "loop"]
    status: str
    history: list[Any]
    system_prompt: str


class Withdrawn(Result):
    """False once it was delivered."""

    withdrawn: bool


class Skipped(Result):
    """Whether there was a wait to end."""

    skipped: bool


class Compactability(Result):
    """Whether a compaction by hand would do anything: only if this is `ok`."""

    availability: Availability


class Title(Result):
    """The title; empty when there is none and the model gave none."""

    title: str


class ToolInfo(Result):
    """A tool; `parameters` is a JSON Schema, `source` says where it comes from."""

    name: str
    description: str
    parameters: dict[str, Any]
    permission: Permission
    source: str


class Tools(Result):
    """Those of a session, else of one that would be made."""

    tools: list[ToolInfo]


class ModelInfo(Result):
    """A model that can be named. No credential is ever told, only whether there is one."""

    provider: str
    model: str
    context_window: int | None = None
    max_output_tokens: int | None = None
    vision: bool
    tool_calling: bool
    has_credential: bool


class Models(Result):
    """The models there are, and that of a session which names none."""

    models: list[ModelInfo]
    default_model: ModelRef


class ModelTest(Result):
    """Whether a reply began, and after how long."""

    ok: bool
    latency_ms: int | None = None
    status: StopReason | None = None
    message: str | None = None


class UsageSums(Result):
    """Tokens, and US dollars where the price is known."""

    requests: int
    cache_read: int
    cache_write: int
    output: int
    total: int
    cost_usd: float | None


class UsageRow(UsageSums):
    """What one model, day or session has used."""

    key: str


class UsageFailure(Result):
    """A request that failed."""

    ts: str
    session_id: str
    kind: str
    attempt: int
    message: str


class Usage(Result):
    """What was used, and what failed."""

    rows: list[UsageRow]
    totals: UsageSums
    errors: list[UsageFailure]


# --- what the client is asked -----------------------------------------------------------------------------------------


class Remember(Result):
    """One of the offers, taken."""

    scope: Literal["session", "workspace"]
    rule: str


class ApproveAnswer(Result):
    """Whatever is no `allow` is a deny. `feedback` of a deny reaches the model."""

    decision: Literal["allow", "deny"]
    remember: Remember | None = None
    feedback: str | None = None


class AskParams(Result):
    """`agent/ask`: a question of the model's."""

    session_id: str
    question: str
    options: list[str]
    multiple: bool


class AskAnswer(Result):
    """What the person said; null: nothing."""

    answer: str | list[str] | None


class SaveParams(Result):
    """`agent/saveDocument`."""

    uri: str


class SaveAnswer(Result):
    """Whether it is saved now."""

    saved: bool


class DiagnosticsParams(Result):
    """`agent/diagnostics`; without a document, of all."""

    uri: str | None = None


class DocumentDiagnostics(Result):
    """What is wrong in one document, each as LSP has it."""

    uri: str
    version: int | None = None
    diagnostics: list[dict[str, Any]]


class DiagnosticsAnswer(Result):
    """Of each document that has some."""

    items: list[DocumentDiagnostics]


# --- what the client is told ------------------------------------------------------------------------------------------


class MessageNotice(Result):
    """`agent/message`: the stream of a session, in order; `seq` is the number of the first of `messages`."""

    session_id: str
    run_id: str | None = None
    seq: int
    messages: list[OmniMessage]


class StateNotice(Result):
    """`agent/state`: on every change. `hint` says what to do while it is `auth_required`."""

    session_id: str
    state: SessionState
    queued: int
    pending_approvals: int
    attempt: int | None = None
    retry_in_ms: int | None = None
    hint: str | None = None


class ApprovalResolved(Result):
    """`agent/approvalResolved`: nobody waits for the answer any more."""

    session_id: str
    tool_call_id: str = Field(alias="tool_call_id")
    outcome: Literal["allow", "deny", "withdrawn"]
