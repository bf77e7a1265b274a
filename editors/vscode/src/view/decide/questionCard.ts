/** A question of the agent: options to choose from, words of one's own, or no answer. */

import type { OpenQuestion } from "../../shared/bridge";
import { button, make } from "../markdown/nodes";
import type { DecisionHost } from "./approvalCard";
import { decisionField, decisionFrame } from "./frame";
import { Grace } from "./grace";

export function questionCard({ key, params }: OpenQuestion, host: DecisionHost): HTMLElement {
  const element = decisionFrame(key, `Question: ${params.question}`, params.question);
  const grace = new Grace(element);
  const chosen = new Set<string>();
  const tell = (answer: string | string[] | null): void => {
    if (grace.isOver) host.answer(key, answer);
  };
  const answer = (): void => {
    const words = own.value.trim();
    if (params.multiple) tell([...chosen, ...(words ? [words] : [])]);
    else if (words !== "") tell(words);
    else own.focus();
  };
  const own: HTMLInputElement = decisionField("Your answer", "Your own answer", answer);
  const options = (params.options ?? []).map((option) =>
    params.multiple ? check(option, chosen) : button(option, () => tell(option), { class: "small-button" }),
  );
  const give = button("Answer", answer, { class: "primary-button" });
  const refuse = button("No answer", () => tell(null), { class: "small-button" });
  element.append(
    make("div", { class: params.multiple ? "options" : "buttons options" }, ...options),
    own,
    make("div", { class: "buttons" }, give, refuse),
  );
  return element;
}

function check(option: string, chosen: Set<string>): HTMLElement {
  const box = make("input", { attributes: { type: "checkbox" } });
  box.addEventListener("change", () => (box.checked ? chosen.add(option) : chosen.delete(option)));
  return make("label", { class: "option" }, box, option);
}
