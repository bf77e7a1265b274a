/**
 * Texts on their way: each is in exactly one state from the moment it is sent until it stands in the transcript, was taken
 * back, or is in the composer again.
 *
 *     sending ──▶ queued ──▶ delivered (a row of the transcript)
 *        │           ├─────▶ taken back  ─┐
 *        └───────────┴─────▶ refused     ─┴▶ the composer
 */

import type { Input, Pending } from "../../shared/protocol";
import { saidIn } from "./userInput";

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

  /** Steering with these words has reached the agent; what was sent first is delivered first. */
  delivered(words: string): void {
    const steers = this.entries.filter((entry) => entry.kind === "steer");
    const entry = steers.find((one) => words.startsWith(saidIn(one.input).text)) ?? steers[0];
    if (entry) this.remove(entry);
  }

  /** A run was asked for by somebody else: its input is shown like the view's own. */
  asked(input: Input, now: number): void {
    this.accepted(this.add("run", input, now));
  }

  /** What the server had is given back by the host: it waits no more. */
  drainQueued(): void {
    this.entries = this.entries.filter((entry) => entry.state !== "queued");
    this.changed();
  }

  /** What waits on the server, after a reload; what is underway from here stays. */
  restore(pending: Pick<Pending, "runs" | "steers">, now: number): void {
    const steers = pending.steers.map(({ steerId, input }) => this.restored("steer", input, now, { steerId }));
    const runs = pending.runs.map(({ runId, input }) => this.restored("run", input, now, { runId }));
    this.entries = [...steers, ...runs, ...this.entries.filter((entry) => entry.state === "sending")];
    this.changed();
  }

  private restored(kind: Entry["kind"], input: Input, now: number, ids: { steerId?: string; runId?: string }): Entry {
    return { id: `${now}-${++this.counter}`, kind, input, state: "queued", sentAt: now, ...ids };
  }
}
