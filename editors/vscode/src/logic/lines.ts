/** Makes lines of a stream of text that comes in pieces. */
export class Lines {
  readonly #take: (line: string) => void;
  #rest = "";

  /** `take` gets each line that is not blank, without its end. */
  constructor(take: (line: string) => void) {
    this.#take = take;
  }

  add(piece: string): void {
    const lines = (this.#rest + piece).split(/\r?\n/);
    this.#rest = lines.pop() ?? "";
    lines.forEach((line) => this.#give(line));
  }

  /** The stream has ended: what has no line end yet is a line, too. */
  end(): void {
    this.#give(this.#rest);
    this.#rest = "";
  }

  #give(line: string): void {
    if (line.trim() !== "") {
      this.#take(line);
    }
  }
}
