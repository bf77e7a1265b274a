/** What the pickers offer. */

import { APPROVAL_MODES, THINKING_LEVELS } from "../shared/protocol";
import type { ApprovalMode, ModelList, ModelRef, SessionInfo, SessionMode, ThinkingLevel } from "../shared/protocol";
import { tokens } from "./statusText";

/** One line of a picker. */
export interface Item<V extends string> {
  readonly label: string;
  readonly description?: string;
  readonly detail?: string;
  readonly value: V;
}

/** Models that can be used first, the present one marked. */
export function modelItems({ models, defaultModel }: ModelList, present: ModelRef | undefined): Item<string>[] {
  const current = present ?? defaultModel ?? undefined;
  const items = models.map((model) => {
    const facts = [
      model.contextWindow === undefined ? "" : `${tokens(model.contextWindow)} context`,
      model.vision ? "sees images" : "",
      model.toolCalling ? "" : "calls no tools",
      model.hasCredential ? "" : "needs a key",
    ];
    const isCurrent = current?.provider === model.provider && current.model === model.model;
    return {
      label: `${isCurrent ? "$(check) " : ""}${model.model}`,
      description: [model.provider, ...facts.filter((fact) => fact !== "")].join(" · "),
      value: `${model.provider}/${model.model}`,
      usable: model.hasCredential,
    };
  });
  items.sort((a, b) => Number(b.usable) - Number(a.usable));
  return items.map(({ label, description, value }) => ({ label, description, value }));
}

const APPROVALS: Record<ApprovalMode, string> = {
  "read-only": "Only reads",
  plan: "Only reads, and makes a plan",
  ask: "Asks before it edits or runs a command",
  "auto-edit": "Edits inside the workspace; asks before it runs a command",
  "allow-all": "Does everything without asking",
};

/** Approval modes; only those that change nothing where the workspace is not trusted. */
export function approvalItems(trusted: boolean, present: ApprovalMode | undefined): Item<ApprovalMode>[] {
  const offered = APPROVAL_MODES.filter((mode) => trusted || mode === "read-only" || mode === "plan");
  return offered.map((value) => ({ label: marked(value, present), description: APPROVALS[value], value }));
}

export function thinkingItems(present: ThinkingLevel | undefined): Item<ThinkingLevel>[] {
  return THINKING_LEVELS.map((value) => ({ label: marked(value, present), value }));
}

export function modeItems(present: SessionInfo["mode"] | undefined): Item<SessionMode>[] {
  return [
    { label: marked("native", present), description: "The model calls tools", value: "native" },
    { label: marked("loop", present), description: "The model decides one step at a time", value: "loop" },
  ];
}

function marked(value: string, present: string | undefined): string {
  return value === present ? `$(check) ${value}` : value;
}
