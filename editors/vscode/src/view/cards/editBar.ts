/** Keep and Undo for the edits of one call, and how they stand. */

import { button, make, setText, show } from "../markdown/nodes";
import type { EditInfo } from "../../shared/protocol";
import type { CardHost } from "./cardHost";
import { count } from "./figures";

export class EditBar {
  readonly element = make("div", {
    class: "edit-bar",
    attributes: { role: "group", "aria-label": "Edits of this call" },
  });
  private readonly state = make("span", { class: "edit-state" });
  private readonly keep: HTMLButtonElement;
  private readonly undo: HTMLButtonElement;
  private readonly open: HTMLButtonElement;

  constructor(
    private readonly callId: string,
    private readonly host: CardHost,
  ) {
    this.keep = button("Keep", () => host.decideEdits(this.standing(), "keep"), { class: "small-button" });
    this.undo = button("Undo", () => host.decideEdits(this.standing(), "undo"), { class: "small-button" });
    this.open = button("Show in file", () => this.goTo(), { class: "link-button" });
    this.element.append(this.state, this.open, make("span", { class: "edit-choices" }, this.keep, this.undo));
  }

  /** `otherwise`: what stands there while no edits are known; without it there is no bar then. */
  draw(otherwise?: string): void {
    const edits = this.host.edits(this.callId);
    show(this.element, edits.length > 0 || otherwise !== undefined);
    const isStanding = this.standing().length > 0;
    reveal(this.keep, isStanding);
    reveal(this.undo, isStanding);
    reveal(this.open, edits.length > 0);
    setText(this.state, edits.length > 0 ? words(edits) : (otherwise ?? ""));
    this.element.dataset.state = isStanding ? "pending" : (edits[0]?.state ?? "");
  }

  private standing(): EditInfo[] {
    return this.host.edits(this.callId).filter((edit) => edit.state === "pending");
  }

  private goTo(): void {
    const [first] = this.host.edits(this.callId);
    if (first) this.host.act({ act: "openFile", uri: first.uri, range: first.range });
  }
}

/** Shows or hides something whose place is kept. */
function reveal(element: HTMLElement, isShown: boolean): void {
  element.style.visibility = isShown ? "" : "hidden";
}

/** How edits stand, with the reason where one could not be undone. */
export function words(edits: readonly EditInfo[]): string {
  const refused = edits.find((edit) => edit.reason !== undefined);
  if (refused?.reason) return `Not undone: ${refused.reason}`;
  const number = (state: EditInfo["state"]): number => edits.filter((edit) => edit.state === state).length;
  const pending = number("pending");
  if (pending > 0) return count(pending, "edit") + " to decide";
  if (number("undone") === edits.length) return "Undone";
  if (number("kept") === edits.length) return "Kept";
  if (number("changed") > 0) return "Changed since, so it cannot be undone here";
  return "Decided";
}
