/**
 * What a message has to look like, checked where it comes in from another program.
 *
 * Each table has exactly the fields of its type: the compiler says when one is forgotten. Unknown kinds and fields pass,
 * because a newer server may send them; a known field of the wrong type does not.
 */

import type {
  EventPayload,
  McpServerResult,
  ModelPayload,
  OmniMessage,
  SessionMeta,
  TokenCounts,
  ToolSpec,
} from "./messages";

type Check = (value: unknown) => boolean;
type Shape<T> = { readonly [K in keyof T]-?: Check };
type Shapes<P extends { type: string }> = { readonly [K in P["type"]]: Omit<Shape<Extract<P, { type: K }>>, "type"> };

const text: Check = (value) => typeof value === "string";
const number: Check = (value) => typeof value === "number" && Number.isFinite(value);
const table: Check = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const list =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const oneOf =
  (...values: string[]): Check =>
  (value) =>
    typeof value === "string" && values.includes(value);

function shaped(shape: Readonly<Record<string, Check>>): Check {
  return (value) =>
    table(value) && Object.entries(shape).every(([field, check]) => check((value as Record<string, unknown>)[field]));
}

const stop = oneOf("completed", "failed", "aborted", "timeout", "malformed", "auth");
const phase = oneOf("start", "delta", "stop");
const anyone = oneOf("user", "assistant");
const model = oneOf("assistant");
const person = oneOf("user");
const ending = { stop_reason: optional(stop), fidelity: optional(table) };
const counts = shaped({
  cache_read: number,
  cache_write: number,
  output: number,
  total: number,
} satisfies Shape<TokenCounts>);
const toolSpec = shaped({ name: text, description: text, parameters: table } satisfies Shape<ToolSpec>);
const sessionMode = oneOf("native", "loop");
const compactionMode = oneOf("summarize", "discard");
const compactionReason = oneOf("context", "turns", "manual", "history");
const mcpResult = shaped({
  server: text,
  transport: text,
  status: stop,
  duration_ms: number,
  tools: optional(number),
  error: optional(text),
} satisfies Shape<McpServerResult>);

/** The payloads of `model_msg`. */
export const MODEL_SHAPES: Shapes<ModelPayload> = {
  text: { role: anyone, text, sender: optional(oneOf("user", "parent_agent", "harness")), ...ending },
  thinking: { role: model, thinking: text, ...ending },
  tool_call: { role: model, name: text, arguments: text, tool_call_id: text, ...ending },
  tool_call_output: { role: person, tool_call_id: text, output: text, images: optional(list(text)), ...ending },
  image_url: { role: person, image_url: text, fidelity: optional(table) },
  inline_data: { role: anyone, data: text, mime_type: text, fidelity: optional(table) },
  partial_text: { role: anyone, event_type: phase, text },
  partial_thinking: { role: model, event_type: phase, thinking: text },
  partial_tool_call: { role: model, event_type: phase, name: text, arguments: text, tool_call_id: text },
  partial_tool_call_output: {
    role: person,
    event_type: phase,
    output: text,
    images: optional(list(text)),
    tool_call_id: text,
  },
};

/** The payloads of `event_msg`. */
export const EVENT_SHAPES: Shapes<EventPayload> = {
  run_begin: { run_id: text, expected: optional(text), max_retries: optional(number) },
  request_begin: {},
  request_end: {
    status: stop,
    error_message: optional(text),
    attempt: optional(number),
    retry_in_ms: optional(number),
    finish: optional(oneOf("stop", "tool_calls", "length", "refusal", "content_filter", "pause")),
  },
  token_usage: { session: counts, request: counts, context_window: optional(number), compaction_at: optional(number) },
  approval_decision: {
    tool_call_id: text,
    decision: oneOf("allow", "deny", "forbidden"),
    decided_by: oneOf("user", "rule", "policy", "mode", "default"),
    rule: optional(text),
  },
  compaction_begin: {
    reason: compactionReason,
    mode: compactionMode,
    context: number,
    turns: number,
    kept: optional(number),
  },
  compaction_end: {
    reason: compactionReason,
    mode: compactionMode,
    status: stop,
    attempt: optional(number),
    error_message: optional(text),
  },
  abort: { reason: optional(text) },
  tool_list_ready: { tools: list(toolSpec) },
  session_update: {
    title: optional(text),
    approval_mode: optional(text),
    thinking_level: optional(text),
    model: optional(text),
    mode: optional(sessionMode),
    tools: optional(list(text)),
  },
  context_seed: { count: number },
  mcp_connect_begin: { servers: list(text) },
  mcp_connect_end: { status: stop, results: list(mcpResult) },
  subagent: { session_id: text },
  goal_round: { round: number, budget: optional(number), used: number },
  goal_finished: { outcome: oneOf("complete", "blocked", "budget_limited", "aborted"), rounds: number, used: number },
  loop_step: {
    step: number,
    decision: shaped({ tool: text, reason: optional(text) }),
    outcome: oneOf("result", "error", "denied", "final_answer", "cannot_complete", "rejected"),
  },
};

/** The payload of `session_meta`. */
export const META_SHAPE: Omit<Shape<SessionMeta>, "type"> = {
  session_id: text,
  parent_id: optional(text),
  provider: text,
  model_id: text,
  model_context_window: optional(number),
  system_prompt: text,
  workspace: text,
  mode: sessionMode,
  created_at: text,
  source: optional(oneOf("subagent", "fork")),
  tags: optional(list(text)),
  format: number,
};

const PAYLOADS: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Check>>>>>> = {
  model_msg: MODEL_SHAPES,
  event_msg: EVENT_SHAPES,
  session_meta: { session_meta: META_SHAPE },
};

/** The fields of a payload of that kind; undefined for one that is not known. */
export function payloadShape(kind: string, type: string): Readonly<Record<string, Check>> | undefined {
  const payloads = PAYLOADS[kind];
  return payloads && Object.hasOwn(payloads, type) ? payloads[type] : undefined;
}

/** Whether that is a message of a kind that is known here, and everything known of it has the right type. */
export function isMessage(value: unknown): value is OmniMessage {
  const { timestamp, type, payload, origin } = (table(value) ? value : {}) as Record<string, unknown>;
  if (!text(timestamp) || typeof type !== "string" || !optional(list(text))(origin) || !table(payload)) {
    return false;
  }
  const name = (payload as { type?: unknown }).type;
  const shape = typeof name === "string" ? payloadShape(type, name) : undefined;
  return shape !== undefined && shaped(shape)(payload);
}
