/** What an empty session shows: what this is, and a few ways to begin. */

import { icon } from "../markdown/icons";
import { button, make } from "../markdown/nodes";

const BEGINNINGS = [
  "Explain how this project is built",
  "Find a bug and fix it",
  "Add tests for the code I am editing",
] as const;

export function welcome(begin: (text: string) => void): HTMLElement {
  return make(
    "div",
    { class: "welcome" },
    make("div", { class: "welcome-sign" }, icon("agent")),
    make("p", { class: "welcome-title", text: "What shall we do?" }),
    make("p", {
      class: "welcome-text",
      text: "The agent reads and changes this project. It asks before it acts, and its edits can be undone.",
    }),
    make(
      "div",
      { class: "welcome-list" },
      ...BEGINNINGS.map((text) => button(text, () => begin(text), { class: "welcome-item" })),
    ),
    make("p", { class: "welcome-hint", text: "@ mentions files, / lists commands" }),
  );
}
