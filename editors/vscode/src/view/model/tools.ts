/** The calls of a story: from the first fragment of their arguments to their one output. */

import type {
  ApprovalDecision,
  PartialToolCall,
  PartialToolCallOutput,
  ToolCall,
  ToolCallOutput,
} from "../../shared/protocol";
import type { Keys } from "./keys";
import { isOpen, type ToolRow } from "./rows";

/** What came of a call whose beginning is on an earlier page. */
interface Orphan {
  decision?: ApprovalDecision;
  output?: { readonly payload: ToolCallOutput; readonly at: string };
}

const DENIED = "Tool call denied by ";

export class ToolCalls {
  readonly rows = new Map<string, ToolRow>();
  private readonly orphans = new Map<string, Orphan>();
  private readonly asked = new Set<string>();

  constructor(
    private readonly keys: Keys,
    private readonly add: (row: ToolRow) => void,
    private readonly touch: (row: ToolRow) => void,
  ) {}

  /** A fragment of a call's arguments. */
  fragment(payload: PartialToolCall, at: string): void {
    const row = this.row(payload, at);
    if (payload.event_type === "start") row.arguments = "";
    row.arguments += payload.arguments;
    this.touch(row);
  }

  /** A call, whole. One that was cut is not run. */
  whole(payload: ToolCall, at: string): void {
    const row = this.row(payload, at);
    row.arguments = payload.arguments;
    if (payload.stop_reason) row.status = payload.stop_reason === "aborted" ? "stopped" : "failed";
    else if (row.status === "writing") row.status = this.asked.has(payload.tool_call_id) ? "asking" : "waiting";
    this.touch(row);
  }

  /** Whether somebody is asked about a call at the moment. */
  asking(callId: string, isAsked: boolean): void {
    if (isAsked) this.asked.add(callId);
    else this.asked.delete(callId);
    const row = this.rows.get(callId);
    if (row && (row.status === "waiting" || row.status === "asking")) {
      row.status = isAsked ? "asking" : "waiting";
      this.touch(row);
    }
  }

  decided(payload: ApprovalDecision, at: string): void {
    const row = this.rows.get(payload.tool_call_id);
    if (!row) {
      this.orphan(payload.tool_call_id).decision = payload;
      return;
    }
    row.decision = payload;
    row.startedAt = at;
    if (row.status === "waiting" || row.status === "asking")
      row.status = payload.decision === "allow" ? "running" : "denied";
    this.touch(row);
  }

  outputFragment(payload: PartialToolCallOutput, at: string): void {
    const row = this.rows.get(payload.tool_call_id);
    if (!row) return;
    if (payload.event_type === "start") row.output = "";
    row.output += payload.output;
    if (row.status === "waiting") row.status = "running";
    row.startedAt ??= at;
    this.touch(row);
  }

  output(payload: ToolCallOutput, at: string): void {
    const row = this.rows.get(payload.tool_call_id);
    if (!row) {
      this.orphan(payload.tool_call_id).output = { payload, at };
      return;
    }
    row.output = payload.output;
    row.images = payload.images ?? [];
    row.endedAt = at;
    row.status = statusOf(payload, row);
    this.touch(row);
  }

  /** Their run is over: calls since then that have no output never get one. Whether there were any. */
  leave(since: string): boolean {
    const left = [...this.rows.values()].filter((row) => row.at >= since && isOpen(row));
    for (const row of left) {
      row.status = "stopped";
      this.touch(row);
    }
    return left.length > 0;
  }

  /** Takes in the calls of an earlier page: they get what came of them on this one. */
  join(earlier: ToolCalls): void {
    for (const [id, row] of earlier.rows) {
      if (!this.rows.has(id)) this.rows.set(id, row);
      const orphan = this.orphans.get(id);
      if (!orphan) continue;
      this.orphans.delete(id);
      if (orphan.decision) this.decided(orphan.decision, row.at);
      if (orphan.output) this.output(orphan.output.payload, orphan.output.at);
    }
    for (const [id, orphan] of earlier.orphans) {
      if (!this.rows.has(id)) this.orphans.set(id, { ...orphan, ...this.orphans.get(id) });
    }
  }

  private row(call: { readonly name: string; readonly tool_call_id: string }, at: string): ToolRow {
    const known = this.rows.get(call.tool_call_id);
    if (known) return known;
    const row: ToolRow = {
      kind: "tool",
      key: this.keys.take(`tool:${call.tool_call_id}`),
      at,
      version: 0,
      callId: call.tool_call_id,
      name: call.name,
      arguments: "",
      status: "writing",
      output: "",
      images: [],
    };
    this.rows.set(call.tool_call_id, row);
    this.add(row);
    return row;
  }

  private orphan(id: string): Orphan {
    let orphan = this.orphans.get(id);
    if (!orphan) this.orphans.set(id, (orphan = {}));
    return orphan;
  }
}

function statusOf(payload: ToolCallOutput, row: ToolRow): ToolRow["status"] {
  if (payload.output.startsWith(DENIED) && payload.stop_reason) return "denied";
  if (payload.stop_reason === "aborted") return "stopped";
  if (row.decision && row.decision.decision !== "allow") return "denied";
  return payload.stop_reason && payload.stop_reason !== "completed" ? "failed" : "done";
}
