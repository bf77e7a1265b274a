/**
 * What there is and what was done: edits, rules, tools, models, usage.
 *
 * Mirrors `agent_lsp/server/edits.py`, `usage_handlers.py`, the rest of `methods.py`, and `app/models.py`.
 */

import type { StopReason } from "./messages";
import type { ModelRef, Permission, Range } from "./protocol";

export interface EditsParams {
  sessionId?: string;
  runId?: string;
}

/** Without ids: all of the run, or of the session. */
export interface ChosenEditsParams extends EditsParams {
  editIds?: string[];
}

export type EditState = "pending" | "kept" | "undone" | "changed";

/** `range` is where it is now, or was; `reason` says why it could not be undone. */
export interface EditInfo {
  editId: string;
  runId: string;
  tool_call_id: string;
  uri: string;
  range: Range;
  state: EditState;
  reason?: string;
}

/** In the order in which they were made. `note` says what is not among them. */
export interface EditList {
  edits: EditInfo[];
  note?: string;
}

export type RuleKind = "call" | "command" | "tool";
export type RuleScope = "session" | "workspace";

export interface RuleInfo {
  ruleId: string;
  kind: RuleKind;
  scope: RuleScope;
  label: string;
  createdAt: string;
}

export interface ToolInfo {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  permission: Permission;
  source: string;
}

export interface ModelInfo extends ModelRef {
  contextWindow?: number;
  maxOutputTokens?: number;
  vision: boolean;
  toolCalling: boolean;
  hasCredential: boolean;
}

export interface ModelList {
  models: ModelInfo[];
  defaultModel: ModelRef | null;
}

export interface ModelTest {
  ok: boolean;
  latencyMs?: number;
  status?: StopReason;
  message?: string;
}

/** `from` and `to` are dates or moments, ISO 8601; a date as `to` counts in full. */
export interface UsageParams {
  sessionId?: string;
  from?: string;
  to?: string;
  groupBy?: "model" | "day" | "session";
}

/** Tokens; `costUsd` is null where a price is unknown. */
export interface UsageTotals {
  requests: number;
  cacheRead: number;
  cacheWrite: number;
  output: number;
  total: number;
  costUsd: number | null;
}

/** Where a page of HTML is, on the machine of the server. */
export interface PageAnswer {
  uri: string;
}

export interface UsageResult {
  rows: (UsageTotals & { key: string })[];
  totals: UsageTotals;
  errors: { ts: string; sessionId: string; kind: string; attempt: number | null; message: string | null }[];
}
