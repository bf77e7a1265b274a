/** What the model says and thinks. */

import type { Card } from "../list/virtualList";
import { GrowingText } from "../markdown/codeBlock";
import { MarkdownView } from "../markdown/markdownView";
import { make, setText, show } from "../markdown/nodes";
import type { AnswerRow, ThinkingRow } from "../model/rows";
import { article, Fold, Head } from "./article";
import type { CardHost } from "./cardHost";
import { duration } from "./figures";

const STOPS: Readonly<Record<string, string>> = {
  failed: "The reply broke off: the request failed.",
  aborted: "Stopped here.",
  timeout: "The reply broke off: nothing came for too long.",
  malformed: "The reply broke off in a form that could not be read.",
  auth: "The reply broke off: the key was refused.",
};

export function answerCard(row: AnswerRow, host: CardHost): Card {
  const view = new MarkdownView(host);
  const stop = make("p", { class: "stop-note" });
  const author = row.part === 0 ? "Agent" : "Agent, continued";
  const element = article(row, author, host, view.element, stop);
  const draw = (): void => {
    view.set(row.text, row.open, row.group.definitions);
    element.dataset.open = String(row.open);
    setText(stop, row.stop ? (STOPS[row.stop] ?? "") : "");
    show(stop, row.stop !== undefined && row.stop !== "completed");
  };
  draw();
  return { element, update: draw, dispose: () => view.dispose() };
}

/** Long thoughts show their end. */
const MOST_CHARS = 40_000;

export function thinkingCard(row: ThinkingRow, host: CardHost): Card {
  let grown: GrowingText | null = null;
  let length = 0;
  const fold = new Fold(row.key, host, (body) => {
    const text = make("div", { class: "thoughts" });
    body.append(text);
    grown = new GrowingText(text);
    const cut = Math.max(0, row.text.length - MOST_CHARS);
    if (cut > 0) body.prepend(make("p", { class: "stop-note", text: "Earlier thoughts are left out here; the transcript has them." }));
    grown.append(row.text.slice(cut));
    length = row.text.length;
  }, host.showThinking()); // prettier-ignore
  const head = new Head(fold.head);
  const element = article(row, "Agent, thinking", host, fold.head, fold.body);
  const draw = (): void => {
    const took = row.endedAt ? duration(Date.parse(row.endedAt) - Date.parse(row.at)) : "";
    const instant = row.endedAt === row.at;
    head.set("thought", row.open ? "Thinking…" : "Thought", "", row.open || instant ? "" : took);
    element.dataset.open = String(row.open);
    if (grown) grown.append(row.text.slice(length));
    if (grown) length = row.text.length;
  };
  draw();
  return { element, update: draw, dispose: () => undefined };
}
