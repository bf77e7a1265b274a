/**
 * What happened around the model's context: the payloads of `event_msg`. Each one says when it comes.
 *
 * Mirrors `agent_lsp/messages/events.py`.
 */

import type { StopReason } from "./messages";

export type Finish = "stop" | "tool_calls" | "length" | "refusal" | "content_filter" | "pause";
export type SessionMode = "native" | "loop";
export type CompactionReason = "context" | "turns" | "manual" | "history";
export type CompactionMode = "summarize" | "discard";

/** Tokens: input from a cache, input not from one, all generated ones, their sum. */
export interface TokenCounts {
  cache_read: number;
  cache_write: number;
  output: number;
  total: number;
}

/** Before a run's input; in traces and history only. */
export interface RunBegin {
  type: "run_begin";
  run_id: string;
  expected?: string;
  max_retries?: number;
}

/** Just before a request is sent to the model; after every output of the turn before. */
export interface RequestBegin {
  type: "request_begin";
}

/**
 * At the end of the model's stream, without waiting for tools. `attempt` is 1-based; `retry_in_ms` only when the request
 * will be made again; `finish` only on completed.
 */
export interface RequestEnd {
  type: "request_end";
  status: StopReason;
  error_message?: string;
  attempt?: number;
  retry_in_ms?: number;
  finish?: Finish;
}

/** Just before the `request_end` of a completed request. */
export interface TokenUsage {
  type: "token_usage";
  session: TokenCounts;
  request: TokenCounts;
  context_window?: number;
  compaction_at?: number;
}

/** Between a call and its output, once for each call that was decided; not for an interrupted one. */
export interface ApprovalDecision {
  type: "approval_decision";
  tool_call_id: string;
  decision: "allow" | "deny" | "forbidden";
  decided_by: "user" | "rule" | "policy" | "mode" | "default";
  rule?: string;
}

/** Before a compaction; `context` is the tokens at the trigger, `kept` the last messages that stay as they are. */
export interface CompactionBegin {
  type: "compaction_begin";
  reason: CompactionReason;
  mode: CompactionMode;
  context: number;
  turns: number;
  kept?: number;
}

/** After a compaction, whatever came of it. */
export interface CompactionEnd {
  type: "compaction_end";
  reason: CompactionReason;
  mode: CompactionMode;
  status: StopReason;
  attempt?: number;
  error_message?: string;
}

/** The last message of a run that was interrupted or given up. */
export interface Abort {
  type: "abort";
  reason?: string;
}

/** A tool as the model is told of it; `parameters` is a JSON Schema object. */
export interface ToolSpec {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

/** Once per context, before its first request; again after a resume if the list changed. */
export interface ToolListReady {
  type: "tool_list_ready";
  tools: ToolSpec[];
}

/** When a setting of the session was changed; only what changed is set. */
export interface SessionUpdate {
  type: "session_update";
  title?: string;
  approval_mode?: string;
  thinking_level?: string;
  model?: string;
  mode?: SessionMode;
  tools?: string[];
}

/** Before `count` model messages that are committed as they stand; in traces and history only. */
export interface ContextSeed {
  type: "context_seed";
  count: number;
}

/** How connecting one MCP server ended. */
export interface McpServerResult {
  server: string;
  transport: string;
  status: StopReason;
  duration_ms: number;
  tools?: number;
  error?: string;
}

/** When a session starts to connect its MCP servers. */
export interface McpConnectBegin {
  type: "mcp_connect_begin";
  servers: string[];
}

/** When every MCP server has connected, failed or run out of time. */
export interface McpConnectEnd {
  type: "mcp_connect_end";
  status: StopReason;
  results: McpServerResult[];
}

/** When a child session starts. */
export interface Subagent {
  type: "subagent";
  session_id: string;
}

/** Before each round of a goal; tokens. */
export interface GoalRound {
  type: "goal_round";
  round: number;
  budget?: number;
  used: number;
}

/** After the last round of a goal. */
export interface GoalFinished {
  type: "goal_finished";
  outcome: GoalOutcome;
  rounds: number;
  used: number;
}

export type GoalOutcome = "complete" | "blocked" | "budget_limited" | "aborted";
export type StepOutcome = "result" | "error" | "denied" | "final_answer" | "cannot_complete" | "rejected";

/** After each step of a loop session. */
export interface LoopStep {
  type: "loop_step";
  step: number;
  decision: { tool: string; reason?: string };
  outcome: StepOutcome;
}

export type EventPayload =
  | RunBegin
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
  | LoopStep;
