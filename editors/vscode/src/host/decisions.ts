import * as vscode from "vscode";
import {
  ApprovalBook,
  type Pending,
  type Surface,
  type WaitingApproval,
  type WaitingQuestion,
} from "../logic/approvals";
import { approvalNotice, needsDecisionNotice, questionNotice, type Sight } from "../logic/attention";
import type { OpenApproval, OpenQuestion } from "../shared/bridge";
import type { ApproveParams, ApproveResult, AskParams, AskResult } from "../shared/protocol";
import type { Ctx } from "./ctx";
import { notice, type Choice } from "./notices";
import type { Server } from "./server";
import type { Settings } from "./settings";

const MOST_OPTIONS = 4;

/** Where approvals and questions are shown; the chat view. */
export interface Stage {
  readonly sight: Sight;
  showApproval(approval: OpenApproval): void;
  showQuestion(question: OpenQuestion): void;
  /** It is answered or not needed any more. */
  remove(pending: Pending, outcome: "allow" | "deny" | "withdrawn"): void;
  /** Brings the chat into sight, with that in the focus. */
  reveal(sessionId: string): Promise<void>;
}

/** Holds what the server asks the person until there is an answer, in the chat, a notification or by key. */
export class Decisions {
  readonly book = new ApprovalBook(() => Date.now());
  readonly #ctx: Ctx;
  readonly #settings: Settings;
  readonly #notices = new Map<string, vscode.Disposable>();
  readonly #changed: vscode.EventEmitter<void>;
  readonly onDidChange: vscode.Event<void>;
  #stage: Stage | undefined;

