/** Requests that failed: those that are made again, and those that are not. */

import type { RequestEnd } from "../../shared/protocol";
import type { Keys } from "./keys";
import type { ErrorRow, RetryRow } from "./rows";

export class Retries {
  private waiting: RetryRow | null = null;

  constructor(
    private readonly keys: Keys,
    private readonly add: (row: RetryRow | ErrorRow) => void,
    private readonly touch: (row: RetryRow) => void,
  ) {}

  /** A request has ended; `compacting`: one of a compaction, whose failure its own row tells. */
  ended(end: RequestEnd, at: string, compacting: boolean): void {
    if (end.status === "completed" || end.status === "aborted") {
      this.settle(end.status === "aborted" ? "gaveUp" : "retried");
      return;
    }
    if (end.retry_in_ms !== undefined) {
      this.settle();
      this.waiting = {
        kind: "retry",
        key: this.keys.take(`retry:${at}`),
        at,
        version: 0,
        attempt: end.attempt ?? 1,
        status: end.status,
        message: end.error_message ?? "",
        dueAt: Date.parse(at) + end.retry_in_ms,
        state: "waiting",
      };
      this.add(this.waiting);
      return;
    }
    this.settle("gaveUp");
    if (compacting) return;
    const { status, error_message: message = "", attempt: attempts = 1 } = end;
    this.add({ kind: "error", key: this.keys.take(`error:${at}`), at, version: 0, status, message, attempts });
  }

  /** Nothing waits any more. */
  settle(state: "retried" | "gaveUp" = "retried"): void {
    if (!this.waiting) return;
    this.waiting.state = state;
    this.touch(this.waiting);
    this.waiting = null;
  }
}
