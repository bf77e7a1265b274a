/** Heights of a column of rows and where each begins: prefix sums, worked out anew only from where something changed. */
export class Heights {
  private sizes: number[] = [];
  /** `sums[i]`: where row i begins; good below `clean`. */
  private sums: number[] = [0];
  private clean = 1;

  get count(): number {
    return this.sizes.length;
  }

  /** The height of all rows, pixels. */
  get total(): number {
    return this.top(this.sizes.length);
  }

  reset(sizes: number[]): void {
    this.sizes = sizes;
    this.clean = 1;
  }

  push(size: number): void {
    this.sizes.push(size);
  }

  size(index: number): number {
    return this.sizes[index] ?? 0;
  }

  /** Whether the height is another one than before. */
  set(index: number, size: number): boolean {
    if (this.sizes[index] === size) return false;
    this.sizes[index] = size;
    this.clean = Math.min(this.clean, index + 1);
    return true;
  }

  /** Where the row begins; the end of all rows for their count. */
  top(index: number): number {
    for (; this.clean <= index; this.clean++) {
      this.sums[this.clean] = (this.sums[this.clean - 1] ?? 0) + this.size(this.clean - 1);
    }
    return this.sums[index] ?? 0;
  }

  /** The row at an offset; the first or last one beyond the ends, 0 when there are none. */
  at(offset: number): number {
    let low = 0;
    let high = this.sizes.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.top(middle) <= offset) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }
}
