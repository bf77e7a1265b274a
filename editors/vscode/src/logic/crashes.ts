/** How often the server may end by itself before nobody starts it again. */

const MOST = 3;
const WITHIN_MS = 3 * 60_000;

/** Counts crashes: the third one within three minutes is the last. Times are milliseconds of any one clock. */
export class Crashes {
  #times: number[] = [];

  /** Notes a crash; whether the server is to be started again. */
  mayRestart(now: number): boolean {
    this.#times = [...this.#times.filter((time) => now - time < WITHIN_MS), now];
    return this.#times.length < MOST;
  }

  /** Forgets them: the person has started it anew. */
  clear(): void {
    this.#times = [];
  }
}
