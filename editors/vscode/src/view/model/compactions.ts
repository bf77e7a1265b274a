/** Compactions: what is said between their begin and their end is the summary, and so is the next context's opening. */

import type { CompactionBegin, CompactionEnd, TokenUsage } from "../../shared/protocol";
import type { Keys } from "./keys";
import { bodyOf, isBlock, summaryOf } from "./markers";
import type { CompactionRow, Row } from "./rows";

/** What holds the rows. */
interface Rows {
  rows: Row[];
  remove(row: Row): void;
}

export class Compactions {
  private current: CompactionRow | null = null;
  private last: CompactionRow | null = null;
  private raw = "";
  /** A row whose beginning is on an earlier page. */
  private headless: CompactionRow | null = null;

  constructor(
    private readonly keys: Keys,
    private readonly add: (row: CompactionRow) => void,
    private readonly touch: (row: CompactionRow) => void,
  ) {}

  /** Whether one is going on. */
  get open(): boolean {
    return this.current !== null;
  }

  begin(begin: CompactionBegin, at: string): void {
    this.current = { ...this.row(at, begin), before: begin.context };
    this.raw = "";
    this.add(this.current);
  }

  /** A piece of the summary; `anew`: it replaces what was there. */
  summarise(text: string, anew: boolean): void {
    if (!this.current) return;
    this.raw = anew ? text : this.raw + text;
    this.current.summary = summaryOf(this.raw);
    this.touch(this.current);
  }

  end(end: CompactionEnd, at: string, story: Rows): void {
    const row = this.current ?? this.beheaded(end, at, story);
    this.current = null;
    row.status = end.status;
    if (end.error_message) row.message = end.error_message;
    this.last = row;
    this.touch(row);
  }

  /** The summary, if the text opens a context with it; it is shown in the row of its compaction. */
  summaryIn(text: string): string | null {
    if (!isBlock(text, "context_summary")) return null;
    const summary = bodyOf(text, "context_summary");
    if (this.last?.summary === "") {
      this.last.summary = summary;
      this.touch(this.last);
    }
    return summary;
  }

  /** The first request behind a compaction tells what it has saved. */
  followedBy(usage: TokenUsage): void {
    const { last } = this;
    if (this.current || last?.after !== undefined || !last) return;
    last.after = usage.request.total - usage.request.output;
    this.touch(last);
  }

  /** This is the earlier page's: one that is open here has its end over there. */
  join(later: Compactions, page: Rows, story: Rows): void {
    const { current } = this;
    const { headless } = later;
    this.current = null;
    if (!current) return;
    if (headless) {
      const { before } = current;
      Object.assign(headless, {
        reason: current.reason,
        mode: current.mode,
        ...(before === undefined ? {} : { before }),
      });
      headless.summary ||= current.summary;
      page.rows = page.rows.filter((row) => row !== current);
      later.touch(headless);
      later.headless = null;
    } else if (story.rows.length > 0) {
      current.status = "aborted";
    }
  }

  /** Only its end is on this page: what stands above it here belongs to it. */
  private beheaded(end: CompactionEnd, at: string, story: Rows): CompactionRow {
    const row = this.row(at, end);
    const above = story.rows.filter((one) => one.kind === "answer" || one.kind === "thinking" || one.kind === "retry");
    row.summary = summaryOf(above.map((one) => (one.kind === "answer" ? one.text : "")).join(""));
    for (const one of above) story.remove(one);
    this.headless = row;
    this.add(row);
    return row;
  }

  private row(at: string, of: CompactionBegin | CompactionEnd): CompactionRow {
    return {
      kind: "compaction",
      key: this.keys.take(`compaction:${at}`),
      at,
      version: 0,
      reason: of.reason,
      mode: of.mode,
      summary: "",
      status: "running",
    };
  }
}
