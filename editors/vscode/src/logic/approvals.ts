/**
 * The approvals and questions that wait for the person.
 *
 *     put ──▶ open ──▶ answered     an answer that counts: not within 300 ms of its appearance where it was given
 *               ╰────▶ withdrawn    the server has cancelled it, or is gone
 *
 * The book holds no promise and no clock: whoever puts something gets its ending by `settled`.
 */

import { DECISION_GRACE_MS } from "../shared/bridge";
import type { ApproveParams, ApproveResult, AskParams, AskResult } from "../shared/protocol";

/** Where something was shown, and where an answer comes from. */
export type Surface = "view" | "notification" | "keyboard";

interface Waiting<Kind extends string, Params, Result> {
  readonly kind: Kind;
  /** The book's own name for it. */
  readonly key: string;
  readonly params: Params;
  /** Called once: with the answer, or undefined when it was withdrawn. */
  readonly settled: (result: Result | undefined) => void;
}

export type WaitingApproval = Waiting<"approval", ApproveParams, ApproveResult>;
export type WaitingQuestion = Waiting<"question", AskParams, AskResult>;
export type Pending = WaitingApproval | WaitingQuestion;

/** What became of an answer. `early`: it came before the person can have read what it was about. */
export type Verdict = "accepted" | "early" | "unknown";

export class ApprovalBook {
  readonly #open = new Map<string, Pending>();
  readonly #shown = new Map<string, Map<Surface, number>>();
  readonly #now: () => number;
  #made = 0;

  /** `now`: milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** What waits, oldest first. */
  get pending(): readonly Pending[] {
    return [...this.#open.values()];
  }

  get(key: string): Pending | undefined {
    return this.#open.get(key);
  }

  /** Opens an approval. */
  putApproval(params: ApproveParams, settled: WaitingApproval["settled"]): WaitingApproval {
    const waiting: WaitingApproval = { kind: "approval", key: this.#newKey(), params, settled };
    this.#open.set(waiting.key, waiting);
    return waiting;
  }

  /** Opens a question. */
  putQuestion(params: AskParams, settled: WaitingQuestion["settled"]): WaitingQuestion {
    const waiting: WaitingQuestion = { kind: "question", key: this.#newKey(), params, settled };
    this.#open.set(waiting.key, waiting);
    return waiting;
  }

  /** Notes that it can be seen there from now on, each time it appears anew. Returns that moment. */
  appeared(key: string, surface: Surface): number {
    const now = this.#now();
    const shown = this.#shown.get(key) ?? new Map<Surface, number>();
    shown.set(surface, now);
    this.#shown.set(key, shown);
    return now;
  }

  /** Whether anybody can have seen it. */
  wasShown(key: string): boolean {
    return this.#shown.has(key);
  }

  /** Answers an approval, from where it was given. */
  decide(key: string, answer: ApproveResult, from: Surface): Verdict {
    const waiting = this.#open.get(key);
    if (waiting?.kind !== "approval") {
      return "unknown";
    }
    if (this.#isEarly(key, from)) {
      return "early";
    }
    this.#close(waiting);
    waiting.settled(answer);
    return "accepted";
  }

  /** Answers a question, from where it was given. */
  reply(key: string, answer: AskResult["answer"], from: Surface): Verdict {
    const waiting = this.#open.get(key);
    if (waiting?.kind !== "question") {
      return "unknown";
    }
    if (this.#isEarly(key, from)) {
      return "early";
    }
    this.#close(waiting);
    waiting.settled({ answer });
    return "accepted";
  }

  /** Takes it away unanswered; whether it was still open. */
  withdraw(key: string): boolean {
    const waiting = this.#open.get(key);
    if (waiting === undefined) {
      return false;
    }
    this.#close(waiting);
    waiting.settled(undefined);
    return true;
  }

  /** Takes all away: nobody waits for an answer any more. Returns what was open. */
  withdrawAll(): readonly Pending[] {
    const open = this.pending;
    for (const { key } of open) {
      this.withdraw(key);
    }
    return open;
  }

  /**
   * The approval that a key means: the oldest one of the session on screen, else the only one there is. With several
   * elsewhere nobody can know which one is meant.
   */
  meant(sessionId: string | undefined): WaitingApproval | undefined {
    const approvals = this.pending.filter((one) => one.kind === "approval");
    const here = approvals.find((one) => one.params.sessionId === sessionId);
    return here ?? (approvals.length === 1 ? approvals[0] : undefined);
  }

  /** Keys work on what was shown anywhere, and not before it was: then since it was seen first. */
  #isEarly(key: string, from: Surface): boolean {
    const shown = this.#shown.get(key);
    const since = from === "keyboard" ? Math.min(...(shown?.values() ?? [Infinity])) : shown?.get(from);
    return since === undefined || this.#now() - since < DECISION_GRACE_MS;
  }

  #close({ key }: Pending): void {
    this.#open.delete(key);
    this.#shown.delete(key);
  }

  #newKey(): string {
    this.#made += 1;
    return `w${this.#made}`;
  }
}
