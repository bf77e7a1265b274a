import { Cuts } from "../logic/cuts";
import type { Cut } from "../shared/bridge";
import type { Ctx } from "./ctx";
import type { Decisions } from "./decisions";
import type { Server } from "./server";

const STORED = "cuts";

/**
 * Remembers over reloads which runs were cut off. It has to hear of the server before whoever withdraws what is open, so
 * it is made before them.
 */
export class Interrupted {
  readonly #ctx: Ctx;
  readonly #cuts: Cuts;

  constructor(ctx: Ctx, server: Server) {
    this.#ctx = ctx;
    this.#cuts = new Cuts(ctx.kept.get(STORED));
    server.on("agent/message", ({ sessionId, runId }) => this.#keepIf(this.#cuts.saw(sessionId, runId)));
    server.on("agent/state", ({ sessionId, state }) => this.#keepIf(state === "idle" && this.#cuts.ended(sessionId)));
    ctx.own(
      server.onDidChangeStatus(({ state }) => {
        if (state === "running") {
          this.#cuts.resume();
        } else {
          this.#cuts.cut(state === "crashed" ? "crash" : "restart");
        }
        this.#keepIf(true);
      }),
    );
  }

  /** Notes what waits for the person. */
  follow({ book, onDidChange }: Decisions): void {
    this.#ctx.own(
      onDidChange(() => {
        const open = book.pending.map((pending) => {
          const title = pending.kind === "approval" ? pending.params.title : pending.params.question;
          return [pending.params.sessionId, title] as const;
        });
        this.#keepIf(this.#cuts.waits(open));
      }),
    );
  }

  /** The window goes away: what ends from now on has been cut off. */
  leave(): void {
    this.#cuts.cut("window");
    this.#keepIf(true);
  }

  /** How the last run of a session was cut off, if it was. */
  of(sessionId: string | undefined): Cut | undefined {
    return this.#cuts.of(sessionId);
  }

  #keepIf(isOther: boolean): void {
    if (isOther) {
      this.#ctx.kept.set(STORED, this.#cuts);
    }
  }
}
