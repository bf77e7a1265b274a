/**
 * A Markdown text that grows. Settled blocks are drawn once; the open one at most once a call, and every 100 ms when it is
 * long; an open fence grows by appending.
 */

import { BlockScanner } from "./blocks";
import { OpenCode } from "./codeBlock";
import { make } from "./nodes";
import { render, type MarkdownHost } from "./render";

const LONG_CHARS = 8_000;
const LONG_PAUSE_MS = 100;
const FENCE_LINE = /^ {0,3}(?:`{3,}|~{3,})[ \t]*([^\s`{]*)[^\n]*\n/;

interface Block {
  readonly source: string;
  readonly element: HTMLElement;
}

export class MarkdownView {
  readonly element = make("div", { class: "markdown" });
  private scanner = new BlockScanner();
  private text = "";
  private definitions = "";
  private settled: Block[] = [];
  private settledTo = 0;
  private tail: HTMLElement | null = null;
  private code: OpenCode | null = null;
  private drawnAt = 0;
  private timer = 0;

  constructor(private readonly host: MarkdownHost) {}

  /** Draws the text; `isOpen`: more is to come. */
  set(text: string, isOpen: boolean, definitions: string): void {
    if (!text.startsWith(this.text)) this.clear();
    this.text = text;
    if (definitions !== this.definitions) this.define(definitions);
    this.scanner.scan(isOpen ? text : `${text}\n`);
    for (const boundary of this.scanner.boundaries) this.settle(text.slice(this.settledTo, boundary), boundary);
    this.scanner.boundaries.length = 0;
    if (!isOpen) this.settle(text.slice(this.settledTo), text.length);
    else this.drawTail();
  }

  dispose(): void {
    window.clearTimeout(this.timer);
  }

  private settle(source: string, end: number): void {
    window.clearTimeout(this.timer);
    this.timer = 0;
    this.tail?.remove();
    this.tail = this.code = null;
    this.settledTo = end;
    if (source.trim() === "") return;
    const element = make("div", { class: "block" }, render(source, this.definitions, this.host));
    this.settled.push({ source, element });
    this.element.append(element);
  }

  private drawTail(): void {
    const source = this.text.slice(this.settledTo);
    if (source === "") return;
    if (this.timer !== 0) return;
    const now = performance.now();
    if (this.growCode(source)) return;
    if (source.length > LONG_CHARS && now - this.drawnAt < LONG_PAUSE_MS) {
      this.timer = window.setTimeout(() => {
        this.timer = 0;
        this.drawTail();
      }, LONG_PAUSE_MS);
      return;
    }
    this.drawnAt = now;
    this.showTail(render(source, this.definitions, this.host));
  }

  private growCode(source: string): boolean {
    if (!this.scanner.inFence) return false;
    const head = FENCE_LINE.exec(source);
    if (!head) return false;
    if (!this.code) {
      this.code = new OpenCode(head[1] ?? "", this.host);
      this.showTail(this.code.element);
    }
    this.code.set(withoutHalfFence(source.slice(head[0].length)));
    return true;
  }

  private showTail(content: Node): void {
    if (!this.tail) this.element.append((this.tail = make("div", { class: "block block-open" })));
    this.tail.replaceChildren(content);
  }

  /** Links that were only text may be links now: blocks that could hold one are drawn again. */
  private define(definitions: string): void {
    this.definitions = definitions;
    for (const { source, element } of this.settled) {
      if (/\[[^\]]*\]/.test(source)) element.replaceChildren(render(source, definitions, this.host));
    }
  }

  private clear(): void {
    this.dispose();
    this.scanner = new BlockScanner();
    this.settled = [];
    this.settledTo = 0;
    this.tail = this.code = null;
    this.timer = 0;
    this.element.replaceChildren();
  }
}

/** A last line of backticks may be the end of the fence: it is not shown before that is known. */
function withoutHalfFence(code: string): string {
  const start = code.lastIndexOf("\n") + 1;
  return /^ {0,3}(?:`+|~+)$/.test(code.slice(start)) ? code.slice(0, start) : code;
}
