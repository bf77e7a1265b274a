import type { Row } from "./rows";

/** Told of what changes, after it has. */
export interface Listener {
  /** A row is new at the end, or was changed. */
  changed(row: Row): void;
  /** Rows were added or removed elsewhere than at the end. */
  rearranged(): void;
  /** Steering reached the agent: the words of it. */
  delivered?(text: string): void;
}
