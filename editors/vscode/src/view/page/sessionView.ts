/** The conversation on screen: its rows in the list, where somebody reads, what is unfolded, and the edits that stand. */

import type { Cut, ViewSettings } from "../../shared/bridge";
import type { EditInfo, RunResult, SessionInfo, StateParams } from "../../shared/protocol";
import { cardOf } from "../cards/cards";
import type { CardHost } from "../cards/cardHost";
import type { Frames } from "../list/frames";
import { Reading } from "../list/reading";
import { VirtualList, type Card } from "../list/virtualList";
import { Highlighter } from "../markdown/highlight";
import { make } from "../markdown/nodes";
import { Conversation, type Page } from "../model/conversation";
import { readArguments } from "../model/partialJson";
import type { EndRow, Row } from "../model/rows";
import { toolTitle } from "../model/toolTitles";
import { Edits } from "./edits";
import { rowOf, type Memory } from "./memory";
import type { Port } from "./port";
import type { Status } from "./status";

export interface SessionViewHost {
  settings(): ViewSettings;
  isBusy(): boolean;
  /** Rows, gauge or position changed. */
  changed(): void;
  /** Texts that wait changed. */
  waiting(): void;
  failed(error: unknown): void;
  /** The person wants the run that was cut off to go on. */
  goOn(): void;
}

export class SessionView {
  readonly scroller = make("div", {
    class: "transcript",
    attributes: { role: "feed", "aria-label": "Conversation", "data-testid": "transcript" },
  });
  readonly list: VirtualList;
  readonly reading: Reading;
  conversation: Conversation | null = null;
  private readonly cards: CardHost;
  private readonly edits: Edits;
  private readonly failedTools = new Set<string>();

  constructor(
    private readonly port: Port,
    private readonly frames: Frames,
    private readonly memory: Memory,
    private readonly status: Status,
    private readonly host: SessionViewHost,
  ) {
    this.scroller.tabIndex = 0;
    this.list = new VirtualList(this.scroller, frames, {
      create: (row) => this.create(row),
      nearTop: () => this.earlier(),
      moved: () => this.moved(),
    });
    this.reading = new Reading(this.list, () => this.conversation?.rows ?? []);
    this.edits = new Edits(port, (callIds) => this.redraw(callIds));
    this.cards = this.cardHost();
  }

  /** Shows a session, or none; what is on screen of the same one stays until its history is there. */
  async open(session: SessionInfo | null, state: StateParams | null, cut?: Cut): Promise<void> {
    this.failedTools.clear();
    if (!session) {
      this.conversation = null;
      this.list.setRows([]);
      return;
    }
    this.memory.open(session.sessionId);
    const { sessionId } = session;
    const conversation = new Conversation(
      session,
      (cursor, limit) =>
        this.port.request("agent/session/history", {
          sessionId,
          limit,
          fromEnd: true,
          ...(cursor === undefined ? {} : { cursor }),
        }),
      {
        changed: (row) => this.changed(row),
        rearranged: () => this.list.setRows(conversation.rows),
        loaded: (page) => this.loaded(conversation, page),
        waitingChanged: () => this.host.waiting(),
      },
      cut,
    );
    this.conversation = conversation;
    conversation.running(isAtWork(state?.state ?? session.state));
    this.edits.open(sessionId);
    try {
      await conversation.load();
    } catch (error) {
      if (this.conversation === conversation) this.host.failed(error);
    }
  }

  /** The session works, or has stopped to. */
  state(state: StateParams): void {
    this.conversation?.running(isAtWork(state.state));
    for (const [row, card] of this.list.mountedRows) if (FOLLOWS_STATE.has(row.kind)) card.update();
  }

  /** A run has ended: what only its result tells goes into its row. */
  ended(result: RunResult): void {
    const rows = this.conversation?.rows ?? [];
    const row = rows.findLast((one): one is EndRow => one.kind === "end" && one.runId === result.runId);
    const note = result.finish === undefined ? undefined : FINISHES[result.finish];
    if (row) {
      row.status = result.status;
      if (note) row.note = note;
      this.conversation?.story.touch(row);
    }
    if (result.status === "completed") this.status.answerComplete();
    void this.costs(row).catch(() => undefined);
    this.edits.refresh();
  }

  /** Asks what the session has cost; `row`: the run that has just ended. Without an answer no figure is shown. */
  async costs(row?: EndRow): Promise<void> {
    const { conversation } = this;
    if (!conversation || !this.host.settings().showCost) return;
    const { totals } = await this.port.request("agent/usage", { sessionId: conversation.session.sessionId });
    const before = conversation.story.gauge.cost;
    conversation.story.gauge = { ...conversation.story.gauge, cost: totals.costUsd };
    if (row && totals.costUsd !== null && typeof before === "number") {
      row.cost = Math.max(0, totals.costUsd - before);
      conversation.story.touch(row);
    }
    this.host.changed();
  }

