/** The rows of what a person said: parts of one input are one row. */

import type { Input, Text } from "../../shared/protocol";
import type { Keys } from "./keys";
import type { UserRow } from "./rows";
import { addText, saidIn, steeringIn } from "./userInput";

export class UserRows {
  private current: UserRow | null = null;

  constructor(
    private readonly keys: Keys,
    private readonly add: (row: UserRow) => void,
    private readonly touch: (row: UserRow) => void,
  ) {}

  /** An input that the view knows before any message of it. */
  input(input: Input, at: string): void {
    const said = saidIn(input);
    const row = this.row("prompt", at);
    Object.assign(row, said);
    this.add(row);
    this.current = null;
  }

  /** A text of the person's; the words, if it is steering. */
  text(payload: Text, at: string): string | null {
    const steering = steeringIn(payload);
    if (steering !== null) {
      const row = this.row("steer", at);
      row.text = steering;
      this.current = row;
      this.add(row);
      return steering;
    }
    const row = this.open(at);
    addText(row, payload.text);
    this.touch(row);
    return null;
  }

  image(url: string, at: string): void {
    const row = this.open(at);
    row.images.push(url);
    this.touch(row);
  }

  /** What comes next is another input. */
  close(): void {
    this.current = null;
  }

  private open(at: string): UserRow {
    if (!this.current) {
      this.current = this.row("prompt", at);
      this.add(this.current);
    }
    return this.current;
  }

  private row(via: UserRow["via"], at: string): UserRow {
    return { kind: "user", key: this.keys.take(`user:${at}`), at, version: 0, via, text: "", images: [], files: [] };
  }
}
