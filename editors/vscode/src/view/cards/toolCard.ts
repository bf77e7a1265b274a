/** One call of a tool: what it does, how it stands, why it ran without a question, and what came out. */

import type { Card } from "../list/virtualList";
import type { IconName } from "../markdown/icons";
import { make, setText, show } from "../markdown/nodes";
import { readArguments } from "../model/partialJson";
import type { ToolRow } from "../model/rows";
import { planSteps, toolTitle, type ToolTitle } from "../model/toolTitles";
import { visibleLine } from "../model/visible";
import { article, Fold, Head } from "./article";
import type { CardHost } from "./cardHost";
import { ChildView } from "./childView";
import { diffOf } from "./diffLines";
import { EditBar } from "./editBar";
import { duration } from "./figures";
import { planView } from "./planView";
import { ToolBody } from "./toolBody";

const WORDS: Readonly<Record<ToolRow["status"], string>> = {
  writing: "being written",
  waiting: "waiting",
  asking: "waits for your decision",
  running: "running",
  done: "done",
  failed: "failed",
  denied: "denied",
  stopped: "stopped",
};

/** What is said of an edit as long as nothing is known of it. */
const MADE: Partial<Record<ToolRow["status"], string>> = {
  writing: "Not made yet",
  waiting: "Not made yet",
  asking: "Not made yet",
  running: "Not made yet",
  done: "Made",
};

export function toolCard(row: ToolRow, host: CardHost): Card {
  return new ToolCard(row, host);
}

class ToolCard implements Card {
  readonly element: HTMLElement;
  private readonly fold: Fold;
  private readonly head: Head;
  private readonly tail = make("div", { class: "tail", attributes: { "aria-hidden": "true" } });
  private readonly edits: EditBar;
  private readonly child: ChildView;
  private body: ToolBody | null = null;
  private plan: HTMLElement | null = null;
  private title: ToolTitle = { verb: "", subject: "", icon: "tool" };
  private read = "";
  private timer = 0;
  /** Whether it was to be seen before it had ended. */
  private readonly isSeenRunning: boolean;

  constructor(
    private readonly row: ToolRow,
    private readonly host: CardHost,
  ) {
    this.title = this.retitled();
    this.fold = new Fold(row.key, host, (body) => this.fill(body), this.beginsUnfolded());
    this.head = new Head(this.fold.head);
    this.edits = new EditBar(row.callId, host);
    this.isSeenRunning = row.endedAt === undefined;
    this.child = new ChildView(host);
    this.element = article(row, `Agent, tool: ${this.title.verb}`, host);
    this.element.append(
      make("div", { class: "card" }, this.fold.head, this.tail, this.child.element, this.fold.body, this.edits.element),
    );
    this.update();
  }

  update(): void {
    const { row } = this;
    if (row.arguments !== this.read) this.title = this.retitled();
    const { verb, subject } = this.title;
    this.element.dataset.status = row.status;
    this.element.dataset.call = row.callId;
    this.element.setAttribute("aria-label", `Agent, tool: ${verb} ${subject.slice(0, 80)}, ${WORDS[row.status]}`);
    this.head.set(this.sign(), verb, subject, this.facts());
    this.drawTail();
    if (row.child) this.child.draw(row.child);
    this.drawPlan();
    this.body?.draw();
    this.drawEdits();
    this.tick();
  }

  dispose(): void {
    window.clearTimeout(this.timer);
    this.timer = 0;
  }

  private retitled(): ToolTitle {
    this.read = this.row.arguments;
    return toolTitle(this.row.name, readArguments(this.row.arguments));
  }

  /** Edits show what they change, questions and failures what there is to read; the rest stays quiet. */
  private beginsUnfolded(): boolean {
    return diffOf(this.row.name, {}) !== null || this.row.name === "exit_plan";
  }

  private fill(body: HTMLElement): void {
    this.body = new ToolBody(this.row, this.host, body);
    this.body.draw();
  }

  private sign(): IconName {
    switch (this.row.status) {
      case "failed":
      case "denied":
        return "cross";
      case "stopped":
        return "stop";
      case "asking":
        return "question";
      default:
        return this.title.icon;
    }
  }

  private facts(): string {
    const { row } = this;
    const facts: string[] = [];
    if (row.status === "failed" || row.status === "denied" || row.status === "stopped" || row.status === "asking")
      facts.push(WORDS[row.status]);
    const exit = /\[exit code: ([1-9]\d*)\]\s*$/.exec(row.output.slice(-40))?.[1];
    if (exit !== undefined) facts.push(`exit code ${exit}`);
    const took = this.elapsed();
    if (took >= 500) facts.push(duration(took));
    const why = whyAllowed(row);
    if (why) facts.push(why);
    return facts.join(" · ");
  }

  private elapsed(): number {
    const { startedAt, endedAt, status } = this.row;
    if (!startedAt) return 0;
    if (endedAt) return Date.parse(endedAt) - Date.parse(startedAt);
    return status === "running" && this.host.isRunning() ? Date.now() - Date.parse(startedAt) : 0;
  }

  /** A running call counts its seconds, as long as it is to be seen and the session works. */
  private tick(): void {
    if (this.timer !== 0 || this.row.status !== "running" || !this.host.isRunning()) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      this.update();
    }, 1_000);
  }

  /** The last line of a command, in a place that is kept for it: it changes without moving anything. */
  private drawTail(): void {
    const { row } = this;
    const isShown = this.title.icon === "terminal" && (row.status === "running" || row.endedAt !== undefined);
    show(this.tail, isShown);
    if (!isShown) return;
    setText(this.tail, visibleLine(lastLine(row.output)).slice(-240));
  }

  /** What is to be decided about edits stands in a place that is kept for it from the beginning: nothing below moves. */
  private drawEdits(): void {
    const isKept = this.isSeenRunning && diffOf(this.row.name, {}) !== null;
    this.edits.draw(isKept ? (MADE[this.row.status] ?? "Not made") : undefined);
  }

  private drawPlan(): void {
    if (this.row.name !== "todo_write") return;
    const steps = planSteps(readArguments(this.row.arguments));
    const drawn = planView(steps);
    if (this.plan) this.plan.replaceWith(drawn);
    else this.tail.after(drawn);
    this.plan = drawn;
  }
}

/** The last line that the command wrote; what the tool notes about its end stands in the head. */
function lastLine(output: string): string {
  const lines = output.slice(-2_000).trimEnd().split("\n");
  if (lines.length > 1 && /^\[.*\]$/.test(lines.at(-1) ?? "")) lines.pop();
  return lines.at(-1) ?? "";
}

/** Why a call ran without a question; empty when somebody was asked. */
export function whyAllowed(row: ToolRow): string {
  const { decision } = row;
  if (!decision) return "";
  if (decision.decision === "forbidden") return "forbidden by the policy";
  if (decision.decision !== "allow") return "";
  switch (decision.decided_by) {
    case "rule":
      return `by rule: ${(decision.rule ?? "").slice(0, 60)}`;
    case "mode":
      return "by mode";
    case "policy":
      return "by policy";
    case "default":
      return "by default";
    case "user":
      return "";
  }
}