  constructor(ctx: Ctx, settings: Settings, server: Server) {
    this.#ctx = ctx;
    this.#settings = settings;
    this.#changed = ctx.own(new vscode.EventEmitter<void>());
    this.onDidChange = this.#changed.event;
    ctx.own(new vscode.Disposable(() => this.#notices.forEach((shown) => void shown.dispose())));
    server.handle("agent/approve", (params, token) => this.#approve(params, token));
    server.handle("agent/ask", (params, token) => this.#ask(params, token));
    ctx.own(
      server.onDidChangeStatus(({ state }) => {
        if (state !== "running") {
          this.book.withdrawAll();
        }
      }),
    );
    ctx.command("allow", () => this.#byKey({ decision: "allow" }));
    ctx.command("deny", () => this.#byKey({ decision: "deny" }));
    ctx.command("focusApproval", () => this.#focus());
    ctx.command("decide", (key: string, decision: "allow" | "deny") => this.decide(key, { decision }, "notification"));
    ctx.command("reply", (key: string, answer: string | null) => this.reply(key, answer, "notification"));
  }

  /** Tells where to show things. */
  attach(stage: Stage): void {
    this.#stage = stage;
  }

  /** What waits in a session, as it appears in the view from now on. */
  appearing(sessionId: string | undefined): { approvals: OpenApproval[]; questions: OpenQuestion[] } {
    const here = this.book.pending.filter(({ params }) => params.sessionId === sessionId);
    return {
      approvals: here.filter((one) => one.kind === "approval").map((one) => this.#approvalInView(one)),
      questions: here.filter((one) => one.kind === "question").map((one) => this.#questionInView(one)),
    };
  }

  /** Takes an answer to an approval; one that comes too early counts for nothing. */
  decide(key: string, answer: ApproveResult, from: Surface): void {
    this.book.decide(key, answer, from);
  }

  /** Takes an answer to a question. */
  reply(key: string, answer: AskResult["answer"], from: Surface): void {
    this.book.reply(key, answer, from);
  }

  /** What can be seen has changed: whatever is in sight needs no notification any more, whatever is not does. */
  look(): void {
    for (const pending of this.book.pending) {
      const wanted =
        this.#stage && needsDecisionNotice(this.#stage.sight, pending.params.sessionId, this.#settings.notify);
      const shown = this.#notices.get(pending.key);
      if (wanted && !shown) {
        this.#notify(pending);
      } else if (!wanted && shown) {
        shown.dispose();
        this.#notices.delete(pending.key);
      }
    }
  }

  #approve(params: ApproveParams, token: vscode.CancellationToken): Promise<ApproveResult> {
    return new Promise((resolve, reject) => {
      const settled = (answer: ApproveResult | undefined): void => {
        this.#gone(waiting, answer?.decision ?? "withdrawn");
        if (answer) {
          resolve(answer);
        } else {
          reject(new vscode.CancellationError());
        }
      };
      const waiting = this.book.putApproval(params, settled);
      token.onCancellationRequested(() => this.book.withdraw(waiting.key));
      this.#came(waiting);
    });
  }

  #ask(params: AskParams, token: vscode.CancellationToken): Promise<AskResult> {
    return new Promise((resolve) => {
      const settled = (answer: AskResult | undefined): void => {
        this.#gone(waiting, answer ? "allow" : "withdrawn");
        resolve(answer ?? { answer: null });
      };
      const waiting = this.book.putQuestion(params, settled);
      token.onCancellationRequested(() => this.book.withdraw(waiting.key));
      this.#came(waiting);
    });
  }

  #came(pending: Pending): void {
    const { sight } = this.#stage ?? {};
    if (sight?.viewVisible && sight.sessionId === pending.params.sessionId) {
      if (pending.kind === "approval") {
        this.#stage?.showApproval(this.#approvalInView(pending));
      } else {
        this.#stage?.showQuestion(this.#questionInView(pending));
      }
    }
    this.look();
    this.#tell();
  }

  #gone(pending: Pending, outcome: "allow" | "deny" | "withdrawn"): void {
    this.#notices.get(pending.key)?.dispose();
    this.#notices.delete(pending.key);
    this.#stage?.remove(pending, outcome);
    this.#tell();
  }

  #approvalInView({ key, params }: WaitingApproval): OpenApproval {
    return { key, params, shownAt: this.book.appeared(key, "view") };
  }

  #questionInView({ key, params }: WaitingQuestion): OpenQuestion {
    return { key, params, shownAt: this.book.appeared(key, "view") };
  }

  #notify(pending: Pending): void {
    this.book.appeared(pending.key, "notification");
    const show = (): void => {
      this.#stage?.reveal(pending.params.sessionId).catch((error: unknown) => this.#ctx.tell(error));
    };
    if (pending.kind === "question") {
      this.#notices.set(
        pending.key,
        notice(questionNotice(pending.params), optionsOf(pending.key, pending.params), show),
      );
      return;
    }
    const { text, canAllow } = approvalNotice(pending.params);
    const decide = (title: string, decision: string): Choice => ({
      title,
      command: "agentLsp.decide",
      args: [pending.key, decision],
    });
    const choices = [...(canAllow ? [decide("Allow", "allow")] : []), decide("Deny", "deny")];
    this.#notices.set(pending.key, notice(text, choices, show));
  }

  #byKey(answer: ApproveResult): void {
    const meant = this.#meant;
    if (meant && this.book.wasShown(meant.key)) {
      this.decide(meant.key, answer, "keyboard");
    } else {
      void this.#focus();
    }
  }

  async #focus(): Promise<void> {
    const first = this.#meant ?? this.book.pending[0];
    if (first) {
      await this.#stage?.reveal(first.params.sessionId);
    }
  }

  get #meant(): WaitingApproval | undefined {
    return this.book.meant(this.#stage?.sight.sessionId);
  }

  #tell(): void {
    this.#ctx.setContext(
      "approvalPending",
      this.book.pending.some(({ kind }) => kind === "approval"),
    );
    this.#changed.fire();
  }
}

/** The options of a question that is answered by one of a few short words. */
function optionsOf(key: string, { options, multiple }: AskParams): Choice[] {
  const few =
    options &&
    !multiple &&
    options.length <= MOST_OPTIONS &&
    options.every((one) => /^[^\s[\]()][^[\]()\n]{0,40}$/.test(one));
  return few ? options.map((title) => ({ title, command: "agentLsp.reply", args: [key, title] })) : [];
}
