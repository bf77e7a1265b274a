/** What waits for the person, between the conversation and the composer, so that it is to be seen wherever one reads. */

import type { OpenApproval, OpenQuestion } from "../../shared/bridge";
import { make, show } from "../markdown/nodes";
import { approvalCard, type DecisionHost } from "./approvalCard";
import { questionCard } from "./questionCard";

export class Dock {
  readonly element = make("section", { class: "dock", attributes: { "aria-label": "Waits for you" } });
  private readonly cards = new Map<string, HTMLElement>();
  private readonly approvals = new Map<string, OpenApproval>();

  /** `closed`: a card that had the focus is gone. */
  constructor(
    private readonly host: DecisionHost,
    private readonly closed: () => void,
  ) {
    this.element.hidden = true;
  }

  get openApprovals(): readonly OpenApproval[] {
    return [...this.approvals.values()];
  }

  approval(approval: OpenApproval): void {
    if (this.cards.has(approval.key)) return;
    this.approvals.set(approval.key, approval);
    this.add(approval.key, approvalCard(approval, this.host));
  }

  question(question: OpenQuestion): void {
    if (!this.cards.has(question.key)) this.add(question.key, questionCard(question, this.host));
  }

  /** It was answered, here or elsewhere, or is not needed any more. */
  close(key: string): void {
    const card = this.cards.get(key);
    const hadFocus = card?.contains(document.activeElement) ?? false;
    card?.remove();
    this.cards.delete(key);
    this.approvals.delete(key);
    show(this.element, this.cards.size > 0);
    if (hadFocus) this.closed();
  }

  clear(): void {
    for (const key of [...this.cards.keys()]) this.close(key);
  }

  /** The only way in by keyboard: asked for by the person. Whether there is something. */
  focus(): boolean {
    const [first] = this.cards.values();
    first?.focus();
    return first !== undefined;
  }

  private add(key: string, card: HTMLElement): void {
    this.cards.set(key, card);
    this.element.append(card);
    show(this.element, true);
  }
}
