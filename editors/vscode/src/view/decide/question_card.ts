/** A question of the agent: options to choose from, words of one's own, or no answer. */

import type { OpenQuestion } from "../../shared/bridge";
import { icon } from "../markdown/icons";
import { button, make } from "../markdown/nodes";
import { visible } from "../model/visible";
import type { DecisionHost } from "./approval_card";
import { Grace } from "./grace";
import { isComposing } from "../composer/keys";

export function questionCard(open: OpenQuestion, host: DecisionHost): HTMLElement {
  const { key, params } = open;
  const element = make("div", { class: "decision", attributes: { role: "group", "aria-label": `Question: ${params.question}`, "data-key": key } });
  element.tabIndex = -1;
  const grace = new Grace(element);
  const own = make("input", { class: "reason", attributes: { type: "text", "aria-label": "Your answer", placeholder: "Your own answer" } });
  const options = params.options ?? [];
  const chosen = new Set<string>();
  const answer = (): void => {
    const words = own.value.trim();
    if (!grace.isOver) return;
    if (params.multiple) host.answer(key, [...chosen, ...(words ? [words] : [])]);
    else if (words !== "") host.answer(key, words);
    else own.focus();
  };
  own.addEventListener("keydown", (event) => {
    if (isComposing(event) || event.key !== "Enter") return;
    event.preventDefault();
    answer();
  });
  const pick = (option: string): void => {
    if (grace.isOver) host.answer(key, option);
  };
  element.append(
    make("div", { class: "decision-head" }, icon("question"), make("span", { class: "decision-title", text: visible(params.question) })),
    params.multiple ? make("div", { class: "options" }, ...options.map((option) => check(option, chosen))) : make("div", { class: "buttons options" }, ...options.map((option) => button(option, () => pick(option), { class: "small-button" }))),
    own,
    make("div", { class: "buttons" }, button("Answer", answer, { class: "primary-button" }), button("No answer", () => grace.isOver && host.answer(key, null), { class: "small-button" })),
  );
  return element;
}

function check(option: string, chosen: Set<string>): HTMLElement {
  const box = make("input", { attributes: { type: "checkbox" } });
  box.addEventListener("change", () => (box.checked ? chosen.add(option) : chosen.delete(option)));
  return make("label", { class: "option" }, box, option);
}
