/** What of the view outlives it: the session, where somebody read, what was unfolded. Texts are the host's to keep. */

import type { Anchor } from "../list/virtualList";
import type { Row } from "../model/rows";
import type { Port } from "./port";

interface Kept {
  readonly sessionId: string;
  /** Null: it followed the stream. */
  readonly anchor: { readonly key: string; readonly at: string; readonly offset: number } | null;
  readonly unfolded: Readonly<Record<string, boolean>>;
}

const PAUSE_MS = 250;
const MOST_UNFOLDED = 500;

export class Memory {
  private readonly unfolded = new Map<string, boolean>();
  private anchor: Kept["anchor"] = null;
  private sessionId = "";
  private timer = 0;

  constructor(private readonly port: Port) {
    window.addEventListener("pagehide", () => this.save());
  }

  /** A session is shown: what is remembered of it, or nothing. */
  open(sessionId: string): Kept["anchor"] {
    if (sessionId === this.sessionId) return this.anchor;
    this.sessionId = sessionId;
    this.unfolded.clear();
    this.anchor = null;
    const kept = this.port.kept() as Partial<Kept> | undefined;
    if (kept?.sessionId === sessionId) {
      for (const [key, value] of Object.entries(kept.unfolded ?? {})) this.unfolded.set(key, value);
      this.anchor = kept.anchor ?? null;
    }
    return this.anchor;
  }

  isUnfolded(key: string): boolean | undefined {
    return this.unfolded.get(key);
  }

  fold(key: string, isUnfolded: boolean): void {
    this.unfolded.delete(key);
    this.unfolded.set(key, isUnfolded);
    const oldest = this.unfolded.keys().next();
    if (this.unfolded.size > MOST_UNFOLDED && !oldest.done) this.unfolded.delete(oldest.value);
    this.soon();
  }

  place(anchor: Anchor | null): void {
    const next = anchor && { key: anchor.row.key, at: anchor.row.at, offset: Math.round(anchor.offset) };
    if (next?.key === this.anchor?.key && next?.offset === this.anchor?.offset) return;
    this.anchor = next;
    this.soon();
  }

  private soon(): void {
    if (this.timer === 0) this.timer = window.setTimeout(() => this.save(), PAUSE_MS);
  }

  private save(): void {
    window.clearTimeout(this.timer);
    this.timer = 0;
    if (!this.sessionId) return;
    const kept: Kept = { sessionId: this.sessionId, anchor: this.anchor, unfolded: Object.fromEntries(this.unfolded) };
    this.port.keep(kept);
  }
}

/** The row that was meant: by its key, else the first one that is not older. */
export function rowOf(rows: readonly Row[], kept: { readonly key: string; readonly at: string }): Row | undefined {
  return rows.find((row) => row.key === kept.key) ?? rows.find((row) => row.at >= kept.at);
}
