/** Adds up the runs of a story from its stream: what their end rows say. */

import type { Cut } from "../../shared/bridge";
import type { RequestEnd, RunStatus, TokenUsage } from "../../shared/protocol";
import type { Keys } from "./keys";
import type { EndRow } from "./rows";

interface Account {
  runId: string;
  startedAt: string;
  lastAt: string;
  turns: number;
  tokens: number;
  status: RunStatus;
  ended: string[];
  /** Its beginning is on an earlier page. */
  headless: boolean;
  /** Whether its last request has no end yet; undefined while there was no request. */
  asks?: boolean;
}

/** What else is known of a run at its end. `isBroken`: calls of it were left without an output. */
export interface Ending {
  readonly isBroken?: boolean;
  readonly cut?: Cut | undefined;
  readonly result?: { readonly status: RunStatus; readonly note?: string };
}

export class Runs {
  private current: Account | null = null;
  /** The end of the run that an earlier page begins. */
  private headRow: EndRow | null = null;
  private readonly begun = new Set<string>();
  private isFresh = true;

  constructor(
    private readonly keys: Keys,
    private readonly add: (row: EndRow) => void,
    private readonly touch: (row: EndRow) => void,
  ) {}

  /** The id of the run that is on, or was the last one; undefined while it is not known. */
  get runId(): string | undefined {
    return this.current?.runId === "" ? undefined : this.current?.runId;
  }

  /** When the run began, or the story did. */
  get startedAt(): string {
    return this.current?.startedAt ?? "";
  }

  /** A message came; `isMeta`: the one with which a session begins, so that there is no run before it. */
  at(at: string, isMeta: boolean): void {
    if (this.current) this.current.lastAt = at;
    else if (this.isFresh && !isMeta) this.current = account("", at, true);
    this.isFresh = false;
  }

  get isOn(): boolean {
    return this.current !== null;
  }

  /** Whether that run has begun. */
  has(runId: string): boolean {
    return this.begun.has(runId);
  }

  /** A run begins, which ends the one before; `isBroken`: in the middle of its calls. */
  begin(runId: string, at: string, isBroken = false): void {
    this.end({ isBroken });
    this.begun.add(runId);
    this.current = account(runId, at, false);
  }

  /** What is on is the run of this id, whose beginning is not here. */
  adopt(runId: string): void {
    this.begun.add(runId);
    if (this.current) this.current.runId ||= runId;
  }

  /** A request goes out. */
  asks(): void {
    if (this.current) this.current.asks = true;
  }

  request(end: RequestEnd, compacting: boolean): void {
    if (!this.current) return;
    this.current.asks = false;
    if (end.status === "completed" && !compacting) this.current.turns++;
    if (end.status !== "completed" && end.retry_in_ms === undefined) this.current.status = end.status;
  }

  usage(usage: TokenUsage): void {
    if (this.current) this.current.tokens += usage.request.total;
  }

  /** The run was interrupted; `ended`: what that has ended, in words. */
  aborted(ended: string[]): void {
    if (!this.current) return;
    if (this.current.status === "completed") this.current.status = "aborted";
    this.current.ended = ended;
  }

  /**
   * The row of the run that was on; null when there was none or nothing to tell. One that stands in the middle of something
   * was not completed, whoever it was that went away.
   */
  end({ isBroken, cut, result }: Ending = {}): EndRow | null {
    const run = this.current;
    this.current = null;
    if (run?.status === "completed" && (run.asks || isBroken)) run.status = "aborted";
    if (!run || (run.turns === 0 && run.status === "completed" && !run.headless && !result)) return null;
    if (result && run.status === "completed") run.status = result.status;
    const row = rowOf(run, this.keys.take(`end:${run.runId || run.lastAt}`));
    if (result?.note) row.note = result.note;
    if (cut && run.status !== "completed" && (run.runId || cut.runId) === cut.runId) row.cut = cut;
    if (run.headless) this.headRow = row;
    this.add(row);
    return row;
  }

  /** This is the later page's: the run that is open at the end of the earlier one goes on here. */
  join(earlier: Runs): void {
    const open = earlier.current;
    if (open) {
      if (this.headRow) this.complete(this.headRow, open);
      else if (this.current?.headless) this.current = merged(open, this.current);
      else if (this.isFresh) this.current = open;
      else earlier.end();
    }
    this.headRow = earlier.headRow;
    for (const id of earlier.begun) this.begun.add(id);
  }

  private complete(row: EndRow, from: Account): void {
    row.turns += from.turns;
    row.tokens += from.tokens;
    row.durationMs = Math.max(0, Date.parse(row.at) - Date.parse(from.startedAt));
    if (row.status === "completed") row.status = from.status;
    this.touch(row);
  }
}

function account(runId: string, at: string, headless: boolean): Account {
  return { runId, startedAt: at, lastAt: at, turns: 0, tokens: 0, status: "completed", ended: [], headless };
}

function merged(earlier: Account, later: Account): Account {
  return {
    ...later,
    runId: earlier.runId || later.runId,
    startedAt: earlier.startedAt,
    turns: earlier.turns + later.turns,
    tokens: earlier.tokens + later.tokens,
    status: later.status === "completed" ? earlier.status : later.status,
    headless: earlier.headless,
    ...(later.asks === undefined && earlier.asks !== undefined ? { asks: earlier.asks } : {}),
  };
}

function rowOf(run: Account, key: string): EndRow {
  const { runId, status, turns, tokens, ended, lastAt: at } = run;
  const durationMs = Math.max(0, Date.parse(at) - Date.parse(run.startedAt));
  return { kind: "end", key, at, version: 0, runId, status, turns, tokens, durationMs, ended };
}
