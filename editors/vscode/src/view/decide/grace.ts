/** An answer right after a question appeared was meant for something else: it does not count. */

import { DECISION_GRACE_MS } from "../../shared/bridge";

export class Grace {
  private readonly shownAt = performance.now();

  /** Marks the element as long as answers do not count. */
  constructor(element: HTMLElement) {
    element.dataset.fresh = "true";
    window.setTimeout(() => delete element.dataset.fresh, DECISION_GRACE_MS);
  }

  get isOver(): boolean {
    return performance.now() - this.shownAt >= DECISION_GRACE_MS;
  }
}
