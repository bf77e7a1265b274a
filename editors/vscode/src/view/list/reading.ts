/** The signs that somebody reads, which end the following; and the way from message to message by keyboard. */

import type { Row } from "../model/rows";
import type { VirtualList } from "./virtualList";

const UPWARD = new Set(["PageUp", "ArrowUp", "Home"]);

export class Reading {
  constructor(
    private readonly list: VirtualList,
    private readonly rows: () => readonly Row[],
  ) {
    const { scroller } = list;
    scroller.addEventListener("wheel", (event) => event.deltaY < 0 && list.read(), { passive: true });
    scroller.addEventListener("touchmove", () => list.read(), { passive: true });
    scroller.addEventListener("pointerdown", (event) => {
      if (event.target === scroller && event.offsetX >= scroller.clientWidth) list.read();
    });
    scroller.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("selectionchange", () => this.selected());
  }

  /** Focuses the next or previous message, from the focused one or from where one reads. */
  step(by: 1 | -1): void {
    const rows = this.rows();
    const focused = document.activeElement ? this.list.rowAt(document.activeElement) : undefined;
    const from = focused ? this.list.indexOf(focused) : by > 0 ? this.firstVisible() - 1 : rows.length;
    const row = rows[Math.min(rows.length - 1, Math.max(0, from + by))];
    if (row) this.focus(row);
  }

  focus(row: Row): void {
    this.list.read();
    this.list.bringIntoView(row);
    this.list.mountedRows.get(row)?.element.focus({ preventScroll: true });
  }

  private firstVisible(): number {
    const place = this.list.place;
    return place ? this.list.indexOf(place.row) : this.rows().length - 1;
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    if (target.tagName === "ARTICLE" && this.moved(event.key)) {
      event.preventDefault();
      return;
    }
    if (UPWARD.has(event.key)) this.list.read();
  }

  private moved(key: string): boolean {
    const rows = this.rows();
    switch (key) {
      case "ArrowDown":
        this.step(1);
        return true;
      case "ArrowUp":
        this.step(-1);
        return true;
      case "Home":
        if (rows[0]) this.focus(rows[0]);
        return true;
      case "End": {
        const last = rows.at(-1);
        if (last) this.focus(last);
        return true;
      }
      case "Enter": {
        const article = document.activeElement;
        article?.querySelector<HTMLButtonElement>(".fold-head")?.click();
        return true;
      }
      default:
        return false;
    }
  }

  private selected(): void {
    const selection = document.getSelection();
    const node = selection?.anchorNode;
    if (selection && !selection.isCollapsed && node && this.list.scroller.contains(node)) this.list.read();
  }
}
