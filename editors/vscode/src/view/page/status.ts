/** The one region that is read aloud: three kinds of sentences, never the text of an answer. */

import { make } from "../markdown/nodes";

export class Status {
  readonly element = make("div", {
    class: "sr-only",
    attributes: { role: "status", "aria-live": "polite", "aria-atomic": "true" },
  });

  answerComplete(): void {
    this.say("answer complete");
  }

  approvalNeeded(title: string): void {
    this.say(`approval needed: ${title}`);
  }

  toolFailed(title: string): void {
    this.say(`tool failed: ${title}`);
  }

  private say(sentence: string): void {
    // The same sentence twice has to be a change, or it is not read again.
    this.element.textContent = this.element.textContent === sentence ? `${sentence} ` : sentence;
  }
}
