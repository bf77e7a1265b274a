/** Every process of a run, found by a mark in its environment, which children inherit whatever group they are in. */

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

export const MARK = "AGENT_LSP_E2E_RUN";

export interface Process {
  readonly pid: number;
  readonly command: string;
}

/** The processes with that mark, this one not among them. */
export function marked(mark: string): Process[] {
  const found: Process[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      if (!readFileSync(`/proc/${name}/environ`, "latin1").split("\0").includes(`${MARK}=${mark}`)) continue;
      const command = readFileSync(`/proc/${name}/cmdline`, "latin1").replaceAll("\0", " ").trim();
      if (command) found.push({ pid, command });
    } catch {
      // It ended while we looked, or is somebody else's.
    }
  }
  return found;
}

/** Waits until no process has the mark; what is left after the deadline is ended by force and returned. */
export async function leftBehind(mark: string, withinMs: number): Promise<Process[]> {
  const deadline = Date.now() + withinMs;
  while (marked(mark).length > 0 && Date.now() < deadline) {
    await delay(50);
  }
  const left = marked(mark);
  for (const { pid } of left) {
    signal(pid, "SIGKILL");
  }
  return left;
}

/** Sends a signal to a process, or to a group when negative; one that is gone is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone already.
  }
}
