/** What the engine does by itself, each with the reason and what can be done about it. */

import type { Cut, CutBy } from "../../shared/bridge";
import type { McpServerResult } from "../../shared/protocol";
import type { Card } from "../list/virtualList";
import { icon } from "../markdown/icons";
import { MarkdownView } from "../markdown/markdownView";
import { button, make, setText, show } from "../markdown/nodes";
import type { CompactionRow, EndRow, ErrorRow, McpRow, NoteRow, RetryRow } from "../model/rows";
import { article, Fold, Head } from "./article";
import type { CardHost } from "./cardHost";
import { remedyOf, why } from "./causes";
import { count, duration, money, tokens } from "./figures";

export function retryCard(row: RetryRow, host: CardHost): Card {
  const text = make("span", { class: "notice-title" });
  const left = make("span", { class: "countdown", attributes: { "data-testid": "countdown" } });
  const buttons = retryButtons(host);
  const cause = make("p", { class: "cause", text: row.message });
  const card = make(
    "div",
    { class: "card notice" },
    make("div", { class: "notice-head" }, icon("retry"), text, left),
    cause,
    buttons,
  );
  const element = article(row, "Agent, waiting to try again", host, card);
  let timer = 0;
  const draw = (): void => {
    window.clearTimeout(timer);
    const isWaiting = row.state === "waiting" && host.isRunning();
    element.dataset.state = row.state;
    const after = row.state === "gaveUp" ? "given up" : "tried again";
    setText(
      text,
      isWaiting
        ? `Attempt ${row.attempt} failed: ${why(row.status, row.message)}`
        : `Attempt ${row.attempt} failed (${why(row.status, row.message)}), ${after}`,
    );
    const seconds = Math.max(0, Math.ceil((row.dueAt - Date.now()) / 1_000));
    setText(left, isWaiting ? `again in ${seconds} s` : "");
    show(buttons, isWaiting);
    show(cause, row.message !== "");
    if (isWaiting && seconds > 0) timer = window.setTimeout(draw, (row.dueAt - Date.now()) % 1_000 || 1_000);
  };
  draw();
  return { element, update: draw, dispose: () => window.clearTimeout(timer) };
}

function retryButtons(host: CardHost): HTMLElement {
  const now = (): void => void host.request("agent/retryNow", { sessionId: host.sessionId() });
  const stop = (): void => {
    void host.request("agent/abort", { sessionId: host.sessionId(), reason: "given up by the user" });
  };
  const style = { class: "small-button" };
  return make("div", { class: "buttons" }, button("Retry now", now, style), button("Give up", stop, style));
}

const REASONS: Readonly<Record<CompactionRow["reason"], string>> = {
  context: "the context is nearly full",
  turns: "there were many turns",
  manual: "you asked for it",
  history: "the history was long",
};

export function compactionCard(row: CompactionRow, host: CardHost): Card {
  let view: MarkdownView | null = null;
  const fold = new Fold(row.key, host, (body) => {
    view = new MarkdownView(host);
    body.append(view.element);
    view.set(row.summary || "There is no summary.", false, "");
  }, false); // prettier-ignore
  const head = new Head(fold.head);
  const element = article(row, "Agent, compaction", host, make("div", { class: "card" }, fold.head, fold.body));
  const draw = (): void => {
    element.dataset.status = row.status;
    const sizes = [row.before === undefined ? "" : tokens(row.before), row.after === undefined ? "" : tokens(row.after)]
      .filter(Boolean)
      .join(" → ");
    const done = row.mode === "discard" ? "Started afresh" : "Compacted";
    const verb =
      row.status === "running" ? "Compacting…" : row.status === "completed" ? done : `Compaction ${row.status}`;
    head.set("compact", verb, row.message ?? `because ${REASONS[row.reason]}`, sizes && `${sizes} tokens`);
    view?.set(row.summary || "There is no summary.", row.status === "running", "");
  };
  draw();
  return { element, update: draw, dispose: () => view?.dispose() };
}

export function mcpCard(row: McpRow, host: CardHost): Card {
  const lines = make("ul", { class: "servers" });
  const element = article(row, "Tool servers", host, make("div", { class: "card quiet" }, lines));
  const draw = (): void => {
    lines.replaceChildren(...row.servers.map((server) => {
      const result = row.results?.find((one) => one.server === server);
      const state = result || row.results ? mcpState(result) : "connecting…";
      return make("li", { class: `server ${state.startsWith("failed") ? "is-failed" : ""}` }, icon("server"), make("span", { class: "verb", text: server }), make("span", { class: "subject", text: state }));
    })); // prettier-ignore
  };
  draw();
  return { element, update: draw, dispose: () => undefined };
}

