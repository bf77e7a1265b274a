/** The texts that wait, each in one visible state, with what can be done about it. */

import { icon } from "../markdown/icons";
import { button, make, show } from "../markdown/nodes";
import { saidIn } from "../model/userInput";
import type { Entry } from "../model/waiting";

export interface TrayHost {
  takeBack(entry: Entry): void;
  denyAndSend(entry: Entry): void;
}

export class Tray {
  readonly element = make("section", { class: "tray", attributes: { "aria-label": "Texts that wait" } });
  private readonly list = make("ul", { class: "tray-list", attributes: { "aria-label": "Queued" } });
  private readonly kept = new Set<string>();

  constructor(private readonly host: TrayHost) {
    this.element.append(this.list);
    this.element.hidden = true;
  }

  /** `isAsking`: the run waits for a decision of the person's. `isBusy`: something runs. */
  draw(entries: readonly Entry[], isAsking: boolean, isBusy: boolean): void {
    show(this.element, entries.length > 0);
    this.list.replaceChildren(...entries.map((entry) => this.item(entry, isAsking, isBusy)));
  }

  private item(entry: Entry, isAsking: boolean, isBusy: boolean): HTMLElement {
    const waitsForDecision = isAsking && entry.kind === "steer";
    const isAnswered = this.kept.has(entry.id);
    const back = button("Take back", () => this.host.takeBack(entry), { class: "link-button" });
    back.disabled = entry.state === "sending";
    const choices = waitsForDecision && !isAnswered
      ? [
          button("Deny and send this", () => this.host.denyAndSend(entry), { class: "link-button" }),
          button("Keep queued", (event) => this.keep(entry, event), { class: "link-button" }),
        ]
      : []; // prettier-ignore
    const state = make("span", { class: "tray-state", text: stateOf(entry, waitsForDecision, isBusy) });
    const said = saidIn(entry.input);
    const extra = said.images.length + said.files.length;
    const text = `${said.text.slice(0, 300)}${extra > 0 ? ` (+${extra})` : ""}`;
    return make(
      "li",
      { class: "tray-item", attributes: { "data-state": entry.state, "data-kind": entry.kind } },
      make(
        "div",
        { class: "tray-line" },
        icon(entry.kind === "steer" ? "send" : "queue"),
        make("span", { class: "tray-text", text, title: said.text.slice(0, 2_000) }),
      ),
      make("div", { class: "tray-line tray-foot" }, state, ...choices, back),
    );
  }

  private keep(entry: Entry, event: Event): void {
    this.kept.add(entry.id);
    const item = (event.currentTarget as HTMLElement).closest("li");
    for (const choice of item?.querySelectorAll("button") ?? [])
      if (choice.textContent !== "Take back") choice.remove();
  }
}

function stateOf(entry: Entry, waitsForDecision: boolean, isBusy: boolean): string {
  if (entry.state === "sending") return "sending…";
  if (waitsForDecision) return "queued, waits for your decision";
  if (entry.kind === "steer") return "queued, reaches the agent at its next step";
  return isBusy ? "queued for afterwards" : "starting…";
}
