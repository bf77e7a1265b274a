import { NEW_SESSION_DRAFT, type Draft } from "../../shared/bridge";
import type { Kept } from "../kept";

/** What was written and not sent, by session. */
export class Drafts {
  readonly #kept: Kept;

  constructor(kept: Kept) {
    this.#kept = kept;
  }

  get(session: string | undefined): Draft {
    const kept = this.#kept.get(name(session)) as Partial<Draft> | undefined;
    return { text: kept?.text ?? "", attachments: kept?.attachments ?? [] };
  }

  /** Keeps a draft; an empty one is nothing. */
  set(session: string | undefined, draft: Draft): void {
    const isEmpty = draft.text === "" && draft.attachments.length === 0;
    this.#kept.set(name(session), isEmpty ? undefined : draft);
  }
}

function name(session: string | undefined): string {
  return `draft:${session ?? NEW_SESSION_DRAFT}`;
}
