/** A block of code: its language, a button to copy it, and the code, coloured when there is time. */

import type { Highlighter } from "./highlight";
import { icon } from "./icons";
import { button, make } from "./nodes";

export interface CodeHost {
  readonly highlighter: Highlighter;
  copy(text: string): void;
}

/** A block that is whole. */
export function codeBlock(content: string, language: string, host: CodeHost): HTMLElement {
  const code = make("code", { text: content });
  const block = frame(code, language, () => host.copy(content));
  if (language) host.highlighter.later(code, content, language);
  return block;
}

/** A block that grows: text is appended, nothing is drawn twice. */
export class OpenCode {
  readonly element: HTMLElement;
  private readonly grown: GrowingText;
  private length = 0;

  constructor(language: string, host: CodeHost) {
    const code = make("code");
    this.grown = new GrowingText(code);
    this.element = frame(code, language, () => host.copy(code.textContent));
  }

  /** The whole code so far. */
  set(content: string): void {
    this.grown.append(content.slice(this.length));
    this.length = content.length;
  }
}

/** Text that grows at its end, in chunks of lines, so that only the last chunk is laid out anew. */
export class GrowingText {
  private node: Text | null = null;

  constructor(private readonly parent: HTMLElement) {}

  append(text: string): void {
    if (text === "") return;
    if (this.node && this.node.length < CHUNK_CHARS) {
      this.node.appendData(text);
    } else {
      // A chunk begins behind a line end: what the last one lacks of its line goes there.
      const cut = this.node?.data.endsWith("\n") === false ? text.indexOf("\n") + 1 : 0;
      if (this.node && cut === 0 && !this.node.data.endsWith("\n")) {
        this.node.appendData(text);
        return;
      }
      if (cut > 0) this.node?.appendData(text.slice(0, cut));
      this.node = document.createTextNode(text.slice(cut));
      this.parent.append(make("span", { class: "chunk" }, this.node));
    }
  }

  /** Everything away. */
  clear(): void {
    this.node = null;
    this.parent.replaceChildren();
  }
}

const CHUNK_CHARS = 2_000;

function frame(code: HTMLElement, language: string, copy: () => void): HTMLElement {
  const label = language || "text";
  return make(
    "div",
    { class: "code" },
    make(
      "div",
      { class: "code-head" },
      make("span", { class: "code-language", text: label }),
      button("Copy", copy, { class: "icon-button", title: "Copy" }, icon("copy")),
    ),
    make("pre", { attributes: { tabindex: "0", "aria-label": `Code, ${label}` } }, code),
  );
}
