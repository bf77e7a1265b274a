/** The edits of the session that stand, by call and by run; the server knows them, here they are only shown. */

import type { EditInfo } from "../../shared/protocol";
import type { ToolRow } from "../model/rows";
import { diffOf } from "../cards/diffLines";
import { wordsOf, type Port } from "./port";

const PAUSE_MS = 150;

export class Edits {
  private edits: readonly EditInfo[] = [];
  private sessionId = "";
  private readonly seen = new Set<string>();
  private timer = 0;

  /** `changed`: the edits of these calls are others than before. */
  constructor(
    private readonly port: Port,
    private readonly changed: (callIds: ReadonlySet<string>) => void,
  ) {}

  open(sessionId: string): void {
    this.sessionId = sessionId;
    this.edits = [];
    this.seen.clear();
    this.refresh();
  }

  ofCall(callId: string): EditInfo[] {
    return this.edits.filter((edit) => edit.tool_call_id === callId);
  }

  ofRun(runId: string): EditInfo[] {
    return this.edits.filter((edit) => edit.runId === runId);
  }

  set(edits: readonly EditInfo[]): void {
    const before = this.edits;
    this.edits = edits;
    this.changed(new Set([...before, ...edits].map((edit) => edit.tool_call_id)));
  }

  /** A call has ended that may have edited something. */
  called(row: ToolRow): void {
    if (this.seen.has(row.callId) || diffOf(row.name, {}) === null) return;
    this.seen.add(row.callId);
    this.refresh();
  }

  refresh(): void {
    window.clearTimeout(this.timer);
    // A server that is gone is told of elsewhere; with the next one the edits are asked for again.
    this.timer = window.setTimeout(() => void this.fetch().catch(() => undefined), PAUSE_MS);
  }

  decide(edits: readonly EditInfo[], verdict: "keep" | "undo"): void {
    if (edits.length === 0) return;
    const editIds = edits.map((edit) => edit.editId);
    const method = verdict === "keep" ? "agent/edits/keep" : "agent/edits/undo";
    void this.port.request(method, { sessionId: this.sessionId, editIds }).then(
      (answer) => {
        const told = new Map(answer.edits.map((edit) => [edit.editId, edit]));
        this.set(this.edits.map((edit) => told.get(edit.editId) ?? edit));
        this.refresh();
      },
      (error: unknown) => {
        const reason = wordsOf(error);
        this.set(this.edits.map((edit) => (editIds.includes(edit.editId) ? { ...edit, reason } : edit)));
      },
    );
  }

  private async fetch(): Promise<void> {
    const { sessionId } = this;
    const { edits } = await this.port.request("agent/edits", { sessionId });
    if (sessionId !== this.sessionId) return;
    const reasons = new Map(this.edits.map((edit) => [edit.editId, edit.reason]));
    this.set(edits.map((edit) => withReason(edit, reasons.get(edit.editId))));
  }
}

/** Why an undo was refused stays to be read as long as the edit stands. */
function withReason(edit: EditInfo, reason: string | undefined): EditInfo {
  return edit.reason === undefined && reason !== undefined && edit.state !== "undone" && edit.state !== "kept"
    ? { ...edit, reason }
    : edit;
}
