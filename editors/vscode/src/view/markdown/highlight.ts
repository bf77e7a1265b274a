/** Colours code by the editor's theme, in idle time. The highlighter's tree becomes nodes; no HTML in between. */

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import type { Frames } from "../list/frames";

const LANGUAGES = {
  bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, lua, makefile, markdown, php, python,
  ruby, rust, sql, swift, typescript, xml, yaml,
}; // prettier-ignore
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** Longer code stays as it is. */
export const MOST_CHARS = 50_000;
const MOST_NODES = 2_500;

interface Scope {
  readonly scope?: string;
  readonly children: readonly (Scope | string)[];
}

/** The code as coloured nodes; null when the language is not known or there is too much of it. */
export function highlighted(code: string, language: string): DocumentFragment | null {
  if (code.length > MOST_CHARS || !hljs.getLanguage(language)) return null;
  const result = hljs.highlight(code, { language, ignoreIllegals: true });
  const root = (result._emitter as unknown as { readonly rootNode: Scope }).rootNode;
  const fragment = document.createDocumentFragment();
  return append(fragment, root, { left: MOST_NODES }) ? fragment : null;
}

/** Colours elements one after the other while nothing else is to be done. */
export class Highlighter {
  private readonly queue: { readonly element: HTMLElement; readonly code: string; readonly language: string }[] = [];

  constructor(private readonly frames: Frames) {}

  /** Colours the element, whose text is the code, when there is time. */
  later(element: HTMLElement, code: string, language: string): void {
    if (code.length > MOST_CHARS || !hljs.getLanguage(language)) return;
    this.queue.push({ element, code, language });
    this.frames.askIdle(this, this.next);
  }

  private readonly next = (): boolean => {
    const job = this.queue.pop();
    if (job?.element.isConnected) {
      const nodes = highlighted(job.code, job.language);
      if (nodes) job.element.replaceChildren(nodes);
    }
    return this.queue.length > 0;
  };
}

function append(parent: Node, scope: Scope, budget: { left: number }): boolean {
  for (const child of scope.children) {
    if (--budget.left < 0) return false;
    if (typeof child === "string") {
      parent.appendChild(document.createTextNode(child));
      continue;
    }
    const span = document.createElement("span");
    if (child.scope)
      span.className = child.scope
        .split(".")
        .map((part, index) => (index === 0 ? `hl-${part}` : part))
        .join(" ");
    parent.appendChild(span);
    if (!append(span, child, budget)) return false;
  }
  return true;
}
