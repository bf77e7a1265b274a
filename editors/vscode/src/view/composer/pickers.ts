/** Model, mode, thinking and approvals of the session. */

import type { Choices } from "../../shared/bridge";
import type { SessionInfo } from "../../shared/protocol";
import { make, show } from "../markdown/nodes";

export type Setting = "model" | "mode" | "thinkingLevel" | "approvalMode";

const APPROVALS: Readonly<Record<string, string>> = {
  "read-only": "Read only",
  plan: "Plan",
  ask: "Ask",
  "auto-edit": "Edit freely",
  "allow-all": "Allow all",
};
const APPROVAL_HINTS: Readonly<Record<string, string>> = {
  "read-only": "Looks, and changes nothing",
  plan: "Looks, and shows a plan first",
  ask: "Asks before each edit and command",
  "auto-edit": "Edits files of the project, asks before commands",
  "allow-all": "Asks for nothing",
};

export class Pickers {
  readonly element: HTMLElement;
  private readonly model = picker("Model");
  private readonly mode = picker("Mode");
  private readonly thinking = picker("Thinking");
  private readonly approvals = picker("Approvals");

  constructor(change: (setting: Setting, value: string) => void) {
    const all = [
      [this.approvals, "approvalMode"],
      [this.model, "model"],
      [this.thinking, "thinkingLevel"],
      [this.mode, "mode"],
    ] as const;
    for (const [select, setting] of all) select.addEventListener("change", () => change(setting, select.value));
    this.element = make(
      "div",
      { class: "pickers", attributes: { role: "group", "aria-label": "Settings of the session" } },
      ...all.map(([select]) => select),
    );
  }

  draw(session: SessionInfo | null, choices: Choices, isTrusted: boolean, isBusy: boolean): void {
    const current = session
      ? `${session.model.provider}/${session.model.model}`
      : choices.defaultModel
        ? `${choices.defaultModel.provider}/${choices.defaultModel.model}`
        : "";
    const models = choices.models.map((model): Option => {
      const value = `${model.provider}/${model.model}`;
      return { value, text: model.hasCredential ? model.model : `${model.model} (no key)`, title: value };
    });
    if (current && !models.some((option) => option.value === current))
      models.unshift({ value: current, text: current.split("/").slice(1).join("/") });
    fill(this.model, models, current, "No model");
    const allowed = choices.approvalModes.filter((mode) => isTrusted || mode === "read-only" || mode === "plan");
    fill(this.approvals, allowed.map((value) => ({ value, text: APPROVALS[value] ?? value, title: APPROVAL_HINTS[value] ?? "" })), session?.approvalMode ?? "", "Approvals"); // prettier-ignore
    this.approvals.title = APPROVAL_HINTS[session?.approvalMode ?? ""] ?? "When the agent asks";
    fill(this.thinking, choices.thinkingLevels.map((value) => ({ value, text: `Thinking: ${value}` })), session?.thinkingLevel ?? "", "Thinking"); // prettier-ignore
    fill(this.mode, choices.modes.map((value) => ({ value, text: value === "native" ? "Native tools" : "Planned loop" })), session?.mode ?? "", "Mode"); // prettier-ignore
    show(this.mode, choices.modes.length > 1);
    this.model.disabled = this.mode.disabled = isBusy;
    this.model.title = isBusy ? "The model can be changed between runs" : current;
  }
}

interface Option {
  readonly value: string;
  readonly text: string;
  readonly title?: string;
}

function picker(name: string): HTMLSelectElement {
  return make("select", { class: "picker", attributes: { "aria-label": name } });
}

function fill(select: HTMLSelectElement, options: readonly Option[], value: string, otherwise: string): void {
  const wanted = options.some((option) => option.value === value)
    ? options
    : [{ value: "", text: otherwise }, ...options];
  const signature = wanted.map((option) => `${option.value}\n${option.text}`).join("\n");
  if (select.dataset.options !== signature) {
    select.dataset.options = signature;
    select.replaceChildren(
      ...wanted.map(({ value: of, text, title }) =>
        make("option", { text, attributes: { value: of }, ...(title ? { title } : {}) }),
      ),
    );
  }
  select.value = options.some((option) => option.value === value) ? value : "";
}
