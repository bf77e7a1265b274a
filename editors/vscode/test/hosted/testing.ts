/** The little that a test here needs: the runner of the editor has none of its own. */

import { setTimeout as delay } from "node:timers/promises";

export const tests: { readonly name: string; readonly body: () => Promise<void> }[] = [];

export function test(name: string, body: () => Promise<void>): void {
  tests.push({ name, body });
}

const PATIENCE_MS = 15_000;

/** Waits until it gives something that is there; fails with that name when it never does. */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) {
      return found;
    }
    if (Date.now() > deadline) {
      throw new Error(`never happened: ${what}`);
    }
    await delay(20);
  }
}
