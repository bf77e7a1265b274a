/** The frame of every row: an article with an author and a place, and what can be folded in it. */

import type { Row } from "../model/rows";
import { icon, type IconName } from "../markdown/icons";
import { make, setText, type Child } from "../markdown/nodes";
import type { CardHost } from "./cardHost";

const KINDS: Readonly<Record<Row["kind"], string>> = {
  user: "user",
  answer: "text",
  thinking: "thinking",
  tool: "tool",
  retry: "retry",
  compaction: "compaction",
  mcp: "mcp",
  note: "note",
  error: "error",
  end: "run_end",
};

/** The article of a row; `author` is read before its words. */
export function article(row: Row, author: string, host: CardHost, ...children: Child[]): HTMLElement {
  const element = make("article", { class: `row row-${row.kind}` }, ...children);
  element.tabIndex = -1;
  element.dataset.kind = KINDS[row.kind];
  element.dataset.row = row.key;
  const [position, size] = host.position(row);
  element.setAttribute("aria-label", author);
  element.setAttribute("aria-posinset", String(position));
  element.setAttribute("aria-setsize", String(size));
  return element;
}

/** A head that unfolds a body, which is made when it is first seen. */
export class Fold {
  readonly head: HTMLButtonElement;
  readonly body = make("div", { class: "fold-body" });
  private isMade = false;

  constructor(
    private readonly key: string,
    private readonly host: CardHost,
    private readonly fill: (body: HTMLElement) => void,
    otherwise: boolean,
  ) {
    this.head = make("button", { class: "fold-head", on: { click: () => this.press() } });
    this.head.type = "button";
    this.set(host.unfolded(key) ?? otherwise);
  }

  private press(): void {
    const isUnfolded = this.body.hidden !== false;
    this.host.fold(this.key, isUnfolded);
    this.set(isUnfolded);
  }

  private set(isUnfolded: boolean): void {
    this.head.setAttribute("aria-expanded", String(isUnfolded));
    this.body.hidden = !isUnfolded;
    if (!isUnfolded || this.isMade) return;
    this.isMade = true;
    this.fill(this.body);
  }
}

/** What stands in the head of a fold: icon, words, and on the right what is small. */
export class Head {
  private readonly sign = make("span", { class: "sign" });
  private readonly verb = make("span", { class: "verb" });
  private readonly subject = make("span", { class: "subject" });
  private readonly facts = make("span", { class: "facts" });
  private shown: IconName | null = null;

  constructor(head: HTMLElement, withChevron = true) {
    head.append(this.sign, this.verb, this.subject, this.facts);
    if (withChevron) head.append(make("span", { class: "chevron" }, icon("chevron")));
  }

  set(sign: IconName, verb: string, subject: string, facts: string): void {
    if (this.shown !== sign) {
      this.sign.replaceChildren(icon(sign));
      this.shown = sign;
    }
    setText(this.verb, verb);
    setText(this.subject, subject);
    setText(this.facts, facts);
    this.subject.title = subject;
  }
}
