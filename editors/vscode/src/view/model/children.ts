/** What subagents do, from the messages of theirs that come on the parent's stream. */

import type { OmniMessage } from "../../shared/protocol";
import { readArguments } from "./partialJson";
import type { ChildActivity } from "./rows";
import { toolTitle } from "./toolTitles";

const MOST_LINES = 40;
const LINE_CHARS = 200;

/** All subagents of a session, by session id; grandchildren count as their parent. */
export class Children {
  private readonly known = new Map<string, ChildActivity>();
  private readonly stopped: ChildActivity[] = [];

  /** The activity of a child; made when it is first heard of. */
  of(sessionId: string): ChildActivity {
    let child = this.known.get(sessionId);
    if (!child) {
      child = { sessionId, lines: [], running: false, count: 0, tokens: 0 };
      this.known.set(sessionId, child);
    }
    return child;
  }

  /** Those that were interrupted since this was asked last. */
  takeStopped(): ChildActivity[] {
    return this.stopped.splice(0);
  }

  /** Takes a message with an origin; the child whose activity changed, null when nothing of it is shown. */
  apply(message: OmniMessage): ChildActivity | null {
    const id = message.origin?.[0];
    if (id === undefined) return null;
    const child = this.of(id);
    const { payload } = message;
    switch (payload.type) {
      case "request_begin":
        child.running = true;
        return child;
      case "text":
        if (payload.role === "assistant" && payload.text.trim()) line(child, "text", "", payload.text, true);
        return child;
      case "tool_call": {
        const title = toolTitle(payload.name, readArguments(payload.arguments));
        line(child, "tool", payload.tool_call_id, `${title.verb} ${title.subject}`, false);
        return child;
      }
      case "tool_call_output":
        for (const known of child.lines) if (known.id === payload.tool_call_id) known.done = true;
        return child;
      case "token_usage":
        child.tokens = payload.session.total;
        return child;
      case "request_end":
        if (payload.error_message) line(child, "error", "", payload.error_message, true);
        if (payload.finish !== "tool_calls" && payload.retry_in_ms === undefined) child.running = false;
        return child;
      case "abort":
        child.running = false;
        this.stopped.push(child);
        return child;
      default:
        return null;
    }
  }
}

function line(child: ChildActivity, kind: "tool" | "text" | "error", id: string, text: string, done: boolean): void {
  const short = text.trim().replace(/\s+/g, " ").slice(0, LINE_CHARS);
  child.lines.push({ kind, id, text: short, done });
  child.count++;
  if (child.lines.length > MOST_LINES) child.lines.shift();
}
