/**
 * Cuts long answers into rows, so that the list can hold any of them with few nodes.
 *
 * The cuts depend on the text alone, not on how it arrived: a stream in any pieces and the message as a whole give the
 * same rows.
 */

import { BlockScanner } from "../markdown/blocks";

/** Characters from which on a part ends at the next settled block. */
export const PART_CHARS = 4_000;

/** Follows one growing answer. */
export class PartCutter {
  private readonly scanner = new BlockScanner();
  private read = 0;
  private text = "";

  /** Takes the whole text so far; the starts of parts that have become known since, ascending. */
  cuts(text: string): number[] {
    this.text = text;
    this.scanner.scan(text);
    const found: number[] = [];
    for (const boundary of this.scanner.boundaries) {
      if (boundary - this.read >= PART_CHARS) {
        found.push(boundary);
        this.read = boundary;
      }
    }
    this.scanner.boundaries.length = 0;
    return found;
  }

  /** The text given last. */
  get whole(): string {
    return this.text;
  }
}

/** The whole text in its parts; joined, they are the text. At least one, which may be empty. */
export function partsOf(text: string): string[] {
  const starts = [0, ...new PartCutter().cuts(text)];
  return starts.map((start, index) => text.slice(start, starts[index + 1]));
}