  editsChanged(edits: readonly EditInfo[]): void {
    this.edits.set(edits);
  }

  /** Brings a row on screen, unfolded. */
  reveal(row: Row): void {
    this.memory.fold(row.key, true);
    this.list.goTo(row, Math.min(120, this.scroller.clientHeight / 4));
    this.list.redraw(row);
  }

  /** Fetches everything earlier, in large pages. */
  async loadAll(): Promise<void> {
    const { conversation } = this;
    while (conversation?.hasEarlier && conversation === this.conversation) await conversation.earlier(1_000);
  }

  private loaded(conversation: Conversation, page: Page): void {
    if (this.conversation !== conversation) return;
    this.list.setRows(conversation.rows);
    void this.goBack(conversation);
    void this.costs().catch(() => undefined);
    conversation.waiting.restore(page.pending, Date.now());
    this.host.waiting();
  }

  /** To where somebody was reading before the reload; the pages up to there are fetched. */
  private async goBack(conversation: Conversation): Promise<void> {
    const anchor = this.memory.open(conversation.session.sessionId);
    if (!anchor) {
      this.list.goToEnd();
      return;
    }
    const isThere = (): boolean => conversation.rows.some((row) => row.key === anchor.key);
    while (!isThere() && conversation.hasEarlier && (conversation.rows[0]?.at ?? "") > anchor.at)
      await conversation.earlier(1_000);
    const row = rowOf(conversation.rows, anchor);
    if (row && this.conversation === conversation) this.list.goTo(row, anchor.offset);
  }

  private changed(row: Row): void {
    this.list.changed(row);
    if (row.kind === "tool" && row.status === "failed" && !this.failedTools.has(row.key)) {
      this.failedTools.add(row.key);
      const { verb, subject } = toolTitle(row.name, readArguments(row.arguments));
      this.status.toolFailed(`${verb} ${subject}`);
    }
    if (row.kind === "tool" && row.endedAt !== undefined) this.edits.called(row);
    this.host.changed();
  }

  private earlier(): void {
    const { conversation } = this;
    if (!conversation?.isLoaded || !conversation.hasEarlier) return;
    conversation.earlier().catch((error: unknown) => this.host.failed(error));
  }

  private moved(): void {
    if (this.conversation?.isLoaded) this.memory.place(this.list.place);
    this.host.changed();
  }

  private create(row: Row): Card {
    return cardOf(row, this.cards);
  }

  private redraw(callIds: ReadonlySet<string>): void {
    for (const [row, card] of this.list.mountedRows) {
      if (row.kind === "end" || (row.kind === "tool" && callIds.has(row.callId))) card.update();
    }
  }

  private cardHost(): CardHost {
    const { port, memory, edits, host } = this;
    return {
      frames: this.frames,
      highlighter: new Highlighter(this.frames),
      act: (act) => port.act(act),
      request: (method, params) => port.request(method, params),
      sessionId: () => this.conversation?.session.sessionId ?? "",
      position: (row) => [
        this.list.indexOf(row) + 1,
        this.conversation?.hasEarlier === false ? this.conversation.rows.length : -1,
      ],
      unfolded: (key) => memory.isUnfolded(key),
      fold: (key, isUnfolded) => {
        this.list.read();
        memory.fold(key, isUnfolded);
      },
      showThinking: () => host.settings().showThinking,
      showCost: () => host.settings().showCost,
      isRunning: () => host.isBusy(),
      goOn: () => host.goOn(),
      edits: (callId) => edits.ofCall(callId),
      runEdits: (runId) => edits.ofRun(runId),
      decideEdits: (chosen, verdict) => edits.decide(chosen, verdict),
      open: (target) =>
        port.act(
          target.kind === "web"
            ? { act: "openLink", href: target.href }
            : { act: "openPath", path: target.path, ...(target.line === undefined ? {} : { line: target.line }) },
        ),
      openText: (title, text) => port.act({ act: "openText", title, text, language: "markdown" }),
      copy: (text) => port.act({ act: "copy", text }),
    };
  }
}

/** Rows that look otherwise while something runs. */
const FOLLOWS_STATE: ReadonlySet<Row["kind"]> = new Set(["tool", "retry", "end"]);

const FINISHES: Partial<Record<NonNullable<RunResult["finish"]>, string>> = {
  length: "The answer was cut at the model's output limit.",
  refusal: "The model declined to answer.",
  content_filter: "The provider's content filter cut the answer.",
};

function isAtWork(state: StateParams["state"]): boolean {
  return state !== "idle" && state !== "auth_required";
}
