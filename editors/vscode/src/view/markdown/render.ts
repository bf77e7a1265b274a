/** Markdown as nodes: markdown-it reads it, with HTML off, and its tokens become elements here. */

import MarkdownIt from "markdown-it";
import type { Token } from "markdown-it";
import { codeBlock, type CodeHost } from "./codeBlock";
import { targetOf, type Target } from "./links";
import { make } from "./nodes";

export interface MarkdownHost extends CodeHost {
  open(target: Target): void;
  /** The whole of something that is too much for the view. */
  openText(title: string, text: string): void;
}

/** Elements of one block beyond which the rest is only offered as a text. */
const MOST_ELEMENTS = 1_500;

const parser = new MarkdownIt({ html: false, linkify: true, typographer: false });
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

const ELEMENTS: Readonly<Record<string, keyof HTMLElementTagNameMap>> = {
  paragraph_open: "p",
  bullet_list_open: "ul",
  ordered_list_open: "ol",
  list_item_open: "li",
  blockquote_open: "blockquote",
  table_open: "table",
  thead_open: "thead",
  tbody_open: "tbody",
  tr_open: "tr",
  th_open: "th",
  td_open: "td",
  em_open: "em",
  strong_open: "strong",
  s_open: "del",
};

/** The block as nodes. `definitions`: link definitions that stand elsewhere in the text. */
export function render(source: string, definitions: string, host: MarkdownHost): DocumentFragment {
  const env = {};
  if (definitions) parser.parse(definitions, env);
  const writer = new Writer(host);
  writer.tokens(parser.parse(source, env));
  if (writer.isFull) writer.root.append(rest(source, host));
  return writer.root;
}

class Writer {
  readonly root = document.createDocumentFragment();
  private readonly stack: Node[] = [this.root];
  private left = MOST_ELEMENTS;

  constructor(private readonly host: MarkdownHost) {}

  get isFull(): boolean {
    return this.left < 0;
  }

  tokens(tokens: readonly Token[]): void {
    for (const token of tokens) {
      if (this.left-- < 0) return;
      if (token.nesting === 1) this.opening(token);
      else if (token.nesting === -1) this.closing(token);
      else this.leaf(token);
    }
  }

  private get top(): Node {
    return this.stack.at(-1) ?? this.root;
  }

  private opening(token: Token): void {
    if (token.hidden) return;
    const element = this.element(token);
    this.top.appendChild(token.type === "table_open" ? make("div", { class: "table" }, element) : element);
    this.stack.push(element);
  }

  private closing(token: Token): void {
    if (!token.hidden && this.stack.length > 1) this.stack.pop();
  }

  private element(token: Token): HTMLElement {
    if (token.type === "heading_open") return make(heading(token.tag));
    if (token.type === "link_open") return link(token.attrGet("href") ?? "", this.host);
    const element = make(ELEMENTS[token.type] ?? "span");
    const start = token.attrGet("start");
    if (start !== null && element instanceof HTMLOListElement) element.start = Number(start);
    const style = token.attrGet("style");
    if (style) element.style.textAlign = style.replace("text-align:", "");
    return element;
  }

  private leaf(token: Token): void {
    switch (token.type) {
      case "inline":
        this.tokens(token.children ?? []);
        return;
      case "text":
        this.top.appendChild(document.createTextNode(token.content));
        return;
      case "softbreak":
        this.top.appendChild(document.createTextNode("\n"));
        return;
      case "hardbreak":
        this.top.appendChild(make("br"));
        return;
      case "code_inline":
        this.top.appendChild(make("code", { text: token.content }));
        return;
      case "fence":
      case "codeBlock":
        this.top.appendChild(codeBlock(token.content, token.info.trim().split(/[\s{]/)[0] ?? "", this.host));
        return;
      case "hr":
        this.top.appendChild(make("hr"));
        return;
      case "image":
        this.top.appendChild(image(token, this.host));
        return;
      default:
        this.top.appendChild(document.createTextNode(token.content));
    }
  }
}

/** Headings of an answer are below those of the view. */
function heading(tag: string): "h3" | "h4" | "h5" | "h6" {
  const level = Number(tag.slice(1));
  return level <= 1 ? "h3" : level === 2 ? "h4" : level === 3 ? "h5" : "h6";
}

function link(href: string, host: MarkdownHost): HTMLElement {
  const target = targetOf(href);
  if (!target) return make("span", { class: "dead-link", title: `Not opened: ${href.slice(0, 200)}` });
  const title = target.kind === "web" ? target.href : `Open ${target.path}`;
  return linkTo(target, title, host);
}

/** A picture from elsewhere is not fetched: a link that names where it would come from. */
function image(token: Token, host: MarkdownHost): HTMLElement {
  const src = token.attrGet("src") ?? "";
  const target = targetOf(src);
  const name = token.content || "image";
  if (!target) return make("span", { class: "dead-link", text: `[image: ${name}]` });
  const where = target.kind === "web" ? target.host : target.path;
  const anchor = linkTo(target, src, host);
  anchor.textContent = `[image: ${name} from ${where}]`;
  return anchor;
}

function linkTo(target: Target, title: string, host: MarkdownHost): HTMLAnchorElement {
  const open = (event: Event): void => {
    event.preventDefault();
    host.open(target);
  };
  const enter = (event: Event): void => {
    if (event instanceof KeyboardEvent && event.key === "Enter") open(event);
  };
  // Without an href the editor cannot open it behind the host's back.
  return make("a", { title, attributes: { role: "link", tabindex: "0" }, on: { click: open, keydown: enter } });
}

function rest(source: string, host: MarkdownHost): HTMLElement {
  const press = (): void => host.openText("Answer", source);
  const element = make("button", { class: "link-button", text: "There is more. Open all of it", on: { click: press } });
  element.type = "button";
  return element;
}
