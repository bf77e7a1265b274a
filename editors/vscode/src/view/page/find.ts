/**
 * Finds words in the whole session: in what is folded, and in pages that are not loaded yet (they are fetched first). What
 * is found is marked by the browser's own highlights, which add nothing to the page.
 */

import { isComposing } from "../composer/keys";
import { icon } from "../markdown/icons";
import { button, make, setText, show } from "../markdown/nodes";
import { searchable, type Row } from "../model/rows";

export interface FindHost {
  rows(): readonly Row[];
  /** Everything earlier is loaded when it settles. */
  loadAll(): Promise<void>;
  /** Brings the row on screen, unfolded. */
  reveal(row: Row): void;
  /** The elements of mounted rows. */
  mounted(): Iterable<HTMLElement>;
  closed(): void;
}

const NAME = "found";
const CURRENT = "found-current";
const PAUSE_MS = 120;

export class Find {
  readonly element: HTMLElement;
  private readonly field = make("input", {
    class: "find-field",
    attributes: { type: "text", "aria-label": "Find", placeholder: "Find in the whole session" },
  });
  private readonly count = make("span", { class: "find-count", attributes: { "aria-live": "polite" } });
  private matches: Row[] = [];
  private at = 0;
  private timer = 0;
  private asked = 0;

  constructor(private readonly host: FindHost) {
    const close = button(
      "Close find",
      () => this.close(),
      { class: "icon-button", title: "Close (Esc)" },
      icon("cross"),
    );
    this.element = make(
      "div",
      { class: "find", attributes: { role: "search" } },
      this.field,
      this.count,
      button(
        "Previous match",
        () => this.step(-1),
        { class: "icon-button", title: "Previous (Shift+Enter)" },
        icon("up"),
      ),
      button("Next match", () => this.step(1), { class: "icon-button icon-flip", title: "Next (Enter)" }, icon("up")),
      close,
    );
    this.element.hidden = true;
    this.field.addEventListener("input", () => this.soon());
    this.field.addEventListener("keydown", (event) => this.key(event));
  }

  get isOpen(): boolean {
    return this.element.hidden === false;
  }

  open(): void {
    show(this.element, true);
    this.field.focus();
    this.field.select();
    if (this.field.value) this.soon();
  }

  close(): void {
    if (!this.isOpen) return;
    show(this.element, false);
    window.clearTimeout(this.timer);
    this.asked++;
    this.matches = [];
    CSS.highlights.delete(NAME);
    CSS.highlights.delete(CURRENT);
    this.host.closed();
  }

  /** Other rows are mounted: what is found in them is marked. */
  mark(): void {
    if (!this.isOpen) return;
    const query = this.field.value.toLowerCase();
    const all = new Highlight();
    const current = new Highlight();
    const row = this.matches[this.at];
    if (query) {
      for (const element of this.host.mounted()) {
        for (const range of rangesOf(element, query)) (element.dataset.row === row?.key ? current : all).add(range);
      }
    }
    CSS.highlights.set(NAME, all);
    CSS.highlights.set(CURRENT, current);
  }

  private key(event: KeyboardEvent): void {
    if (isComposing(event)) return;
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private soon(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.search(), PAUSE_MS);
  }

  private async search(): Promise<void> {
    const number = ++this.asked;
    const query = this.field.value.toLowerCase();
    if (query === "") {
      this.matches = [];
      this.told();
      return;
    }
    setText(this.count, "searching…");
    await this.host.loadAll();
    if (number !== this.asked) return;
    this.matches = this.host.rows().filter((row) => searchable(row).toLowerCase().includes(query));
    this.at = this.matches.length - 1;
    this.show();
  }

  private step(by: number): void {
    if (this.matches.length === 0) {
      window.clearTimeout(this.timer);
      void this.search();
      return;
    }
    this.at = (this.at + by + this.matches.length) % this.matches.length;
    this.show();
  }

  private show(): void {
    const row = this.matches[this.at];
    if (row) this.host.reveal(row);
    this.told();
  }

  private told(): void {
    const found = this.matches.length === 0 ? "none" : `${this.at + 1} of ${this.matches.length}`;
    setText(this.count, this.field.value === "" ? "" : found);
    this.mark();
  }
}

/** Where the words stand in an element. Pure but for reading it. */
export function* rangesOf(element: Element, query: string): Generator<Range> {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    for (let at = text.indexOf(query); at >= 0; at = text.indexOf(query, at + query.length)) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + query.length);
      yield range;
    }
  }
}
