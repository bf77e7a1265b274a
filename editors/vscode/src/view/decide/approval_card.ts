/**
 * A question whether a call may run. It shows all of what would happen and takes no focus; nothing but a press of one of its
 * buttons answers it.
 */

import type { Act, OpenApproval } from "../../shared/bridge";
import type { ApproveParams, ApproveResult, RuleOffer } from "../../shared/protocol";
import { unified, type DiffLine } from "../cards/diff_lines";
import { diffView } from "../cards/diff_view";
import { icon } from "../markdown/icons";
import { button, make, show } from "../markdown/nodes";
import { spans, visible } from "../model/visible";
import { Grace } from "./grace";
import { isComposing } from "../composer/keys";

export interface DecisionHost {
  act(act: Act): void;
  approve(key: string, answer: ApproveResult): void;
  answer(key: string, answer: string | string[] | null): void;
}

/** Lines of a diff that are drawn one by one; a longer one is shown as one text, whole too. */
const MOST_LINES = 800;

export function approvalCard(approval: OpenApproval, host: DecisionHost): HTMLElement {
  const { key, params } = approval;
  const reason = make("input", { class: "reason", attributes: { type: "text", "aria-label": "Reason", placeholder: "Reason (optional)", title: "Told to the agent when you deny" } });
  const element = make("div", { class: "decision", attributes: { role: "group", "aria-label": `Approval needed: ${params.title}`, "data-key": key } });
  element.tabIndex = -1;
  const grace = new Grace(element);
  const answer = (result: ApproveResult): void => {
    if (grace.isOver) host.approve(key, result);
  };
  const deny = (): void => {
    const feedback = reason.value.trim();
    answer(feedback ? { decision: "deny", feedback } : { decision: "deny" });
  };
  reason.addEventListener("keydown", (event) => {
    if (isComposing(event) || event.key !== "Enter") return;
    event.preventDefault();
    deny();
  });
  const rules = ruleMenu(params.remember ?? [], (offer) => answer({ decision: "allow", remember: { scope: offer.scope, rule: offer.rule } }));
  element.append(
    make("div", { class: "decision-head" }, icon("question"), make("span", { class: "decision-title", text: visible(params.title) })),
    origin(params),
    preview(params),
    make(
      "div",
      { class: "decision-actions" },
      rules?.menu ?? "",
      make(
        "div",
        { class: "buttons" },
        button("Allow", () => answer({ decision: "allow" }), { class: "primary-button" }),
        rules?.opener ?? "",
        button("Deny", deny, { class: "small-button" }),
        openDiff(key, params, host),
      ),
      reason,
    ),
  );
  return element;
}

function origin(params: ApproveParams): HTMLElement | string {
  return params.origin?.length ? make("p", { class: "decision-note", text: "A subagent asks." }) : "";
}

/** All of it: wrapped, nothing cut, characters without a shape spelled out and marked. */
function preview(params: ApproveParams): HTMLElement {
  const { preview: shown } = params;
  switch (shown?.kind) {
    case "command":
      return make(
        "div",
        { class: "decision-body" },
        make("pre", { class: "command", attributes: { tabindex: "0", "aria-label": "Command" } }, ...marked(shown.command)),
        make("p", { class: "decision-note" }, "in ", make("code", { text: visible(shown.cwd) })),
      );
    case "edit": {
      const lines = unified(shown.diff);
      const isLong = lines.length > MOST_LINES;
      const changes = isLong ? make("pre", { class: "output", text: visible(shown.diff), attributes: { tabindex: "0", "aria-label": "Changes" } }) : diffView(withoutFileNames(lines));
      const name = pathOf(shown.uri);
      const isNamed = params.title.includes(name.split("/").pop() ?? name);
      const note = [shown.created ? "New file" : "", isNamed ? "" : name].filter(Boolean).join(" ");
      return make("div", { class: "decision-body", title: name }, note ? make("p", { class: "decision-note", text: note }) : "", changes);
    }
    case "text":
      return make("div", { class: "decision-body" }, make("pre", { class: "output", attributes: { tabindex: "0", "aria-label": "What is asked" } }, ...marked(shown.text)));
    case undefined:
      return make("div", { class: "decision-body" }, make("pre", { class: "output", attributes: { tabindex: "0", "aria-label": "Arguments" } }, ...marked(params.toolCall.arguments)));
  }
}

/** The names of the file stand in the title; of several files each is named where it begins. */
function withoutFileNames(lines: readonly DiffLine[]): DiffLine[] {
  const isName = (line: DiffLine): boolean => line.kind === "head" && /^(?:---|\+\+\+) /.test(line.text);
  const areSeveral = lines.filter((line) => line.kind === "head" && line.text.startsWith("+++ ")).length > 1;
  return lines.filter((line) => !isName(line) || (areSeveral && line.text.startsWith("+++ ")));
}

function* marked(text: string): Generator<Node> {
  for (const span of spans(text)) {
    yield span.marked ? make("mark", { class: "control", text: span.text }) : document.createTextNode(span.text);
  }
}

function openDiff(key: string, params: ApproveParams, host: DecisionHost): HTMLElement | string {
  const { preview: shown, title } = params;
  if (shown?.kind !== "edit") return "";
  return button("Open diff", () => host.act({ act: "openDiff", key, uri: shown.uri, diff: shown.diff, title }), { class: "link-button" });
}

/** The rules that may be taken with an *allow*, narrowest first; none is chosen before somebody does. */
function ruleMenu(offers: readonly RuleOffer[], take: (offer: RuleOffer) => void): { opener: HTMLElement; menu: HTMLElement } | null {
  if (offers.length === 0) return null;
  const items = offers.map((offer) => button(`Allow ${offer.label}`, () => take(offer), { class: "menu-item", attributes: { role: "menuitem", tabindex: "-1" } }, offer.label));
  const menu = make("div", { class: "menu", attributes: { role: "menu", "aria-label": "Allow for…" } }, ...items);
  menu.tabIndex = -1;
  menu.hidden = true;
  const opener = button("Allow for…", () => open(menu.hidden !== false), { class: "small-button", attributes: { "aria-haspopup": "menu", "aria-expanded": "false" } });
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

function pathOf(uri: string): string {
  try {
    return visible(decodeURIComponent(new URL(uri).pathname));
  } catch {
    return visible(uri);
  }
}
