/**
 * A question whether a call may run. It shows all of what would happen and takes no focus; nothing but a press of one of its
 * buttons answers it.
 */

import type { Act, OpenApproval } from "../../shared/bridge";
import type { ApproveParams, ApproveResult, RuleOffer } from "../../shared/protocol";
import { button, make, show } from "../markdown/nodes";
import { decisionField, decisionFrame } from "./frame";
import { Grace } from "./grace";
import { previewOf } from "./preview";

export interface DecisionHost {
  act(act: Act): void;
  approve(key: string, answer: ApproveResult): void;
  answer(key: string, answer: string | string[] | null): void;
}

export function approvalCard(approval: OpenApproval, host: DecisionHost): HTMLElement {
  const { key, params } = approval;
  const element = decisionFrame(key, `Approval needed: ${params.title}`, params.title);
  const grace = new Grace(element);
  const answer = (result: ApproveResult): void => {
    if (grace.isOver) host.approve(key, result);
  };
  const deny = (): void => {
    const feedback = reason.value.trim();
    answer(feedback ? { decision: "deny", feedback } : { decision: "deny" });
  };
  const reason: HTMLInputElement = decisionField("Reason", "Reason (optional)", deny);
  reason.title = "Told to the agent when you deny";
  const rules = ruleMenu(params.remember ?? [], ({ scope, rule }) =>
    answer({ decision: "allow", remember: { scope, rule } }),
  );
  const buttons = [
    button("Allow", () => answer({ decision: "allow" }), { class: "primary-button" }),
    rules?.opener ?? "",
    button("Deny", deny, { class: "small-button" }),
    openDiff(key, params, host),
  ];
  const actions = make("div", { class: "decision-actions" }, rules?.menu ?? "", make("div", { class: "buttons" }, ...buttons), reason); // prettier-ignore
  const asker = params.origin?.length ? make("p", { class: "decision-note", text: "A subagent asks." }) : "";
  element.append(asker, previewOf(params), actions);
  return element;
}

function openDiff(key: string, params: ApproveParams, host: DecisionHost): HTMLElement | string {
  const { preview, title } = params;
  if (preview?.kind !== "edit") return "";
  const { uri, diff } = preview;
  return button("Open diff", () => host.act({ act: "openDiff", key, uri, diff, title }), { class: "link-button" });
}

/** The rules that may be taken with an *allow*, narrowest first; none is chosen before somebody does. */
function ruleMenu(
  offers: readonly RuleOffer[],
  take: (offer: RuleOffer) => void,
): { opener: HTMLElement; menu: HTMLElement } | null {
  if (offers.length === 0) return null;
  const items = offers.map((offer) =>
    button(
      `Allow ${offer.label}`,
      () => take(offer),
      { class: "menu-item", attributes: { role: "menuitem", tabindex: "-1" } },
      offer.label,
    ),
  );
  const menu = make("div", { class: "menu", attributes: { role: "menu", "aria-label": "Allow for…" } }, ...items);
  menu.tabIndex = -1;
  menu.hidden = true;
  const opener = button("Allow for…", () => open(menu.hidden !== false), {
    class: "small-button",
    attributes: { "aria-haspopup": "menu", "aria-expanded": "false" },
  });
  const open = (isOpen: boolean): void => {
    show(menu, isOpen);
    opener.setAttribute("aria-expanded", String(isOpen));
    // No rule is focused by itself: none is taken before somebody goes to it.
    (isOpen ? menu : opener).focus();
  };
  menu.addEventListener("keydown", (event) => {
    const at = items.indexOf(document.activeElement as HTMLButtonElement);
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) items[at < 0 && step < 0 ? items.length - 1 : (at + step + items.length) % items.length]?.focus();
    else if (event.key === "Escape") open(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return { opener, menu };
}
