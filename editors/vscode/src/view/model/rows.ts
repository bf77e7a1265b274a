/**
 * What the list shows, top to bottom. Rows are parts of messages: a text, a thought, one tool call.
 *
 * The story changes rows in place and raises `version`; a card redraws when it sees another one. `key` stays the same over
 * a reload, so that anchors and unfolded cards find their row again.
 */

import type { Cut } from "../../shared/bridge";
import type {
  ApprovalDecision,
  CompactionMode,
  CompactionReason,
  McpServerResult,
  RunStatus,
  StopReason,
} from "../../shared/protocol";

interface Common {
  readonly key: string;
  /** ISO 8601 of the message it began with. */
  readonly at: string;
  version: number;
}

export interface AttachedFile {
  readonly path: string;
  readonly text: string;
}

/** What the person said. `steer`: while a run was on, shown where it reached the agent. */
export interface UserRow extends Common {
  readonly kind: "user";
  readonly via: "prompt" | "steer";
  text: string;
  images: string[];
  files: AttachedFile[];
}

/** Shared by all parts of one answer: link definitions that only the end of it may bring. */
export interface AnswerGroup {
  definitions: string;
}

/** A part of an answer; long ones are several rows, cut between blocks. */
export interface AnswerRow extends Common {
  readonly kind: "answer";
  readonly group: AnswerGroup;
  readonly part: number;
  text: string;
  open: boolean;
  stop?: StopReason;
}

export interface ThinkingRow extends Common {
  readonly kind: "thinking";
  text: string;
  open: boolean;
  endedAt?: string;
  stop?: StopReason;
}

export type ToolStatus = "writing" | "waiting" | "asking" | "running" | "done" | "failed" | "denied" | "stopped";

export interface ToolRow extends Common {
  readonly kind: "tool";
  readonly callId: string;
  readonly name: string;
  arguments: string;
  status: ToolStatus;
  output: string;
  images: string[];
  decision?: ApprovalDecision;
  startedAt?: string;
  endedAt?: string;
  /** The subagent that this call has started. */
  child?: ChildActivity;
}

/** What a subagent is doing, as lines; its whole conversation is a session of its own. */
export interface ChildActivity {
  readonly sessionId: string;
  /** Oldest first; only the last ones are kept. */
  lines: { readonly kind: "tool" | "text" | "error"; readonly id: string; text: string; done: boolean }[];
  running: boolean;
  /** How many lines there were in all. */
  count: number;
  tokens: number;
}

export interface RetryRow extends Common {
  readonly kind: "retry";
  attempt: number;
  status: StopReason;
  message: string;
  /** When the request is made again, ms since the epoch. */
  dueAt: number;
  state: "waiting" | "retried" | "gaveUp";
}

export interface CompactionRow extends Common {
  readonly kind: "compaction";
  reason: CompactionReason;
  mode: CompactionMode;
  /** Tokens at the trigger; unknown while only the end of it is loaded. */
  before?: number;
  /** Tokens of the first request behind it. */
  after?: number;
  summary: string;
  status: "running" | StopReason;
  message?: string;
}

export interface McpRow extends Common {
  readonly kind: "mcp";
  servers: string[];
  results?: McpServerResult[];
}

/** Something between the engine and the model that a person may want to unfold. */
export interface NoteRow extends Common {
  readonly kind: "note";
  title: string;
  body: string;
}

export interface ErrorRow extends Common {
  readonly kind: "error";
  status: StopReason;
  message: string;
  attempts: number;
}

/** The end of a run. Tokens are those of the run; `cost` in US dollars where prices are known. */
export interface EndRow extends Common {
  readonly kind: "end";
  readonly runId: string;
  status: RunStatus;
  turns: number;
  tokens: number;
  durationMs: number;
  cost?: number;
  /** What an abort has ended, in words. */
  ended: string[];
  note?: string;
  /** It was cut off, and nothing has gone on from there yet. */
  cut?: Cut;
}

export type Row =
  UserRow | AnswerRow | ThinkingRow | ToolRow | RetryRow | CompactionRow | McpRow | NoteRow | ErrorRow | EndRow;

/** Whether the row is still growing. */
export function isOpen(row: Row): boolean {
  switch (row.kind) {
    case "answer":
    case "thinking":
      return row.open;
    case "tool":
      return (
        row.status === "writing" || row.status === "waiting" || row.status === "asking" || row.status === "running"
      );
    case "compaction":
      return row.status === "running";
    case "retry":
      return row.state === "waiting";
    default:
      return false;
  }
}

/** All text of a row that can be searched, folded parts included. */
export function searchable(row: Row): string {
  switch (row.kind) {
    case "user":
      return [row.text, ...row.files.map((file) => `${file.path}\n${file.text}`)].join("\n");
    case "answer":
    case "thinking":
      return row.text;
    case "tool":
      return `${row.name}\n${row.arguments}\n${row.output}`;
    case "compaction":
      return row.summary;
    case "retry":
    case "error":
      return row.message;
    case "note":
      return `${row.title}\n${row.body}`;
    case "mcp":
      return [...row.servers, ...(row.results ?? []).map((one) => one.error ?? "")].join("\n");
    case "end":
      return row.note ?? "";
  }
}
