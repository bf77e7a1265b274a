/** All of what a call would do: wrapped, nothing cut, characters without a shape spelled out and marked. */

import type { ApproveParams, Preview } from "../../shared/protocol";
import { unified, type DiffLine } from "../cards/diffLines";
import { diffView } from "../cards/diffView";
import { make } from "../markdown/nodes";
import { spans, visible } from "../model/visible";

/** Lines of a diff that are drawn one by one; a longer one is shown as one text, whole too. */
const MOST_LINES = 800;

export function previewOf(params: ApproveParams): HTMLElement {
  const { preview } = params;
  switch (preview?.kind) {
    case "command": {
      const where = make("p", { class: "decision-note" }, "in ", make("code", { text: visible(preview.cwd) }));
      return make("div", { class: "decision-body" }, text("command", "Command", preview.command), where);
    }
    case "edit":
      return edit(preview, params.title);
    case "text":
      return make("div", { class: "decision-body" }, text("output", "What is asked", preview.text));
    case undefined:
      return make("div", { class: "decision-body" }, text("output", "Arguments", params.toolCall.arguments));
  }
}

function edit(preview: Extract<Preview, { kind: "edit" }>, title: string): HTMLElement {
  const lines = unified(preview.diff);
  const changes =
    lines.length > MOST_LINES ? text("output", "Changes", preview.diff) : diffView(withoutFileNames(lines));
  const name = pathOf(preview.uri);
  const isNamed = title.includes(name.split("/").pop() ?? name);
  const note = [preview.created ? "New file" : "", isNamed ? "" : name].filter(Boolean).join(" ");
  const what = note ? make("p", { class: "decision-note", text: note }) : "";
  return make("div", { class: "decision-body", title: name }, what, changes);
}

function text(style: string, label: string, content: string): HTMLElement {
  return make("pre", { class: style, attributes: { tabindex: "0", "aria-label": label } }, ...marked(content));
}

/** The names of the file stand in the title; of several files each is named where it begins. */
function withoutFileNames(lines: readonly DiffLine[]): DiffLine[] {
  const isName = (line: DiffLine): boolean => line.kind === "head" && /^(?:---|\+\+\+) /.test(line.text);
  const areSeveral = lines.filter((line) => line.kind === "head" && line.text.startsWith("+++ ")).length > 1;
  return lines.filter((line) => !isName(line) || (areSeveral && line.text.startsWith("+++ ")));
}

function* marked(content: string): Generator<Node> {
  for (const span of spans(content)) {
    yield span.marked ? make("mark", { class: "control", text: span.text }) : document.createTextNode(span.text);
  }
}

function pathOf(uri: string): string {
  try {
    return visible(decodeURIComponent(new URL(uri).pathname));
  } catch {
    return visible(uri);
  }
}
