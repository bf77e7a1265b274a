/**
 * Reduces the messages of a session to rows. Pure: no page, no clock.
 *
 * One story holds a stretch of the session that ends where the session ends; `prepend` joins an earlier page to its top.
 * Live and replayed messages go through the same `apply`.
 */

import type { EventPayload, Input, OmniMessage, Partial, Payload, SessionMeta, Text } from "../../shared/protocol";
import { Compactions } from "./compactions";
import { Family } from "./family";
import { compacted, used, type Gauge } from "./gauge";
import { Keys } from "./keys";
import { noteOf } from "./markers";
import type { Listener } from "./listener";
import { McpRows } from "./mcpRows";
import { readArguments } from "./partialJson";
import { Retries } from "./retries";
import type { EndRow, NoteRow, Row, ThinkingRow } from "./rows";
import { Runs, type Ending } from "./runs";
import { OpenAnswer, thinkingRow } from "./segments";
import { toolTitle } from "./toolTitles";
import { ToolCalls } from "./tools";
import { UserRows } from "./userRows";

export class Story {
  rows: Row[] = [];
  gauge: Gauge;
  readonly tools: ToolCalls;
  readonly runs: Runs;
  private readonly users: UserRows;
  private readonly compactions: Compactions;
  private readonly retries: Retries;
  private readonly mcp: McpRows;
  private answer: OpenAnswer | null = null;
  private thinking: ThinkingRow | null = null;
  private readonly family: Family;

  constructor(
    private readonly listener: Listener,
    gauge: Gauge = { total: 0 },
    private readonly keys = new Keys(),
  ) {
    this.gauge = gauge;
    const { add, touch } = this;
    this.tools = new ToolCalls(keys, add, touch);
    this.family = new Family(this.tools.rows, touch);
    this.users = new UserRows(keys, add, touch);
    this.compactions = new Compactions(keys, add, touch);
    this.retries = new Retries(keys, add, touch);
    this.mcp = new McpRows(keys, add, touch);
    this.runs = new Runs(keys, add, touch);
  }

  /** Takes the next message of the stream or of a page. */
  apply(message: OmniMessage): void {
    const { payload, timestamp: at } = message;
    if (message.origin?.length) {
      this.family.apply(message);
      return;
    }
    this.runs.at(at, payload.type === "session_meta" || payload.type === "run_begin");
    if (isPartial(payload)) this.fragment(payload, at);
    else this.whole(payload, at);
  }

  /** A run begins, whose input the stream does not repeat. */
  begin(runId: string, input: Input | null, at: string): void {
    if (this.runs.has(runId)) return;
    this.runs.begin(runId, at, this.isBroken());
    if (input !== null) this.users.input(input, at);
  }

  /** The run has ended, or was cut off: its row, null when there was none or nothing to tell. */
  end(ending: Omit<Ending, "isBroken"> = {}): EndRow | null {
    this.retries.settle();
    return this.runs.end({ ...ending, isBroken: this.isBroken() });
  }

  /** Whether the run that is on stands in the middle of its calls; to be asked when nothing of it comes any more. */
  private isBroken(): boolean {
    return this.runs.isOn && this.tools.leave(this.runs.startedAt);
  }

  /** Puts an earlier page on top. Its messages end where this story begins. */
  prepend(messages: readonly OmniMessage[]): number {
    const silent = { changed: () => undefined, rearranged: () => undefined };
    const page = new Story(silent, { total: 0 }, this.keys);
    for (const message of messages) page.apply(message);
    page.closeSegments();
    page.compactions.join(this.compactions, page, this);
    page.mcp.join(this.mcp, page);
    page.retries.settle();
    this.tools.join(page.tools);
    this.runs.join(page.runs);
    this.rows = [...page.rows, ...this.rows];
    this.family.join(page.family);
    this.listener.rearranged();
    return page.rows.length;
  }

  /** Marks a row as changed, from outside: an answer to an approval, the cost of a run. */
  readonly touch = (row: Row): void => {
    row.version++;
    this.listener.changed(row);
  };

  /** Takes a row out again. */
  remove(row: Row): void {
    const index = this.rows.lastIndexOf(row);
    if (index < 0) return;
    this.rows.splice(index, 1);
    this.listener.rearranged();
  }

  private readonly add = (row: Row): void => {
    this.rows.push(row);
    this.listener.changed(row);
  };

  private fragment(payload: Partial, at: string): void {
    switch (payload.type) {
      case "partial_text":
        if (this.compactions.open) this.compactions.summarise(payload.text, payload.event_type === "start");
        else if (payload.event_type === "start") this.answer = this.newAnswer(at);
        else if (payload.event_type === "delta") this.answer?.append(payload.text);
        return;
      case "partial_thinking":
        if (this.compactions.open) return;
        if (payload.event_type === "start") this.add((this.thinking = thinkingRow(at, this.keys)));
        else if (this.thinking && payload.event_type === "delta") {
          this.thinking.text += payload.thinking;
          this.touch(this.thinking);
        }
        return;
      case "partial_tool_call":
        this.tools.fragment(payload, at);
        return;
      case "partial_tool_call_output":
        this.tools.outputFragment(payload, at);
    }
  }

