/** Stopping: said at once, and when the server does not answer, with a way out. */

import type { Port } from "./port";

const PATIENCE_MS = 5_000;

export class Stopping {
  state: "no" | "yes" | "unanswered" = "no";
  private timer = 0;

  constructor(
    private readonly port: Port,
    private readonly changed: () => void,
  ) {}

  begin(sessionId: string): void {
    if (this.state !== "no") return;
    this.state = "yes";
    this.timer = window.setTimeout(() => this.set("unanswered"), PATIENCE_MS);
    this.changed();
    const over = (): void => this.over();
    void this.port.request("agent/abort", { sessionId }).then(over, over);
  }

  /** It has ended, or cannot be waited for any more. */
  over(): void {
    window.clearTimeout(this.timer);
    this.set("no");
  }

  private set(state: Stopping["state"]): void {
    if (this.state === state) return;
    this.state = state;
    this.changed();
  }
}
