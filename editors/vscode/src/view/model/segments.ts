/** The open text and the open thought of a story, and how they become complete. */

import type { StopReason } from "../../shared/protocol";
import { definitions } from "../markdown/blocks";
import { PartCutter, partsOf } from "./answerParts";
import type { Keys } from "./keys";
import type { AnswerGroup, AnswerRow, ThinkingRow } from "./rows";

type Place = (row: AnswerRow | ThinkingRow) => void;

/** One answer while it streams: its rows, joined, are the text so far. */
export class OpenAnswer {
  readonly rows: AnswerRow[] = [];
  private readonly cutter = new PartCutter();
  private readonly group: AnswerGroup = { definitions: "" };
  private text = "";
  private start = 0;

  constructor(
    private readonly at: string,
    private readonly keys: Keys,
    private readonly place: Place,
    private readonly touch: (row: AnswerRow) => void,
  ) {
    this.part("");
  }

  append(piece: string): void {
    this.text += piece;
    const last = this.rows.at(-1);
    if (!last) return;
    last.text += piece;
    this.touch(last);
    for (const cut of this.cutter.cuts(this.text)) this.cut(cut);
  }

  /** The message is whole: what was streamed is kept where it is the same, else replaced. */
  complete(text: string, stop: StopReason | undefined): void {
    if (text !== this.text) this.replace(text);
    const found = definitions(text);
    if (found) {
      this.group.definitions = found;
      for (const row of this.rows) this.touch(row);
    }
    const last = this.rows.at(-1);
    if (last && stop) last.stop = stop;
    for (const row of this.rows) {
      if (!row.open) continue;
      row.open = false;
      this.touch(row);
    }
  }

  private cut(at: number): void {
    const last = this.rows.at(-1);
    if (!last) return;
    const rest = this.text.slice(at);
    last.text = this.text.slice(this.start, at);
    last.open = false;
    this.touch(last);
    this.start = at;
    this.part(rest);
  }

  private replace(text: string): void {
    const parts = partsOf(text);
    for (const [index, part] of parts.entries()) {
      const row = this.rows[index];
      if (row && row.text !== part) {
        row.text = part;
        this.touch(row);
      } else if (!row) this.part(part);
    }
    for (const surplus of this.rows.slice(parts.length)) {
      surplus.text = "";
      surplus.open = false;
      this.touch(surplus);
    }
    this.text = text;
  }

  private part(text: string): void {
    const part = this.rows.length;
    const row: AnswerRow = {
      kind: "answer",
      key: this.keys.take(`answer:${this.at}#${part}`),
      at: this.at,
      version: 0,
      group: this.group,
      part,
      text,
      open: true,
    };
    this.rows.push(row);
    this.place(row);
  }
}

/** A new row for a thought. */
export function thinkingRow(at: string, keys: Keys): ThinkingRow {
  return { kind: "thinking", key: keys.take(`thinking:${at}`), at, version: 0, text: "", open: true };
}
