/** What the status bar says. */

import type { ServerStatus } from "../shared/bridge";
import type { SessionInfo, StateParams } from "../shared/protocol";

/**
 * What is known of the agent at a moment. `nextModel`: that of a session to come; `waiting`: approvals and questions of
 * all sessions.
 */
export interface Standing {
  readonly server: ServerStatus;
  readonly nextModel: string | undefined;
  readonly session: SessionInfo | undefined;
  readonly state: StateParams | undefined;
  readonly waiting: number;
  readonly running: number;
}

/** `tone` colours the item. `icon` is a codicon's name. */
export interface StatusText {
  readonly icon: string;
  readonly text: string;
  readonly tooltip: string;
  readonly tone: "plain" | "warning" | "error";
}

const SERVER: Record<Exclude<ServerStatus["state"], "running">, Pick<StatusText, "icon" | "text" | "tone">> = {
  installing: { icon: "loading~spin", text: "Agent: being installed", tone: "plain" },
  starting: { icon: "loading~spin", text: "Agent: starting", tone: "plain" },
  stopped: { icon: "circle-slash", text: "Agent: stopped", tone: "plain" },
  crashed: { icon: "error", text: "Agent: crashed", tone: "error" },
  failed: { icon: "error", text: "Agent: did not start", tone: "error" },
  missing: { icon: "warning", text: "Agent: not installed", tone: "warning" },
  incompatible: { icon: "warning", text: "Agent: wrong version", tone: "warning" },
};

const STATES: Record<StateParams["state"], { icon: string; word: string }> = {
  idle: { icon: "sparkle", word: "" },
  running: { icon: "loading~spin", word: "working" },
  compacting: { icon: "loading~spin", word: "compacting" },
  waiting_approval: { icon: "bell-dot", word: "needs you" },
  reconnecting: { icon: "sync~spin", word: "reconnecting" },
  auth_required: { icon: "key", word: "needs a key" },
};

/** The text for what stands. */
export function statusText({ server, session, nextModel, state, waiting, running }: Standing): StatusText {
  if (server.state !== "running") {
    return { ...SERVER[server.state], tooltip: server.hint ?? server.lastLogLine ?? "" };
  }
  const { icon, word } =
    STATES[waiting > 0 ? "waiting_approval" : (state?.state ?? (running > 0 ? "running" : "idle"))];
  const parts = [session?.model.model ?? nextModel ?? "Agent", word, session ? gauge(session) : ""].filter(
    (part) => part !== "",
  );
  const needsPerson = waiting > 0 || state?.state === "auth_required";
  return {
    icon,
    text: parts.join(" · "),
    tooltip: details({ session, state, waiting, running }),
    tone: needsPerson ? "warning" : "plain",
  };
}

function gauge({ contextTokens, contextWindow }: SessionInfo): string {
  if (contextTokens === 0) {
    return "";
  }
  return contextWindow === undefined
    ? `${tokens(contextTokens)} tokens`
    : `${tokens(contextTokens)} of ${tokens(contextWindow)}`;
}

function details({ session, state, waiting, running }: Omit<Standing, "server" | "nextModel">): string {
  const lines = [
    session?.title ?? (session ? "Untitled session" : "No session"),
    session ? `${session.model.provider}/${session.model.model}, ${session.approvalMode}` : "",
    waiting > 0 ? `${waiting} waiting for you` : "",
    running > 1 ? `${running} sessions at work` : "",
    state?.hint ?? "",
  ];
  return lines.filter((line) => line !== "").join("\n");
}

/** A number of tokens, short: 950, 12.3k, 1.2M. */
export function tokens(count: number): string {
  if (count < 1000) {
    return String(count);
  }
  const [value, unit] = count < 999_950 ? [count / 1000, "k"] : [count / 1_000_000, "M"];
  return `${value < 100 ? value.toFixed(1).replace(/\.0$/, "") : Math.round(value)}${unit}`;
}
