"""Shapes of what a client is asked and told, written out only to be described (see `reference_shapes`)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from agent_lsp.engine.ports import Permission, SessionState
from agent_lsp.messages.envelope import EventMessage, MetaMessage, ModelMessage
from agent_lsp.server.methods import Result

OmniMessage = Annotated[ModelMessage | EventMessage | MetaMessage, Field(discriminator="type")]


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
