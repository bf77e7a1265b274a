/** What `@` and `/` offer while they are typed: a list below the field that never takes the focus. */

import { make, show } from "../markdown/nodes";

export interface Offer {
  readonly label: string;
  readonly detail: string;
  take(): void;
}

/** What is being completed: from `start` up to the caret. */
export interface Trigger {
  readonly kind: "mention" | "command";
  readonly query: string;
  readonly start: number;
}

/** The mention or command before the caret, if one is being typed. Pure. */
export function triggerAt(text: string, caret: number): Trigger | null {
  const before = text.slice(0, caret);
  const command = /^\s*\/([\w.:-]*)$/.exec(before);
  if (command) return { kind: "command", query: command[1] ?? "", start: before.indexOf("/") };
  const mention = /(?:^|[\s(,])@([^\s@]*)$/.exec(before);
  if (mention) return { kind: "mention", query: mention[1] ?? "", start: caret - (mention[1] ?? "").length - 1 };
  return null;
}

export class Completion {
  readonly element = make("ul", {
    class: "offers",
    attributes: { role: "listbox", id: "offers", "aria-label": "Suggestions" },
  });
  private offers: readonly Offer[] = [];
  private active = 0;

  constructor(private readonly field: HTMLTextAreaElement) {
    this.element.hidden = true;
    // The field keeps the focus when an offer is clicked.
    this.element.addEventListener("mousedown", (event) => event.preventDefault());
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  set(offers: readonly Offer[]): void {
    this.offers = offers;
    this.active = 0;
    show(this.element, offers.length > 0);
    this.element.replaceChildren(...offers.map((offer, index) => this.item(offer, index)));
    this.mark();
  }

  close(): void {
    this.set([]);
  }

  /** Whether the key was meant for the list. */
  key(event: KeyboardEvent): boolean {
    if (!this.isOpen) return false;
    switch (event.key) {
      case "ArrowDown":
        this.active = (this.active + 1) % this.offers.length;
        break;
      case "ArrowUp":
        this.active = (this.active + this.offers.length - 1) % this.offers.length;
        break;
      case "Enter":
      case "Tab":
        this.offers[this.active]?.take();
        return true;
      case "Escape":
        this.close();
        return true;
      default:
        return false;
    }
    this.mark();
    return true;
  }

  private item(offer: Offer, index: number): HTMLElement {
    const label = make("span", { class: "offer-label", text: offer.label });
    const detail = make("span", { class: "offer-detail", text: offer.detail });
    return make(
      "li",
      {
        class: "offer",
        attributes: { role: "option", id: `offer-${index}`, "aria-selected": "false" },
        on: { click: () => offer.take() },
      },
      label,
      detail,
    );
  }

  private mark(): void {
    for (const [index, item] of [...this.element.children].entries()) {
      item.setAttribute("aria-selected", String(index === this.active));
      if (index === this.active) item.scrollIntoView({ block: "nearest" });
    }
    if (this.isOpen) this.field.setAttribute("aria-activedescendant", `offer-${this.active}`);
    else this.field.removeAttribute("aria-activedescendant");
  }
}
