/**
 * Whether the view follows the stream. It is left by the smallest sign that somebody reads, and entered again only at the
 * very bottom or by a button: there is no "near the bottom".
 */

/** Pixels from the bottom that still are the bottom. */
export const BOTTOM_PX = 2;

export class Following {
  private is = true;
  private unseen = 0;

  constructor(private readonly changed: () => void) {}

  get isOn(): boolean {
    return this.is;
  }

  /** Rows that have come since it was left. */
  get newRows(): number {
    return this.unseen;
  }

  /** Somebody reads: wheel, key, scrollbar, selection, unfolding. */
  leave(): void {
    if (!this.is) return;
    this.is = false;
    this.changed();
  }

  /** Somebody wants the latest. */
  enter(): void {
    if (this.is && this.unseen === 0) return;
    this.is = true;
    this.unseen = 0;
    this.changed();
  }

  /** Somebody scrolled, from one position to another, both in pixels from the bottom. */
  scrolled(before: number, after: number): void {
    if (after > before) this.leave();
    else if (after < before && after <= BOTTOM_PX) this.enter();
  }

  /** A row came at the end. */
  row(): void {
    if (this.is) return;
    this.unseen++;
    this.changed();
  }
}
