/** What the view may ask for: methods of the server, which the host relays, and a few that the host answers itself. */

import type { TextRange } from "./bridge";
import type { Method, Params, Result } from "./protocol";

/** A file that may be mentioned. `path` is relative to its root; `root` is set when there are several. */
export interface FileMatch {
  readonly uri: string;
  readonly path: string;
  readonly root?: string;
}

/** What is selected in the active editor. */
export interface SelectionMatch {
  readonly uri: string;
  readonly label: string;
  readonly range: TextRange;
}

/** A command that begins with a slash. `method` is set for those that stand for a method of the server. */
export interface SlashCommand {
  readonly name: string;
  readonly description: string;
  readonly hint?: string;
  readonly method?: string;
}

/** What the host answers itself. */
export interface HostMethods {
  /** Files of all roots whose path matches, best first; an empty query gives the open and recent ones. */
  "host/files": { params: { query: string; limit: number }; result: { files: FileMatch[] } };
  /** The selection of the active editor (its whole file when nothing is selected), null without an editor. */
  "host/selection": { params: Record<string, never>; result: SelectionMatch | null };
  /** Built-in commands first, then those that somebody has written down. */
  "host/commands": { params: Record<string, never>; result: { commands: SlashCommand[] } };
  /** Uris that were dropped, as attachments; those that are no files of this machine are left out. */
  "host/dropped": { params: { uris: string[] }; result: { files: FileMatch[] } };
}

/** The allow-list that the host checks requests against. */
export const RELAYED_METHODS = [
  "agent/session/new",
  "agent/session/history",
  "agent/session/update",
  "agent/session/resume",
  "agent/run",
  "agent/steer",
  "agent/unsteer",
  "agent/abort",
  "agent/retryNow",
  "agent/compact",
  "agent/title",
  "agent/tools",
  "agent/rules",
  "agent/models",
  "agent/usage",
  "agent/edits",
  "agent/edits/keep",
  "agent/edits/undo",
] as const satisfies readonly Method[];

/** Methods of the server that the view may call; the host refuses every other one. */
export type AgentMethods = { [M in (typeof RELAYED_METHODS)[number]]: { params: Params<M>; result: Result<M> } };
export type BridgeMethods = AgentMethods & HostMethods;
export type BridgeMethod = keyof BridgeMethods;
