/**
 * A list of any length of which only what is visible, and one screen either side, is in the page.
 *
 *     scroller ─┬─ space above    as high as the rows above that are not mounted
 *               ├─ mounted rows   in natural flow, measured by one ResizeObserver
 *               └─ space below
 *
 * Whoever reads is at an anchor: a row and its distance from the top of the view. Whatever happens above or below, the
 * anchor stays where it is, unless the view follows the stream; then the bottom does.
 */

import type { Row } from "../model/rows";
import { estimate } from "./estimate";
import { Following } from "./following";
import type { Frames } from "./frames";
import { Heights } from "./heights";

/** What a row looks like. */
export interface Card {
  readonly element: HTMLElement;
  /** Draws what has changed in the row. */
  update(): void;
  /** The element is taken out of the page. */
  dispose(): void;
}

export interface Anchor {
  readonly row: Row;
  /** Where the row begins, pixels below the top of the view (negative above it). */
  readonly offset: number;
}

export interface ListHost {
  create(row: Row): Card;
  /** The reader comes near the top of what is loaded. */
  nearTop(): void;
  /** Position or following changed. */
  moved(): void;
}

/** Never more rows than this are mounted. */
const MOST_MOUNTED = 150;

export class VirtualList {
  readonly following: Following;
  private readonly heights = new Heights();
  private readonly measured = new WeakMap<Row, number>();
  private readonly mounted = new Map<Row, Card>();
  private readonly rowOf = new WeakMap<Element, Row>();
  private readonly index = new Map<Row, number>();
  private readonly above = document.createElement("div");
  private readonly window = document.createElement("div");
  private readonly below = document.createElement("div");
  private readonly observer = new ResizeObserver((entries) => this.resized(entries));
  private rows: readonly Row[] = [];
  private first = 0;
  private last = -1;
  private anchor: Anchor | null = null;
  private scrollTop = 0;
  private viewHeight = 0;
  private width = 0;

  constructor(
    readonly scroller: HTMLElement,
    private readonly frames: Frames,
    private readonly host: ListHost,
  ) {
    this.following = new Following(() => host.moved());
    this.window.className = "rows";
    scroller.append(this.above, this.window, this.below);
    scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.observer.observe(scroller);
  }

  /** Where the reader is; null at the end of a followed stream. */
  get place(): Anchor | null {
    return this.following.isOn ? null : this.anchor;
  }

  get mountedRows(): ReadonlyMap<Row, Card> {
    return this.mounted;
  }

  indexOf(row: Row): number {
    return this.index.get(row) ?? -1;
  }

  /** The row whose card holds the element. */
  rowAt(element: Element): Row | undefined {
    const article = element.closest("article");
    return article ? this.rowOf.get(article) : undefined;
  }

  /** These are the rows now: pages came, or another session. The anchor stays. */
  setRows(rows: readonly Row[]): void {
    this.rows = rows;
    this.index.clear();
    for (const [index, row] of rows.entries()) this.index.set(row, index);
    this.heights.reset(rows.map((row) => this.measured.get(row) ?? estimate(row, this.width)));
    if (this.anchor && !this.index.has(this.anchor.row)) this.anchor = null;
    this.render();
  }

  /** A row at the end is new or a row has changed. */
  changed(row: Row): void {
    const known = this.index.get(row);
    if (known === undefined) {
      this.index.set(row, this.index.size);
      this.heights.push(estimate(row, this.width));
      this.following.row();
      this.frames.ask(this, this.render);
    } else if (this.mounted.has(row)) {
      this.frames.ask(row, () => this.mounted.get(row)?.update());
    }
  }

  /** Puts a row at a distance from the top of the view and stays there. */
  goTo(row: Row, offset: number): void {
    if (!this.index.has(row)) return;
    this.following.leave();
    this.anchor = { row, offset };
    this.render();
  }

  /** Scrolls just as far as it takes for the row to be seen from its beginning. */
  bringIntoView(row: Row): void {
    const index = this.indexOf(row);
    if (index < 0) return;
    const top = this.heights.top(index) - this.scrollTop;
    const bottom = top + this.heights.size(index);
    if (top < 0) this.goTo(row, 8);
    else if (bottom > this.viewHeight) this.goTo(row, Math.max(8, this.viewHeight - this.heights.size(index) - 8));
    else if (!this.mounted.has(row)) this.render();
  }

  /** Draws the row from scratch: what is unfolded in it has changed. */
  redraw(row: Row): void {
    const card = this.mounted.get(row);
    if (!card) return;
    const next = card.element.nextElementSibling;
    this.unmount(row, card, document.activeElement);
    this.window.insertBefore(this.mount(row).element, next);
  }

  goToEnd(): void {
    this.following.enter();
    this.anchor = null;
    this.render();
  }

