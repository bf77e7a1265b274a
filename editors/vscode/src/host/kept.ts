import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * What is kept for a workspace, one file for each key. The editor's own storage is written when it has time, and a page
 * that is reloaded may not have had it: what was written here is there at once.
 */
export class Kept {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** What was kept last; undefined when there is nothing that can be read. */
  get(key: string): unknown {
    try {
      return JSON.parse(readFileSync(this.#file(key), "utf8"));
    } catch {
      return undefined;
    }
  }

  /** Keeps a value in place of the one before; undefined removes it. Throws when the disk refuses. */
  set(key: string, value: unknown): void {
    const file = this.#file(key);
    if (value === undefined) {
      rmSync(file, { force: true });
      return;
    }
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.new`, JSON.stringify(value), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }

  #file(key: string): string {
    return join(this.#folder, `${encodeURIComponent(key)}.json`);
  }
}
