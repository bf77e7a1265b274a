/** Gathers what goes to the view: one batch on its way, the next when the view has taken that, not more than one a frame. */

import type { ServerEvent } from "../shared/bridge";

const FRAME_MS = 16;

export interface Way {
  /** Sends a batch; the view answers each with an acknowledgement of its number. */
  post(batch: number, events: readonly ServerEvent[]): void;
  /** Calls back after so many milliseconds; returns what takes it back. */
  later(run: () => void, ms: number): () => void;
  /** Milliseconds of a clock that only goes forward. */
  now(): number;
}

/** While nobody listens, events are dropped: a view that comes asks for the history. Nothing happens while none come. */
export class Batches {
  readonly #way: Way;
  #listening = false;
  #waiting: ServerEvent[] = [];
  #sent = 0;
  #unacknowledged = false;
  #sentAt = -Infinity;
  #cancel: (() => void) | undefined;

  constructor(way: Way) {
    this.#way = way;
  }

  /** A view is there, and knows of nothing yet. */
  open(): void {
    this.close();
    this.#listening = true;
  }

  /** It is gone or cannot be seen. */
  close(): void {
    this.#listening = false;
    this.#waiting = [];
    this.#unacknowledged = false;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  add(event: ServerEvent): void {
    if (this.#listening) {
      this.#waiting.push(event);
      this.#schedule();
    }
  }

  /** The view has taken a batch; one of an earlier view means nothing. */
  acknowledge(batch: number): void {
    if (batch === this.#sent) {
      this.#unacknowledged = false;
      this.#schedule();
    }
  }

  /** Sends what waits at once, so that what is posted next comes after it. */
  flush(): void {
    if (this.#listening && this.#waiting.length > 0) {
      this.#send();
    }
  }

  #schedule(): void {
    if (this.#unacknowledged || this.#waiting.length === 0 || this.#cancel) {
      return;
    }
    const wait = Math.max(0, this.#sentAt + FRAME_MS - this.#way.now());
    this.#cancel = this.#way.later(() => {
      this.#cancel = undefined;
      if (!this.#unacknowledged) {
        this.flush();
      }
    }, wait);
  }

  #send(): void {
    const events = this.#waiting;
    this.#waiting = [];
    this.#sent += 1;
    this.#unacknowledged = true;
    this.#sentAt = this.#way.now();
    this.#way.post(this.#sent, events);
  }
}