  private whole(payload: Exclude<Payload, Partial>, at: string): void {
    if (!("role" in payload) || payload.role !== "user" || payload.type === "tool_call_output") this.users.close();
    switch (payload.type) {
      case "text":
        if (payload.role === "assistant") this.answered(payload, at);
        else this.told(payload, at);
        return;
      case "thinking":
        this.thought(payload.thinking, at, payload.stop_reason);
        return;
      case "image_url":
        this.users.image(payload.image_url, at);
        return;
      case "inline_data":
        if (payload.role === "user") this.users.image(`data:${payload.mime_type};base64,${payload.data}`, at);
        return;
      case "tool_call":
        this.tools.whole(payload, at);
        return;
      case "tool_call_output":
        this.tools.output(payload, at);
        return;
      default:
        this.event(payload, at);
    }
  }

  private event(payload: EventPayload | SessionMeta, at: string): void {
    switch (payload.type) {
      case "run_begin":
        this.begin(payload.run_id, null, at);
        return;
      case "request_begin":
        this.retries.settle();
        this.runs.asks();
        return;
      case "token_usage":
        this.gauge = used(this.gauge, payload);
        this.compactions.followedBy(payload);
        this.runs.usage(payload);
        return;
      case "request_end":
        this.retries.ended(payload, at, this.compactions.open);
        this.runs.request(payload, this.compactions.open);
        return;
      case "approval_decision":
        this.tools.decided(payload, at);
        return;
      case "abort":
        this.runs.aborted(this.stopped());
        return;
      default:
        this.around(payload, at);
    }
  }

  private around(payload: EventPayload | SessionMeta, at: string): void {
    switch (payload.type) {
      case "compaction_begin":
        this.compactions.begin(payload, at);
        return;
      case "compaction_end":
        this.gauge = compacted(this.gauge, payload);
        this.compactions.end(payload, at, this);
        return;
      case "subagent":
        this.family.born(payload.session_id);
        return;
      case "mcp_connect_begin":
      case "mcp_connect_end":
        this.mcp.apply(payload, at);
        return;
      case "goal_round":
        this.note(at, `Goal, round ${payload.round}`, "");
        return;
      case "goal_finished":
        this.note(at, `Goal ${payload.outcome.replace("_", " ")} after ${payload.rounds} rounds`, "");
        return;
      default:
    }
  }

  private answered(payload: Text, at: string): void {
    if (this.compactions.open) {
      this.compactions.summarise(payload.text, true);
      return;
    }
    const answer = this.answer ?? (payload.text.trim() || payload.stop_reason ? this.newAnswer(at) : null);
    this.answer = null;
    answer?.complete(payload.text, payload.stop_reason);
    if (payload.text.trim() === "" && !payload.stop_reason) for (const row of answer?.rows ?? []) this.remove(row);
  }

  private thought(text: string, at: string, stop: ThinkingRow["stop"]): void {
    if (this.compactions.open) return;
    let row = this.thinking;
    this.thinking = null;
    if (!row && text.trim() === "") return;
    if (!row) this.add((row = thinkingRow(at, this.keys)));
    row.text = text;
    row.open = false;
    row.endedAt = at;
    if (stop) row.stop = stop;
    if (text.trim() === "") this.remove(row);
    else this.touch(row);
  }

  private told(payload: Text, at: string): void {
    if (payload.sender === undefined || payload.sender === "user") {
      const summary = this.compactions.summaryIn(payload.text);
      if (summary !== null) return;
      const words = this.users.text(payload, at);
      if (words !== null) this.listener.delivered?.(words);
    } else if (!this.compactions.open && this.compactions.summaryIn(payload.text) === null) {
      const { title, body } = noteOf(payload.text);
      this.note(at, title, body);
    }
  }

  private note(at: string, title: string, body: string): void {
    const row: NoteRow = { kind: "note", key: this.keys.take(`note:${at}`), at, version: 0, title, body };
    this.add(row);
  }

  /** What was interrupted with the run, in words: its calls, and subagents in the background. */
  private stopped(): string[] {
    const { startedAt } = this.runs;
    const calls = [...this.tools.rows.values()].filter((row) => row.status === "stopped" && row.at >= startedAt);
    return [...new Set([...calls, ...this.family.takeStopped()])].map((row) => {
      const { verb, subject } = toolTitle(row.name, readArguments(row.arguments));
      return `${verb} ${subject}`.trim();
    });
  }

  private newAnswer(at: string): OpenAnswer {
    return new OpenAnswer(at, this.keys, this.add, this.touch);
  }

  private closeSegments(): void {
    for (const row of this.rows) if (row.kind === "answer" || row.kind === "thinking") row.open = false;
  }
}

function isPartial(payload: Payload): payload is Partial {
  return payload.type.startsWith("partial_");
}
