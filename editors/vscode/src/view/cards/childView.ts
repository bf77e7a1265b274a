/** What a subagent does, inside of the call that started it: its last steps, and a way to all of them. */

import { button, make, setText } from "../markdown/nodes";
import type { ChildActivity } from "../model/rows";
import type { CardHost } from "./cardHost";
import { count, tokens } from "./figures";

const SHOWN_LINES = 3;

export class ChildView {
  readonly element = make("div", { class: "child" });
  private readonly facts = make("span", { class: "child-facts" });
  private readonly lines = make("ul", { class: "child-lines", attributes: { "aria-label": "What the subagent does" } });
  private sessionId = "";

  constructor(host: CardHost) {
    const open = button("Open conversation", () => host.act({ act: "openSession", sessionId: this.sessionId }), {
      class: "link-button",
    });
    this.element.append(this.lines, make("div", { class: "child-foot" }, this.facts, open));
    this.element.hidden = true;
  }

  draw(child: ChildActivity): void {
    this.element.hidden = false;
    this.sessionId = child.sessionId;
    const shown = child.lines.slice(-SHOWN_LINES);
    // As many lines as there will ever be, so that what stands below does not move with each.
    this.lines.replaceChildren(
      ...shown.map((line) =>
        make("li", { class: `child-line child-${line.kind}${line.done ? "" : " is-open"}`, text: line.text }),
      ),
    );
    const facts = [
      child.running ? "at work" : "",
      count(child.count, "step"),
      child.tokens ? `${tokens(child.tokens)} tokens` : "",
    ];
    setText(this.facts, child.count || child.running ? facts.filter(Boolean).join(" · ") : "a session of its own");
  }
}
