/** Which call has started which subagent. */

import type { OmniMessage } from "../../shared/protocol";
import { Children } from "./children";
import type { ChildActivity, ToolRow } from "./rows";

export class Family {
  private readonly children = new Children();
  private readonly parents = new Map<ChildActivity, ToolRow>();
  private orphans: string[] = [];

  constructor(
    private readonly calls: ReadonlyMap<string, ToolRow>,
    private readonly touch: (row: ToolRow) => void,
  ) {}

  /** A message of a child's. */
  apply(message: OmniMessage): void {
    const child = this.children.apply(message);
    const row = child && this.parents.get(child);
    if (row) this.touch(row);
  }

  /** A child has been started, by the first call of a subagent that has none. */
  born(sessionId: string): void {
    this.orphans.push(sessionId);
    this.link();
  }

  /** The calls of an earlier page are known now, and its children. */
  join(earlier: Family): void {
    for (const row of earlier.parents.values()) {
      if (!row.child) continue;
      row.child = this.children.of(row.child.sessionId);
      this.parents.set(row.child, row);
    }
    this.orphans = [...earlier.orphans, ...this.orphans];
    this.link();
  }

  /** The calls whose subagents were interrupted since this was asked last. */
  takeStopped(): ToolRow[] {
    return this.children.takeStopped().flatMap((child) => this.parents.get(child) ?? []);
  }

  private link(): void {
    if (this.orphans.length === 0) return;
    for (const row of this.calls.values()) {
      if (row.name !== "run_subagent" || row.child) continue;
      const sessionId = this.orphans.shift();
      if (sessionId === undefined) return;
      row.child = this.children.of(sessionId);
      this.parents.set(row.child, row);
      this.touch(row);
    }
  }
}
