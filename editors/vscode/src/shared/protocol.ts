/**
 * The `agent/*` methods: what each takes and gives.
 *
 * Mirrors `agent_lsp/server/methods.py` and `run_methods.py`; `listings.ts`, `callbacks.ts` and `methods.ts` (the names)
 * have the rest, and all of it is to be imported from here. camelCase, save what is part of a message. A field that has no
 * value is left out.
 */

import type { ApproveParams } from "./callbacks";
import type {
  CompactionMode,
  Finish,
  GoalOutcome,
  OmniMessage,
  SessionMode,
  StopReason,
  TokenCounts,
} from "./messages";

export * from "./callbacks";
export * from "./listings";
export * from "./messages";
export * from "./methods";

/** The version that this client speaks; a server answers with its own. */
export const PROTOCOL_VERSION = 1;

// --- shared shapes ---------------------------------------------------------------------------------------------------

export const THINKING_LEVELS = ["none", "low", "medium", "high", "xhigh", "max"] as const;
export type ThinkingLevel = (typeof THINKING_LEVELS)[number];
/** From the strictest to the widest. */
export const APPROVAL_MODES = ["read-only", "plan", "ask", "auto-edit", "allow-all"] as const;
export type ApprovalMode = (typeof APPROVAL_MODES)[number];
export type SessionState = "idle" | "running" | "compacting" | "waiting_approval" | "reconnecting" | "auth_required";
export type Permission = "r" | "rw";
export type RunStatus = StopReason | "max_turns";

export interface ModelRef {
  provider: string;
  model: string;
}

/** A place in a text; `character` counts in UTF-16, which is what the editor negotiates. */
export interface Position {
  line: number;
  character: number;
}

/** From `start` up to, not including, `end`. */
export interface Range {
  start: Position;
  end: Position;
}

/** An image has `data` (a data URL) or `url`; a resource is a file or a selection whose text is attached. */
export type InputPart =
  | { type: "text"; text: string }
  | { type: "image"; data?: string; url?: string }
  | { type: "resource"; uri: string; range?: Range };
export type Input = string | InputPart[];

// --- sessions --------------------------------------------------------------------------------------------------------

/** One session; left out: the connection's current one. */
export interface SessionParams {
  sessionId?: string;
}

export interface NamedSessionParams {
  sessionId: string;
}

export interface NewParams {
  workspace?: string;
  model?: ModelRef | string;
  mode?: SessionMode;
  approvalMode?: ApprovalMode;
  thinkingLevel?: ThinkingLevel;
  systemPrompt?: string;
  maxTurns?: number;
  agent?: string;
  tags?: string[];
  title?: string;
  ephemeral?: boolean;
}

export interface ListParams {
  workspace?: string;
  limit?: number;
  cursor?: string;
}

/** The messages after the cursor, or with `fromEnd` the last ones before it. */
export interface HistoryParams {
  sessionId: string;
  limit?: number;
  cursor?: string;
  fromEnd?: boolean;
}

/** `model`, `mode` and `tools` only between runs; `tools` are the names that stay enabled. */
export interface UpdateParams {
  sessionId: string;
  approvalMode?: ApprovalMode;
  thinkingLevel?: ThinkingLevel;
  title?: string;
  model?: ModelRef | string;
  mode?: SessionMode;
  tools?: string[];
}

/** `compactionAt`: the tokens at which a compaction is due. Times are ISO 8601. */
export interface SessionInfo {
  sessionId: string;
  title?: string;
  workspace: string;
  model: ModelRef;
  mode: SessionMode;
  approvalMode: ApprovalMode;
  thinkingLevel?: ThinkingLevel;
  state: SessionState;
  createdAt: string;
  updatedAt: string;
  turns: number;
  usage: TokenCounts;
  contextTokens: number;
  contextWindow?: number;
  compactionAt?: number;
  tracePath?: string;
  parentId?: string;
}

/** Newest first. */
export interface SessionList {
  sessions: SessionInfo[];
  nextCursor?: string;
}

/** What waits, inputs as they were given. */
export interface Pending {
  runs: { runId: string; input: Input }[];
  steers: { steerId: string; input: Input }[];
  approvals: ApproveParams[];
}

/**
 * A page, oldest first within it. `nextCursor` leads to what follows it, `previousCursor` (with `fromEnd`) to the `earlier`
 * messages before it.
 * `live` are the unfinished segments of a running turn. Notifications from `nextSeq` on continue it.
 */
export interface HistoryResult {
  messages: OmniMessage[];
  nextCursor?: string;
  previousCursor?: string;
  earlier?: number;
  live?: OmniMessage[];
  nextSeq: number;
  pending: Pending;
}

/** `atTurn`: the last turn that is taken along; the first one is 1. */
export interface ForkParams {
  sessionId: string;
  atTurn?: number;
}

// --- runs ------------------------------------------------------------------------------------------------------------

export interface RunParams {
  sessionId?: string;
  input: Input;
  thinkingLevel?: ThinkingLevel;
  queueIfBusy?: boolean;
  model?: ModelRef | string;
  workDoneToken?: string | number;
  goal?: { budget?: number };
  budget?: { usd?: number; tokens?: number };
  expected?: string;
  maxRetries?: number;
}

/** A task that ended badly is a result too. `text` is that of the last turn, `undelivered` counts steering. */
export interface RunResult {
  sessionId: string;
  status: RunStatus;
  runId: string;
  turns: number;
  text: string;
  usage: TokenCounts;
  errorMessage?: string;
  queued?: boolean;
  finish?: Finish;
  undelivered?: number;
  goal?: { outcome: GoalOutcome; rounds: number; used: number };
  loop?: { outcome: string };
}

export interface SteerParams {
  sessionId?: string;
  runId?: string;
  input: Input;
}

/** Accepted: the running task will deliver it before it ends. Not accepted: it never will. */
export interface SteerResult {
  accepted: boolean;
  steerId?: string;
  runId?: string;
}

export interface UnsteerParams {
  sessionId?: string;
  steerId: string;
}

/** `runId` may name a queued run. */
export interface AbortParams {
  sessionId?: string;
  runId?: string;
  reason?: string;
}

export interface AbortResult {
  aborted: boolean;
  what?: "run" | "queued" | "compaction";
  runId?: string;
}

export type Availability = "ok" | "unsupported" | "empty" | "just_compacted";

export interface CompactParams {
  sessionId?: string;
  mode?: CompactionMode;
}

export interface CompactResult {
  status: StopReason;
  availability: Availability;
  errorMessage?: string;
}
