/**
 * Runs that were cut off because the window or the server went away, and what waited for a decision then.
 *
 *     run ──▶ going ──▶ ended                  the session is idle again: forgotten
 *               ╰─────▶ cut ──▶ another run    of the same session: it went on, or something else was begun
 *
 * It can be written down at any moment: what is going in what is read again was cut by the end of the window.
 */

import type { Cut, CutBy } from "../shared/bridge";

interface Going {
  readonly runId: string;
  readonly asked: readonly string[];
}

/** Runs by session. */
export class Cuts {
  readonly #going = new Map<string, Going>();
  readonly #cuts = new Map<string, Cut>();
  /** From a cut until there is a server again nothing counts: it ends what it was doing because it is told to. */
  #isFrozen = false;

  /** From what `toJSON` gave; anything else is nothing. */
  constructor(saved?: unknown) {
    const { going, cuts } = (isTable(saved) ? saved : {}) as { going?: unknown; cuts?: unknown };
    for (const [sessionId, cut] of isTable(cuts) ? Object.entries(cuts) : []) {
      if (isCut(cut)) {
        this.#cuts.set(sessionId, cut);
      }
    }
    for (const [sessionId, run] of isTable(going) ? Object.entries(going) : []) {
      if (isGoing(run)) {
        this.#cuts.set(sessionId, { ...run, by: "window" });
      }
    }
  }

  /** A message of a run has come. Whether anything changed. */
  saw(sessionId: string, runId: string | undefined): boolean {
    if (this.#isFrozen || runId === undefined || this.#going.get(sessionId)?.runId === runId) {
      return false;
    }
    this.#cuts.delete(sessionId);
    this.#going.set(sessionId, { runId, asked: [] });
    return true;
  }

  /** The session has nothing to do any more. Whether anything changed. */
  ended(sessionId: string): boolean {
    return !this.#isFrozen && this.#going.delete(sessionId);
  }

  /** What waits for the person, by the titles of it: `[session, title]`. Whether anything changed. */
  waits(open: readonly (readonly [string, string])[]): boolean {
    let isOther = false;
    for (const [sessionId, run] of this.#isFrozen ? [] : this.#going) {
      const asked = open.filter(([where]) => where === sessionId).map(([, title]) => title);
      if (asked.join("\n") !== run.asked.join("\n")) {
        this.#going.set(sessionId, { ...run, asked });
        isOther = true;
      }
    }
    return isOther;
  }

  /** Whoever did the work is going away. What is said first counts, but that an end was a crash is known later. */
  cut(by: CutBy): void {
    for (const [sessionId, run] of this.#going) {
      const before = this.#isFrozen ? this.#cuts.get(sessionId)?.by : undefined;
      if (before === undefined || (before === "restart" && by === "crash")) {
        this.#cuts.set(sessionId, { ...run, by });
      }
    }
    this.#isFrozen = true;
  }

  /** There is a server again. */
  resume(): void {
    this.#isFrozen = false;
    this.#going.clear();
  }

  of(sessionId: string | undefined): Cut | undefined {
    return sessionId === undefined ? undefined : this.#cuts.get(sessionId);
  }

  toJSON(): object {
    return { going: this.#isFrozen ? {} : Object.fromEntries(this.#going), cuts: Object.fromEntries(this.#cuts) };
  }
}

function isGoing(value: unknown): value is Going {
  return (
    isTable(value) &&
    typeof value.runId === "string" &&
    Array.isArray(value.asked) &&
    value.asked.every((title) => typeof title === "string")
  );
}

function isCut(value: unknown): value is Cut {
  return isGoing(value) && ["window", "crash", "restart"].includes((value as Going & { by?: string }).by ?? "");
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