  /** Mounts what is to be seen now, and puts it where it belongs. */
  readonly render = (): void => {
    this.frames.forget(this);
    this.lengthen();
    this.hold();
    const [first, last] = ([this.first, this.last] = this.range());
    const wanted = new Set(this.rows.slice(first, last + 1));
    const focused = document.activeElement;
    for (const [row, card] of this.mounted) if (!wanted.has(row)) this.unmount(row, card, focused);
    let next: Element | null = this.window.firstElementChild;
    for (const row of wanted) {
      const card = this.mounted.get(row) ?? this.mount(row);
      if (card.element === next) next = next.nextElementSibling;
      else this.window.insertBefore(card.element, next);
    }
    this.space();
    this.hold();
    if (this.scrollTop < 2 * this.viewHeight) this.host.nearTop();
  };

  /** Somebody reads here: the stream moves nothing from now on. */
  read(): void {
    if (!this.following.isOn || this.scroller.scrollHeight <= this.scroller.clientHeight) return;
    this.remember();
    this.following.leave();
  }

  private mount(row: Row): Card {
    const card = this.host.create(row);
    this.mounted.set(row, card);
    this.rowOf.set(card.element, row);
    this.observer.observe(card.element);
    return card;
  }

  private unmount(row: Row, card: Card, focused: Element | null): void {
    if (focused && card.element.contains(focused)) this.scroller.focus({ preventScroll: true });
    this.observer.unobserve(card.element);
    this.mounted.delete(row);
    this.frames.forget(row);
    card.dispose();
    card.element.remove();
  }

  /** First and last row to be mounted. */
  private range(): readonly [number, number] {
    const { heights, viewHeight } = this;
    if (heights.count === 0) return [0, -1];
    const top = this.scrollTop;
    let first = heights.at(top - viewHeight);
    let last = heights.at(top + 2 * viewHeight);
    const visible = heights.at(top);
    if (last - first >= MOST_MOUNTED) {
      first = Math.max(first, visible - Math.floor(MOST_MOUNTED / 5));
      last = Math.min(last, first + MOST_MOUNTED - 1);
    }
    return [first, last];
  }

  private space(): void {
    const { heights } = this;
    this.above.style.height = `${heights.top(this.first)}px`;
    this.below.style.height = `${heights.total - heights.top(this.last + 1)}px`;
  }

  /** As long as rows above are not there yet, the place to hold may be beyond the end: the browser would cut it off. */
  private lengthen(): void {
    const { place, heights, scroller } = this;
    if (!place) return;
    const wanted = heights.top(this.indexOf(place.row)) - place.offset;
    if (wanted > this.scrollTop + 1 && wanted > scroller.scrollHeight - this.viewHeight) {
      this.below.style.height = `${heights.total}px`;
    }
  }

  /** Puts the scroll position where following or the anchor wants it. */
  private hold(): void {
    const { scroller } = this;
    if (this.following.isOn) {
      scroller.scrollTop = scroller.scrollHeight;
      this.scrollTop = scroller.scrollTop;
      return;
    }
    if (!this.anchor) return;
    const wanted = Math.max(0, this.heights.top(this.indexOf(this.anchor.row)) - this.anchor.offset);
    if (Math.abs(wanted - this.scrollTop) < 0.5) return;
    scroller.scrollTop = wanted;
    this.scrollTop = scroller.scrollTop;
    if (Math.abs(wanted - this.scrollTop) > 1) this.remember();
  }

  private scrolled(): void {
    const { scrollTop } = this.scroller;
    if (Math.abs(scrollTop - this.scrollTop) < 1) return;
    const end = this.scroller.scrollHeight - this.scroller.clientHeight;
    // A view that grows at the end is pushed up by the browser: nobody has scrolled there.
    this.following.scrolled(Math.max(0, end - this.scrollTop), end - scrollTop);
    this.scrollTop = scrollTop;
    this.remember();
    this.frames.ask(this, this.render);
    this.host.moved();
  }

  /** The reader is here: the row at the top of the view, and where it begins. */
  remember(): void {
    if (this.heights.count === 0) return;
    const index = this.heights.at(this.scrollTop);
    const row = this.rows[index];
    this.anchor = row ? { row, offset: this.heights.top(index) - this.scrollTop } : null;
  }

  private resized(entries: readonly ResizeObserverEntry[]): void {
    let isOther = false;
    for (const entry of entries) {
      if (entry.target === this.scroller) {
        this.resizedView(entry);
        isOther = true;
        continue;
      }
      const row = this.rowOf.get(entry.target);
      const index = row && this.mounted.has(row) ? this.indexOf(row) : -1;
      if (!row || index < 0) continue;
      const height = entry.borderBoxSize[0]?.blockSize ?? 0;
      this.measured.set(row, height);
      isOther = this.heights.set(index, height) || isOther;
    }
    if (!isOther) return;
    this.space();
    this.hold();
    // Rows are mounted in the next frame: observed here, they would be new in a round that is over.
    const [first, last] = this.range();
    if (first < this.first || last > this.last) this.frames.ask(this, this.render);
  }

  private resizedView(entry: ResizeObserverEntry): void {
    const { width, height } = entry.contentRect;
    this.viewHeight = height;
    if (width === this.width) return;
    const wasMeasured = this.width > 0;
    this.width = width;
    if (!wasMeasured) return;
    for (const [index, row] of this.rows.entries()) {
      if (this.mounted.has(row)) continue;
      this.measured.delete(row);
      this.heights.set(index, estimate(row, width));
    }
  }
}
