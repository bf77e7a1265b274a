/** Hands drafts to the host: when typing pauses, and at once where a pause would be too late. */

import { NEW_SESSION_DRAFT, type Draft } from "../../shared/bridge";
import type { Port } from "./port";

const PAUSE_MS = 300;

export class Drafts {
  private timer = 0;
  private waiting: (() => void) | null = null;

  /** `root` tells by `data-draft` whether the host has what is in the composer. */
  constructor(
    private readonly port: Port,
    private readonly root: HTMLElement,
  ) {
    window.addEventListener("pagehide", () => this.flush());
  }

  keep(sessionId: string | undefined, draft: Draft, isUrgent: boolean): void {
    window.clearTimeout(this.timer);
    this.waiting = () => {
      this.port.act({ act: "draft", session: sessionId ?? NEW_SESSION_DRAFT, draft });
      this.root.dataset.draft = "kept";
    };
    if (isUrgent) {
      this.flush();
      return;
    }
    delete this.root.dataset.draft;
    this.timer = window.setTimeout(() => this.flush(), PAUSE_MS);
  }

  /** What is in the composer came from the host. */
  received(): void {
    window.clearTimeout(this.timer);
    this.waiting = null;
    this.root.dataset.draft = "kept";
  }

  /** Hands over what waits: another session is coming on screen. */
  flush(): void {
    window.clearTimeout(this.timer);
    this.waiting?.();
    this.waiting = null;
  }
}
