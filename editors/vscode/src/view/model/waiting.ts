/**
 * Texts on their way: each is in exactly one state from the moment it is sent until it stands in the transcript, was taken
 * back, or is in the composer again.
 *
 *     sending ──▶ queued ──▶ delivered (a row of the transcript)
 *        │           ├─────▶ taken back  ─┐
 *        └───────────┴─────▶ refused     ─┴▶ the composer
 */

import type { Input } from "../../shared/protocol";
import { saidIn } from "./user_input";

export interface Entry {
  /** The view's own. */
  readonly id: string;
  readonly kind: "steer" | "run";
  readonly input: Input;
  state: "sending" | "queued";
  steerId?: string;
  runId?: string;
  /** ms since the epoch. */
  readonly sentAt: number;
}

/** The texts of one session that wait, in the order in which they were sent. */
export class Waiting {
  private entries: Entry[] = [];
  private counter = 0;

  constructor(private readonly changed: () => void) {}

  get all(): readonly Entry[] {
    return this.entries;
  }

  add(kind: Entry["kind"], input: Input, now: number): Entry {
    const entry: Entry = { id: `${now}-${++this.counter}`, kind, input, state: "sending", sentAt: now };
    this.entries.push(entry);
    this.changed();
    return entry;
  }

  /** The server has it. */
  accepted(entry: Entry, ids: { steerId?: string; runId?: string } = {}): void {
    entry.state = "queued";
    Object.assign(entry, ids);
    this.changed();
  }

  /** It is not waiting any more; whether it was. */
  remove(entry: Entry): boolean {
    const before = this.entries.length;
    this.entries = this.entries.filter((one) => one !== entry);
    if (this.entries.length === before) return false;
    this.changed();
    return true;
  }

  /** The oldest one of a kind. */
  first(kind: Entry["kind"]): Entry | undefined {
    return this.entries.find((entry) => entry.kind === kind);
  }

  /** Steering with these words has reached the agent; what was sent first is delivered first. */
  delivered(words: string): void {
    const steers = this.entries.filter((entry) => entry.kind === "steer");
    const entry = steers.find((one) => words.startsWith(saidIn(one.input).text)) ?? steers[0];
    if (entry) this.remove(entry);
  }

  /** Everything that waits, out of the list: the server is gone or will not take it. */
  drain(kind?: Entry["kind"]): Entry[] {
    const drained = this.entries.filter((entry) => kind === undefined || entry.kind === kind);
    if (drained.length > 0) {
      this.entries = this.entries.filter((entry) => !drained.includes(entry));
      this.changed();
    }
    return drained;
  }

  /**
   * Puts together what the view remembers and what the server says is pending, after a reload.
   * Returns what the server does not have: delivered meanwhile, or lost.
   */
  restore(
    remembered: readonly Entry[],
    pending: { readonly runs: readonly { runId: string; input: Input }[]; readonly steers: readonly { steerId: string; input: Input }[] },
    now: number,
  ): Entry[] {
    const steers: Entry[] = pending.steers.map(({ steerId, input }) => this.restored("steer", input, now, { steerId }));
    const runs: Entry[] = pending.runs.map(({ runId, input }) => this.restored("run", input, now, { runId }));
    this.entries = [...steers, ...runs];
    this.changed();
    const found = new Set(this.entries.map(identity));
    return remembered.filter((entry) => !found.delete(identity(entry)));
  }

  private restored(kind: Entry["kind"], input: Input, now: number, ids: { steerId?: string; runId?: string }): Entry {
    return { id: `${now}-${++this.counter}`, kind, input, state: "queued", sentAt: now, ...ids };
  }
}

function identity(entry: Entry): string {
  return entry.steerId ?? `${entry.kind}:${JSON.stringify(entry.input)}`;
}