/** How a server of tools is; one that nobody has tried to reach is off. */
function mcpState(result: McpServerResult | undefined): string {
  switch (result?.status) {
    case undefined:
      return "off";
    case "completed":
      return `ready, ${count(result.tools ?? 0, "tool")}`;
    case "aborted":
      return result.error ? `off: ${result.error}` : "off";
    default:
      return `failed: ${result?.error ?? result?.status ?? ""}`;
  }
}

export function noteCard(row: NoteRow, host: CardHost): Card {
  if (row.body === "") {
    const element = article(row, "Note", host, make("div", { class: "note-line" }, icon("note"), row.title));
    return { element, update: () => undefined, dispose: () => undefined };
  }
  const fold = new Fold(
    row.key,
    host,
    (body) => body.append(make("pre", { class: "output", text: row.body.slice(0, 20_000) })),
    false,
  );
  new Head(fold.head).set("note", row.title, "", "");
  return {
    element: article(row, "Note to the agent", host, fold.head, fold.body),
    update: () => undefined,
    dispose: () => undefined,
  };
}

export function errorCard(row: ErrorRow, host: CardHost): Card {
  const remedy = remedyOf(row, host);
  const card = make(
    "div",
    { class: "card notice is-error" },
    make(
      "div",
      { class: "notice-head" },
      icon("warning"),
      make("span", { class: "notice-title", text: `The request failed: ${why(row.status, row.message)}` }),
      row.attempts > 1 && make("span", { class: "countdown", text: `after ${row.attempts} attempts` }),
    ),
    row.message !== "" && make("p", { class: "cause", text: row.message }),
    make("p", { text: remedy.text }),
    remedy.buttons.length > 0 && make("div", { class: "buttons" }, ...remedy.buttons),
  );
  return { element: article(row, "Error", host, card), update: () => undefined, dispose: () => undefined };
}

const ENDINGS: Readonly<Record<EndRow["status"], string>> = {
  completed: "Completed",
  aborted: "Stopped",
  failed: "Failed",
  timeout: "Timed out",
  malformed: "Ended: the replies could not be read",
  auth: "Ended: the key was refused",
  max_turns: "Ended at the limit of turns",
};

const CUTS: Readonly<Record<CutBy, string>> = {
  window: "The window was closed or reloaded while this ran.",
  crash: "The server crashed while this ran.",
  restart: "The server was ended while this ran.",
};

/** Why a run was cut off, and what is void because of it. */
function cutWords({ by, asked }: Cut): string {
  const open = asked
    .map((title) => ` What waited for your decision is void, nothing of it was done: ${title}.`)
    .join("");
  return CUTS[by] + open;
}

export function endCard(row: EndRow, host: CardHost): Card {
  const text = make("span", { class: "end-text" });
  const ended = make("p", { class: "end-note" });
  const standing = (): ReturnType<CardHost["runEdits"]> =>
    host.runEdits(row.runId).filter((edit) => edit.state === "pending");
  const keep = button("Keep all", () => host.decideEdits(standing(), "keep"), { class: "small-button" });
  const undo = button("Undo all", () => host.decideEdits(standing(), "undo"), { class: "small-button" });
  const edits = make("span", { class: "end-edits" });
  const bar = make(
    "div",
    { class: "buttons", attributes: { role: "group", "aria-label": "Edits of this run" } },
    edits,
    keep,
    undo,
  );
  const goOn = button("Continue", () => host.goOn(), { class: "primary-button end-go-on" });
  const element = article(row, "End of the run", host, make("div", { class: "end-line" }, text), ended, goOn, bar);
  const draw = (): void => {
    element.dataset.status = row.status;
    const facts = [row.cut ? "Cut off" : ENDINGS[row.status]];
    if (row.turns > 0) facts.push(count(row.turns, "turn"), `${tokens(row.tokens)} tokens`);
    if (row.durationMs >= 500) facts.push(duration(row.durationMs));
    if (row.cost !== undefined && host.showCost()) facts.push(money(row.cost));
    setText(text, facts.join(" · "));
    const what = row.ended.length > 0 ? `Ended with it: ${row.ended.join(", ")}.` : "";
    const words = [row.cut ? cutWords(row.cut) : "", what, row.note ?? ""].filter(Boolean).join(" ");
    setText(ended, words);
    show(ended, words !== "");
    show(goOn, row.cut !== undefined && !host.isRunning());
    const pending = standing();
    show(bar, pending.length > 0);
    setText(edits, `${count(pending.length, "edit")} to decide`);
  };
  draw();
  return { element, update: draw, dispose: () => undefined };
}
