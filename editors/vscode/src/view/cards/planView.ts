/** The steps of a plan. */

import { icon } from "../markdown/icons";
import { make } from "../markdown/nodes";
import type { PlanStep } from "../model/toolTitles";

const MOST_STEPS = 40;
const NAMES = { done: "done", in_progress: "in progress", pending: "to do" } as const;

export function planView(steps: readonly PlanStep[]): HTMLElement {
  const items = steps
    .slice(0, MOST_STEPS)
    .map((step) =>
      make(
        "li",
        { class: `step step-${step.status}` },
        make(
          "span",
          { class: "step-sign", attributes: { role: "img", "aria-label": NAMES[step.status] } },
          icon(step.status === "done" ? "check" : "dot"),
        ),
        make("span", { text: step.text }),
      ),
    );
  if (steps.length > MOST_STEPS)
    items.push(make("li", { class: "step", text: `… and ${steps.length - MOST_STEPS} more` }));
  return make("ul", { class: "plan", attributes: { "aria-label": "Plan" } }, ...items);
}
