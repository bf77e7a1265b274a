/**
 * Where the blocks of a growing Markdown text are settled: what stands before a boundary is never changed by what follows
 * (link definitions aside, which `definitions` collects).
 *
 * A boundary is the start of a line behind a blank line, outside of fences and lists; and a fence that is in no list is a
 * block of its own.
 */

const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const ITEM_MARK = /^\s*(?:[-*+]|\d{1,9}[.)])\s+/;
const INDENTED = /^(?: {2,}|\t)/;
const DEFINITION = /^ {0,3}\[(?:[^\]\\]|\\.)+\]:[ \t]+\S/;

/** Finds boundaries in a text that only grows at its end; each line is looked at once. */
export class BlockScanner {
  /** Starts of settled blocks' successors, ascending; 0 is not among them. */
  readonly boundaries: number[] = [];
  private position = 0;
  private fence: { readonly mark: string; readonly length: number } | null = null;
  private inList = false;
  private wasBlank = false;
  private behindFence = false;
  private settled = 0;

  /** Whether the text, as far as whole lines go, ends inside a fence. */
  get inFence(): boolean {
    return this.fence !== null;
  }

  /** Takes the text as it is now: what was given before, and more. Only whole lines count. */
  scan(text: string): void {
    for (;;) {
      const end = text.indexOf("\n", this.position);
      if (end < 0) return;
      this.line(text.slice(this.position, end), this.position);
      this.position = end + 1;
    }
  }

  private line(line: string, start: number): void {
    if (this.fence) {
      if (closes(line, this.fence)) {
        this.fence = null;
        this.behindFence = !this.inList;
      }
      this.wasBlank = false;
      return;
    }
    if (line.trim() === "") {
      this.wasBlank = true;
      return;
    }
    const isItem = LIST_ITEM.test(line);
    if (this.behindFence || (this.wasBlank && !INDENTED.test(line) && !(this.inList && isItem))) {
      this.settle(start);
      this.inList = false;
    }
    this.inList ||= isItem;
    this.wasBlank = this.behindFence = false;
    const opened = FENCE.exec(this.inList ? line.replace(ITEM_MARK, "").trimStart() : line)?.[1];
    if (!opened) return;
    this.fence = { mark: opened.charAt(0), length: opened.length };
    if (!this.inList) this.settle(start);
  }

  private settle(start: number): void {
    if (start > this.settled) this.boundaries.push(start);
    this.settled = Math.max(this.settled, start);
  }
}

function closes(line: string, fence: { mark: string; length: number }): boolean {
  const bare = line.trim();
  return bare.length >= fence.length && bare === fence.mark.repeat(bare.length);
}

/** The link definitions of a text, one a line, in their order. */
export function definitions(text: string): string {
  if (!text.includes("]:")) return "";
  return text
    .split("\n")
    .filter((line) => DEFINITION.test(line))
    .join("\n");
}

/** A whole text in its blocks; joined, they are the text. */
export function blocksOf(text: string): string[] {
  const scanner = new BlockScanner();
  scanner.scan(`${text}\n`);
  const starts = [0, ...scanner.boundaries];
  return starts.map((start, index) => text.slice(start, starts[index + 1])).filter((block) => block !== "");
}
