/** How sessions are listed. */

import type { SessionInfo } from "../shared/protocol";
import { sameFolder } from "./roots";

export interface SessionItem {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  readonly session: SessionInfo;
}

/** Sessions of several lists in one, each once, newest first. */
export function merged(lists: readonly (readonly SessionInfo[])[]): SessionInfo[] {
  const byId = new Map(lists.flat().map((session) => [session.sessionId, session]));
  return [...byId.values()].sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : 0));
}

/** A session as a line of the picker. `shown`: the one on screen; `now`: milliseconds since the epoch. */
export function sessionItem(session: SessionInfo, shown: string | undefined, now: number): SessionItem {
  const { sessionId, title, state, updatedAt, turns, model, workspace } = session;
  const icon = sessionId === shown ? "$(eye) " : state === "idle" ? "" : "$(sync) ";
  return {
    label: `${icon}${title ?? "Untitled"}`,
    description: ago(now - Date.parse(updatedAt)),
    detail: [
      `${turns} ${turns === 1 ? "turn" : "turns"}`,
      `${model.provider}/${model.model}`,
      folderName(workspace),
    ].join(" · "),
    session,
  };
}

/** Whether a session belongs to one of these folders. */
export function isOf(session: SessionInfo, roots: readonly { readonly uri: string }[]): boolean {
  return roots.some(({ uri }) => sameFolder(uri, session.workspace));
}

function folderName(uri: string): string {
  const name = uri.replace(/\/+$/, "").split("/").at(-1) ?? uri;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
];

/** How long ago, in the largest unit that fits. */
export function ago(ms: number): string {
  const unit = UNITS.find(([length]) => ms >= length);
  if (!unit) {
    return "just now";
  }
  const count = Math.floor(ms / unit[0]);
  return `${count} ${unit[1]}${count === 1 ? "" : "s"} ago`;
}
