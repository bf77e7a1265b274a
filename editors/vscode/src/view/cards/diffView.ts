/** Lines of a difference as nodes; every character that would fool the eye is spelled out. */

import { make } from "../markdown/nodes";
import { visible } from "../model/visible";
import type { DiffLine } from "./diffLines";

const SIGNS = { add: "+", remove: "−", same: " ", head: "" } as const;
const NAMES = { add: "added", remove: "removed", same: "", head: "" } as const;

/** The first `most` lines; all of them without. */
export function diffView(lines: readonly DiffLine[], most = Infinity): HTMLElement {
  const shown = most < lines.length ? lines.slice(0, most) : lines;
  const body = shown.map((line) =>
    line.kind === "head" && line.text.startsWith("@@")
      ? make("div", { class: "diff-gap", title: line.text })
      : make(
          "div",
          { class: `diff-line diff-${line.kind}` },
          make("span", {
            class: "diff-sign",
            text: SIGNS[line.kind],
            attributes: NAMES[line.kind] ? { "aria-label": NAMES[line.kind], role: "img" } : { "aria-hidden": "true" },
          }),
          make("span", { class: "diff-text", text: visible(line.text) }),
        ),
  );
  return make("div", { class: "diff", attributes: { role: "group", "aria-label": "Changes", tabindex: "0" } }, ...body);
}
