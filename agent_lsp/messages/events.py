"""What happened around the model's context: the payloads of `event_msg`. Each docstring says when the event comes."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent_lsp.messages.content import Payload, StopReason

Finish = Literal["stop", "tool_calls", "length", "refusal", "content_filter", "pause"]
Mode = Literal["native", "loop"]
CompactionReason = Literal["context", "turns", "manual", "history"]
CompactionMode = Literal["summarize", "discard"]


class TokenCounts(BaseModel):
    """Tokens: input read from a cache, input not read from one, all generated ones (thinking included), their sum."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    total: int = 0

    def __add__(self, other: "TokenCounts") -> "TokenCounts":
        return TokenCounts(
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            output=self.output + other.output,
            total=self.total + other.total,
        )


class ToolSpec(BaseModel):
    """A tool as the model is told of it; `parameters` is a JSON Schema object."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    description: str
    parameters: dict[str, Any]


class RunBegin(Payload):
    """Before a run's input; traced only. What a caller asked of the answer is kept with it (loop mode)."""

    type: Literal["run_begin"] = "run_begin"
    run_id: str
    expected: str | None = None
    max_retries: int | None = None


class RequestBegin(Payload):
    """Just before a request is sent to the model; after every output of the turn before."""

    type: Literal["request_begin"] = "request_begin"


class RequestEnd(Payload):
    """At the end of the model's stream, without waiting for tools.

    `attempt` is 1-based: on every failure, on a success after failures, on an abort only above 1. `retry_in_ms` only
    when the request will be made again. `finish` only on completed, `error_message` on neither completed nor aborted.
    """

    type: Literal["request_end"] = "request_end"
    status: StopReason
    error_message: str | None = None
    attempt: int | None = None
    retry_in_ms: int | None = None
    finish: Finish | None = None


class TokenUsage(Payload):
    """Just before the `request_end` of a completed request: the session's tokens so far, and this request's."""

    type: Literal["token_usage"] = "token_usage"
    session: TokenCounts
    request: TokenCounts
    context_window: int | None = None
    compaction_at: int | None = None


class ApprovalDecision(Payload):
    """Between a call and its output, once for each call that was decided; not for an interrupted one."""

    type: Literal["approval_decision"] = "approval_decision"
    tool_call_id: str
    decision: Literal["allow", "deny", "forbidden"]
    decided_by: Literal["user", "rule", "policy", "mode", "default"]
    rule: str | None = None


class CompactionBegin(Payload):
    """Before a compaction; `context` is the tokens at the trigger, `kept` the last messages that stay as they are."""

    type: Literal["compaction_begin"] = "compaction_begin"
    reason: CompactionReason
    mode: CompactionMode
    context: int
    turns: int
    kept: int | None = None


class CompactionEnd(Payload):
    """After a compaction, whatever came of it."""

    type: Literal["compaction_end"] = "compaction_end"
    reason: CompactionReason
    mode: CompactionMode
    status: StopReason
    attempt: int | None = None
    error_message: str | None = None


class Abort(Payload):
    """The last message of a run that was interrupted or given up."""

    type: Literal["abort"] = "abort"
    reason: str | None = None


class ToolListReady(Payload):
    """Once per context, before its first request; again after a resume if the list changed."""

    type: Literal["tool_list_ready"] = "tool_list_ready"
    tools: tuple[ToolSpec, ...]


class SessionUpdate(Payload):
    """When a setting of the session was changed; only what changed is set."""

    type: Literal["session_update"] = "session_update"
    title: str | None = None
    approval_mode: str | None = None
    thinking_level: str | None = None
    model: str | None = None
    mode: Mode | None = None
    tools: tuple[str, ...] | None = None


class ContextSeed(Payload):
    """Before `count` model messages that are committed as they stand; traced only."""

    type: Literal["context_seed"] = "context_seed"
    count: int


class McpServerResult(BaseModel):
    """How connecting one MCP server ended."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    server: str
    transport: str
    status: StopReason
    duration_ms: int
    tools: int | None = None
    error: str | None = None


class McpConnectBegin(Payload):
    """When a session starts to connect its MCP servers."""

    type: Literal["mcp_connect_begin"] = "mcp_connect_begin"
    servers: tuple[str, ...]


class McpConnectEnd(Payload):
    """When every MCP server has connected, failed or run out of time."""

    type: Literal["mcp_connect_end"] = "mcp_connect_end"
    status: StopReason
    results: tuple[McpServerResult, ...] = ()


class Subagent(Payload):
    """In the parent's trace, when a child session starts."""

    type: Literal["subagent"] = "subagent"
    session_id: str


class GoalRound(Payload):
    """Before each round of a goal; tokens."""

    type: Literal["goal_round"] = "goal_round"
    round: int
    budget: int | None = None
    used: int


class GoalFinished(Payload):
    """After the last round of a goal."""

    type: Literal["goal_finished"] = "goal_finished"
    outcome: Literal["complete", "blocked", "budget_limited", "aborted"]
    rounds: int
    used: int


class LoopDecision(BaseModel):
    """The decision of one step in loop mode."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    tool: str
    reason: str | None = None


class LoopStep(Payload):
    """After each step of a loop session."""

    type: Literal["loop_step"] = "loop_step"
    step: int
    decision: LoopDecision
    outcome: Literal["result", "error", "denied", "final_answer", "cannot_complete", "rejected"]


Event = (
    RunBegin
    | RequestBegin
    | RequestEnd
    | TokenUsage
    | ApprovalDecision
    | CompactionBegin
    | CompactionEnd
    | Abort
    | ToolListReady
    | SessionUpdate
    | ContextSeed
    | McpConnectBegin
    | McpConnectEnd
    | Subagent
    | GoalRound
    | GoalFinished
    | LoopStep
)
EventPayload = Annotated[Event, Field(discriminator="type")]
