/** When the person is told of something beside the chat, and how. */

import type { ApproveParams, AskParams, RunResult } from "../shared/protocol";

export type Notify = "all" | "decisions" | "none";

/** What can be seen now. `sessionId`: the session on screen. */
export interface Sight {
  readonly viewVisible: boolean;
  readonly windowFocused: boolean;
  readonly sessionId: string | undefined;
}

/** Whether whoever sits there can see that session. */
export function inSight(sight: Sight, sessionId: string): boolean {
  return sight.viewVisible && sight.windowFocused && sight.sessionId === sessionId;
}

/** Whether something that waits for the person needs a notification. */
export function needsDecisionNotice(sight: Sight, sessionId: string, notify: Notify): boolean {
  return notify !== "none" && !inSight(sight, sessionId);
}

/** What is said of the end of a run; undefined when nothing is, because it was seen or the person has ended it. */
export function endNotice(
  sight: Sight,
  result: RunResult,
  notify: Notify,
  title: string,
): { readonly text: string; readonly failed: boolean } | undefined {
  if (notify !== "all" || inSight(sight, result.sessionId) || result.status === "aborted") {
    return undefined;
  }
  if (result.status === "completed") {
    return { text: `Agent has finished: ${title}`, failed: false };
  }
  if (result.status === "max_turns") {
    return { text: `Agent has reached the limit of turns: ${title}`, failed: true };
  }
  const why = (result.errorMessage ?? result.status).replace(/^llm request error: /, "");
  return { text: `Agent has failed (${why}): ${title}`, failed: true };
}

const MOST_CHARS = 300;

/** The notification of an approval. `canAllow`: all that would run is in it, so that it can be allowed from there. */
export function approvalNotice({ title, preview }: ApproveParams): {
  readonly text: string;
  readonly canAllow: boolean;
} {
  if (preview?.kind === "edit") {
    const { added, removed } = countLines(preview.diff);
    return { text: oneLine(`Agent asks: ${title} (+${added} −${removed})`), canAllow: true };
  }
  const isTold = preview?.kind !== "command" || title.includes(preview.command);
  const what = isTold ? title : `${title}: ${preview.command}`;
  const text = oneLine(`Agent asks: ${what}`);
  return { text, canAllow: !text.endsWith("…") && preview?.kind !== "text" };
}

/** The text of a question's notification. */
export function questionNotice({ question }: AskParams): string {
  return oneLine(`Agent asks: ${question}`);
}

/** One line of bounded length in which nothing becomes a link, whoever has written it. */
export function oneLine(text: string): string {
  const line = text.replace(/\s+/gu, " ").trim().replaceAll("](", "] (");
  const characters = Array.from(line);
  return characters.length <= MOST_CHARS ? line : `${characters.slice(0, MOST_CHARS - 1).join("")}…`;
}

function countLines(diff: string): { added: number; removed: number } {
  const lines = diff.split("\n");
  const count = (sign: string, head: string) =>
    lines.filter((one) => one.startsWith(sign) && !one.startsWith(head)).length;
  return { added: count("+", "+++ "), removed: count("-", "--- ") };
}
