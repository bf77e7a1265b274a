/**
 * What the server says by itself: its notifications, its requests, its capabilities and its errors.
 *
 * Mirrors `agent_lsp/server/stream.py`, `approve.py`, `ask.py`, `documents/findings.py` and `handshake.py`.
 */

import type { ModelList, RuleKind, RuleScope } from "./listings";
import type { OmniMessage } from "./messages";
import type { Permission, Range, SessionState } from "./protocol";

// --- notifications of the server -------------------------------------------------------------------------------------

/** A piece of a session's stream. `seq` numbers the first of `messages`; numbers never skip. */
export interface MessageParams {
  sessionId: string;
  runId?: string;
  seq: number;
  messages: OmniMessage[];
}

/** How a session stands; on every change. `hint` says what to do about `auth_required`. */
export interface StateParams {
  sessionId: string;
  state: SessionState;
  queued: number;
  pendingApprovals: number;
  attempt?: number;
  retryInMs?: number;
  hint?: string;
}

/** An approval was answered or is not needed any more. */
export interface ApprovalResolvedParams {
  sessionId: string;
  tool_call_id: string;
  outcome: "allow" | "deny" | "withdrawn";
}

export interface Notifications {
  "agent/message": MessageParams;
  "agent/state": StateParams;
  "agent/modelsChanged": Record<string, never>;
  "agent/approvalResolved": ApprovalResolvedParams;
}

export type Notice = keyof Notifications;
export const NOTICES = [
  "agent/message",
  "agent/state",
  "agent/modelsChanged",
  "agent/approvalResolved",
] as const satisfies readonly Notice[];

/** What a client tells of the trust in its workspace when that changes (`server/configuration.py`). */
export const WORKSPACE_TRUST = "agent/workspaceTrust";

// --- requests of the server ------------------------------------------------------------------------------------------

/** What a call would do. `diff` is a unified one; paths of commands are absolute. */
export type Preview =
  | { kind: "edit"; uri: string; diff: string; created: boolean }
  | { kind: "command"; command: string; cwd: string }
  | { kind: "text"; text: string };

/** A rule that may be taken with an *allow*; `rule` is opaque and is sent back as it is. */
export interface RuleOffer {
  kind: RuleKind;
  scope: RuleScope;
  rule: string;
  label: string;
}

/** `remember`: narrowest first. `origin`: the child sessions it comes from. */
export interface ApproveParams {
  sessionId: string;
  origin?: string[];
  toolCall: { tool_call_id: string; name: string; arguments: string };
  permission: Permission;
  title: string;
  preview?: Preview;
  remember?: RuleOffer[];
}

/** `feedback` reaches the model with a deny only. */
export interface ApproveResult {
  decision: "allow" | "deny";
  remember?: { scope: RuleScope; rule: string };
  feedback?: string;
}

export interface AskParams {
  sessionId: string;
  question: string;
  options?: string[];
  multiple?: boolean;
}

/** A list when several may be chosen; null when the person gives none. */
export interface AskResult {
  answer: string | string[] | null;
}

/** A diagnostic as LSP has it. */
export interface WireDiagnostic {
  range: Range;
  severity?: 1 | 2 | 3 | 4;
  code?: string | number;
  source?: string;
  message: string;
}

export interface DiagnosticItem {
  uri: string;
  version?: number;
  diagnostics: WireDiagnostic[];
}

/** Requests of the server: `[params, result]`. */
export interface ServerRequests {
  "agent/approve": [ApproveParams, ApproveResult];
  "agent/ask": [AskParams, AskResult];
  "agent/saveDocument": [{ uri: string }, { saved: boolean }];
  "agent/diagnostics": [{ uri?: string }, { items: DiagnosticItem[] }];
}

export type ServerRequest = keyof ServerRequests;
export const SERVER_REQUESTS = [
  "agent/approve",
  "agent/ask",
  "agent/saveDocument",
  "agent/diagnostics",
] as const satisfies readonly ServerRequest[];

// --- handshake and errors --------------------------------------------------------------------------------------------

/** `capabilities.experimental.agent` of the client. */
export interface ClientCapabilities {
  protocolVersion: number;
  approve: boolean;
  saveDocument: boolean;
  diagnostics: boolean;
  ask: boolean;
  workspaceTrusted: boolean;
  partials?: boolean;
}

/** `capabilities.experimental.agent` of the server. */
export interface ServerCapabilities extends ModelList {
  protocolVersion: number;
  methods: string[];
  serverRequests: string[];
  modes: string[];
  thinkingLevels: string[];
}

export const ERROR_CODES = {
  sessionNotFound: -32004,
  sessionBusy: -32009,
  modelUnavailable: -32010,
  workspaceInvalid: -32011,
  limitExceeded: -32012,
  invalidParams: -32602,
  internalError: -32603,
  requestCancelled: -32800,
} as const;

/** `data` of every error. */
export interface ErrorData {
  kind: string;
  sessionId?: string;
  runId?: string;
  retryable?: boolean;
  hint?: string;
  errors?: { path: string; message: string }[];
}
