/**
 * One session on screen: its pages, its stream, exactly once.
 *
 * Every message of the stream has a number. `history` says which one comes next; what has a smaller number is in its pages
 * already, what comes while a page is on its way waits for it, and a number that is skipped means: fetch anew.
 */

import type { Cut } from "../../shared/bridge";
import type { HistoryResult, Input, MessageParams, OmniMessage, SessionInfo } from "../../shared/protocol";
import { gaugeOf } from "./gauge";
import type { Listener } from "./listener";
import type { EndRow, Row } from "./rows";
import { Story } from "./story";
import { Waiting } from "./waiting";

/** Messages in a page. */
export const PAGE = 200;

export type Page = HistoryResult;
export type Fetch = (cursor: string | undefined, limit: number) => Promise<Page>;

export interface ConversationListener extends Listener {
  /** Rows are there for the first time, or all of them are others. */
  loaded(page: Page): void;
  waitingChanged(): void;
}

export class Conversation {
  story: Story;
  readonly waiting: Waiting;
  /** Whether the first page is there. */
  isLoaded = false;
  private nextSeq = 0;
  private cursor: string | undefined;
  private held: MessageParams[] = [];
  private loading: Promise<void> | null = null;
  private generation = 0;
  private runId: string | undefined;
  /** Whether the session was at work when it was loaded, as far as is known. */
  private isRunning = false;
  /** Whether the run that is on began on an earlier page. */
  private beganEarlier = false;
  /** The end of the last run, if that was cut off. */
  private cutRow: EndRow | null = null;

  constructor(
    readonly session: SessionInfo,
    private readonly fetch: Fetch,
    private readonly listener: ConversationListener,
    private cut?: Cut,
  ) {
    this.story = this.newStory();
    this.waiting = new Waiting(() => listener.waitingChanged());
  }

  get rows(): readonly Row[] {
    return this.story.rows;
  }

  /** Whether there are earlier pages that are not loaded. */
  get hasEarlier(): boolean {
    return this.cursor !== undefined;
  }

  /** Fetches the newest page and goes on from there; what was on screen is replaced in one step. */
  async load(): Promise<void> {
    const generation = ++this.generation;
    this.isLoaded = false;
    this.held = [];
    this.loading = null;
    let page = await this.fetch(undefined, PAGE);
    const pages = [page.messages];
    while (page.nextCursor !== undefined) {
      // A server that pages forward only: the end is where the cursor ends.
      page = await this.fetch(page.nextCursor, 10_000);
      pages.push(page.messages);
    }
    if (generation === this.generation) this.opened(page, pages.flat());
  }

  /** The session works, or does not: then the run that was on has ended. */
  running(isRunning: boolean): void {
    this.isRunning = isRunning;
    if (!isRunning && this.isLoaded) this.story.end();
  }

  /** Takes a notification of the stream. */
  receive(params: MessageParams): void {
    if (params.sessionId !== this.session.sessionId) return;
    if (!this.isLoaded) {
      this.held.push(params);
      return;
    }
    const skip = this.nextSeq - params.seq;
    if (skip < 0) {
      void this.load();
      return;
    }
    if (skip >= params.messages.length) return;
    this.began(params.runId, params.messages[skip]);
    for (const message of skip > 0 ? params.messages.slice(skip) : params.messages) this.story.apply(message);
    this.nextSeq = params.seq + params.messages.length;
  }

  /** Fetches the page above, once however often it is asked for; how many rows it brought. */
  async earlier(limit = PAGE): Promise<number> {
    if (this.cursor === undefined) return 0;
    if (this.loading) {
      await this.loading;
      return 0;
    }
    const generation = this.generation;
    let added = 0;
    this.loading = this.fetch(this.cursor, limit).then((page) => {
      if (generation !== this.generation) return;
      this.cursor = page.previousCursor;
      added = this.story.prepend(page.messages);
    });
    try {
      await this.loading;
    } finally {
      this.loading = null;
    }
    return added;
  }

  /** A run begins whose first message is not there yet: its input is shown at once. */
  private began(runId: string | undefined, first: OmniMessage | undefined): void {
    if (runId === undefined || runId === this.runId || first === undefined) return;
    this.runId = runId;
    if (this.beganEarlier) {
      this.beganEarlier = false;
      this.story.runs.adopt(runId);
      return;
    }
    this.wentOn();
    const entry = this.waiting.all.find((one) => one.kind === "run" && (one.runId ?? runId) === runId);
    const input: Input | null = entry?.input ?? null;
    if (entry) this.waiting.remove(entry);
    this.story.begin(runId, input, first.timestamp);
  }

  /** Another run: there is nothing left to go on from. */
  private wentOn(): void {
    const row = this.cutRow;
    this.cut = undefined;
    this.cutRow = null;
    if (!row) return;
    delete row.cut;
    this.story.touch(row);
  }

  private opened(page: Page, messages: readonly OmniMessage[]): void {
    this.story = this.newStory();
    this.cursor = page.previousCursor;
    for (const message of messages) this.story.apply(message);
    this.runId = this.story.runs.runId;
    this.beganEarlier = this.runId === undefined && this.isRunning;
    for (const message of page.live ?? []) this.story.apply(message);
    const last = this.isRunning ? null : this.story.end({ cut: this.cut });
    this.cutRow = last?.cut ? last : null;
    this.nextSeq = page.nextSeq;
    this.isLoaded = true;
    const held = this.held;
    this.held = [];
    this.listener.loaded(page);
    for (const params of held) this.receive(params);
  }

  private newStory(): Story {
    return new Story(
      {
        changed: (row) => this.isLoaded && this.listener.changed(row),
        rearranged: () => this.isLoaded && this.listener.rearranged(),
        delivered: (words) => this.isLoaded && this.waiting.delivered(words),
      },
      gaugeOf(this.session),
    );
  }
}
