import { NEW_SESSION_DRAFT, type Draft } from "../../shared/bridge";
import type { Memento } from "vscode";

const EMPTY: Draft = { text: "", attachments: [] };

/** What was written and not sent, by session, in the storage of the workspace. */
export class Drafts {
  readonly #storage: Memento;

  constructor(storage: Memento) {
    this.#storage = storage;
  }

  get(session: string | undefined): Draft {
    const kept = this.#storage.get<Partial<Draft>>(name(session));
    return { text: kept?.text ?? EMPTY.text, attachments: kept?.attachments ?? EMPTY.attachments };
  }

  /** Keeps a draft; an empty one is nothing. */
  async set(session: string | undefined, draft: Draft): Promise<void> {
    const isEmpty = draft.text === "" && draft.attachments.length === 0;
    await this.#storage.update(name(session), isEmpty ? undefined : draft);
  }
}

function name(session: string | undefined): string {
  return `draft:${session ?? NEW_SESSION_DRAFT}`;
}
