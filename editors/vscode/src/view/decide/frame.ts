/** What approvals and questions have in common: a group with a title, and a field that Enter answers. */

import { isComposing } from "../composer/keys";
import { icon } from "../markdown/icons";
import { make } from "../markdown/nodes";
import { visible } from "../model/visible";

/** The group of one decision; it can be focused, and takes the focus only when somebody puts it there. */
export function decisionFrame(key: string, label: string, title: string): HTMLElement {
  const head = make(
    "div",
    { class: "decision-head" },
    icon("question"),
    make("span", { class: "decision-title", text: visible(title) }),
  );
  const attributes = { role: "group", "aria-label": label, "data-key": key };
  const element = make("div", { class: "decision", attributes }, head);
  element.tabIndex = -1;
  return element;
}

/** A line of text; `enter`: Enter was pressed, and no input method composes. */
export function decisionField(label: string, placeholder: string, enter: () => void): HTMLInputElement {
  const field = make("input", { class: "reason", attributes: { type: "text", "aria-label": label, placeholder } });
  field.addEventListener("keydown", (event) => {
    if (isComposing(event) || event.key !== "Enter") return;
    event.preventDefault();
    enter();
  });
  return field;
}
