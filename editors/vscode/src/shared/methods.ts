/**
 * Every method by its name, with what it takes and gives.
 *
 * Mirrors `agent_lsp/server/method_names.py`; a test compares the two.
 */

import type * as p from "./protocol";

type Nothing = Record<string, never>;

/** Requests of the client: `[params, result]`. */
export interface Requests {
  "agent/session/new": [p.NewParams, p.SessionInfo];
  "agent/session/list": [p.ListParams, p.SessionList];
  "agent/session/close": [p.NamedSessionParams, Nothing];
  "agent/session/update": [p.UpdateParams, p.SessionInfo];
  "agent/session/history": [p.HistoryParams, p.HistoryResult];
  "agent/session/resume": [p.NamedSessionParams, p.SessionInfo];
  "agent/session/fork": [p.ForkParams, p.SessionInfo];
  "agent/session/delete": [p.NamedSessionParams, Nothing];
  "agent/session/snapshot": [p.NamedSessionParams, Record<string, unknown>];
  "agent/session/page": [p.NamedSessionParams, p.PageAnswer];
  "agent/run": [p.RunParams, p.RunResult];
  "agent/steer": [p.SteerParams, p.SteerResult];
  "agent/unsteer": [p.UnsteerParams, { withdrawn: boolean }];
  "agent/abort": [p.AbortParams, p.AbortResult];
  "agent/retryNow": [p.SessionParams, { skipped: boolean }];
  "agent/edits": [p.EditsParams, p.EditList];
  "agent/edits/keep": [p.ChosenEditsParams, p.EditList];
  "agent/edits/undo": [p.ChosenEditsParams, p.EditList];
  "agent/rules": [p.SessionParams, { rules: p.RuleInfo[] }];
  "agent/rules/revoke": [{ ruleIds: string[] }, { rules: p.RuleInfo[] }];
  "agent/tools": [p.SessionParams, { tools: p.ToolInfo[] }];
  "agent/usage": [p.UsageParams, p.UsageResult];
  "agent/usage/page": [Nothing, p.PageAnswer];
  "agent/models": [Nothing, p.ModelList];
  "agent/models/test": [{ model: p.ModelRef | string }, p.ModelTest];
  "agent/compact": [p.CompactParams, p.CompactResult];
  "agent/compactability": [p.SessionParams, { availability: p.Availability }];
  "agent/title": [p.SessionParams, { title: string }];
}

export type Method = keyof Requests;
export type Params<M extends Method> = Requests[M][0];
export type Result<M extends Method> = Requests[M][1];

/** The names of all requests of the client, in the server's order. */
export const METHODS = [
  "agent/session/new",
  "agent/session/list",
  "agent/session/close",
  "agent/session/update",
  "agent/session/history",
  "agent/session/resume",
  "agent/session/fork",
  "agent/session/delete",
  "agent/session/snapshot",
  "agent/session/page",
  "agent/run",
  "agent/steer",
  "agent/unsteer",
  "agent/abort",
  "agent/retryNow",
  "agent/edits",
  "agent/edits/keep",
  "agent/edits/undo",
  "agent/rules",
  "agent/rules/revoke",
  "agent/tools",
  "agent/usage",
  "agent/usage/page",
  "agent/models",
  "agent/models/test",
  "agent/compact",
  "agent/compactability",
  "agent/title",
] as const satisfies readonly Method[];

/** Nothing of `Requests` is missing above. */
type Missing = Exclude<Method, (typeof METHODS)[number]>;
export const COMPLETE: [Missing] extends [never] ? true : never = true;
