import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import { endNotice } from "../../logic/attention";
import { Undelivered, isSteering, withReturned } from "../../logic/undelivered";
import type { Input, MessageParams, Params, Result, RunResult } from "../../shared/protocol";
import { told } from "../connection";
import type { Parts } from "./parts";
import type { ChatView } from "./view";

const STORED = "undelivered";

/** Runs and what is said to them, so that no text is lost: what the agent never got comes back into the draft. */
export class Runs {
  readonly #parts: Parts;
  readonly #view: ChatView;
  readonly #waiting: Undelivered;

  constructor(parts: Parts, view: ChatView) {
    this.#parts = parts;
    this.#view = view;
    const { ctx, server } = parts;
    this.#waiting = new Undelivered(ctx.kept.get(STORED));
    server.on("agent/message", (message) => this.#look(message));
    ctx.own(
      server.onDidChangeStatus(({ state }) => {
        if (state === "running") {
          this.#returnAll();
        }
      }),
    );
  }

  /** Runs an input; the answer comes when the run has ended, whichever view is there by then. */
  async run(params: Params<"agent/run">): Promise<RunResult> {
    await this.#parts.server.settled();
    const sessionId = params.sessionId ?? "";
    const { server } = this.#parts;
    const result = await this.#sending(
      sessionId,
      `run-${randomUUID()}`,
      params.input,
      () => server.request("agent/run", params),
      // A server that is being ended answers too: what it has not begun comes back with the next one.
      () => server.status.state === "running",
    );
    this.#ended(result);
    return result;
  }

  /** A word to the run that goes on. */
  async steer(params: Params<"agent/steer">): Promise<Result<"agent/steer">> {
    await this.#parts.server.settled();
    const sessionId = params.sessionId ?? "";
    const result = await this.#sending(sessionId, `steer-${randomUUID()}`, params.input, () =>
      this.#parts.server.request("agent/steer", params),
    );
    if (result.accepted && result.steerId !== undefined) {
      this.#sent(sessionId, result.steerId, params.input);
    }
    return result;
  }

  async unsteer(params: Params<"agent/unsteer">): Promise<Result<"agent/unsteer">> {
    const result = await this.#parts.server.request("agent/unsteer", params);
    this.#settled(params.sessionId ?? "", params.steerId);
    return result;
  }

  /** Whoever has sent it is told of every error and still has the input, unless the server went away with it. */
  async #sending<R>(
    sessionId: string,
    id: string,
    input: Input,
    send: () => Promise<R>,
    isOver: () => boolean = () => true,
  ): Promise<R> {
    this.#sent(sessionId, id, input);
    try {
      const result = await send();
      if (isOver()) {
        this.#settled(sessionId, id);
      }
      return result;
    } catch (error) {
      if (told(error).kind !== "server_gone") {
        this.#settled(sessionId, id);
      }
      throw error;
    }
  }

  #ended(result: RunResult): void {
    this.#return(result.sessionId, isSteering);
    this.#view.postIfShowing(result.sessionId, { kind: "runEnded", sessionId: result.sessionId, result });
    const title = this.#parts.sessions.get(result.sessionId)?.title ?? "untitled session";
    const said = endNotice(this.#view.sight, result, this.#parts.settings.notify, title);
    if (said) {
      const show = said.failed ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
      void show(said.text, "Show").then(async (chosen) => {
        if (chosen) {
          await this.#view.reveal(result.sessionId);
        }
      });
    }
  }

  #look(message: MessageParams): void {
    if (this.#waiting.saw(message)) {
      this.#keep();
    }
  }

  #sent(sessionId: string, id: string, input: Input): void {
    this.#waiting.sent(sessionId, id, input);
    this.#keep();
  }

  #settled(sessionId: string, id: string): void {
    if (this.#waiting.settled(sessionId, id)) {
      this.#keep();
    }
  }

  /** A new server knows nothing of what the one before it was told. */
  #returnAll(): void {
    for (const sessionId of this.#waiting.sessions) {
      this.#return(sessionId, () => true);
    }
  }

  #return(sessionId: string, which: (id: string) => boolean): void {
    const inputs = this.#waiting.take(sessionId, which);
    if (inputs.length === 0) {
      return;
    }
    this.#keep();
    if (this.#view.isShowing(sessionId)) {
      this.#view.post({ kind: "returned", sessionId, inputs });
    } else {
      const { drafts } = this.#parts;
      drafts.set(sessionId, withReturned(drafts.get(sessionId), inputs));
    }
  }

  #keep(): void {
    this.#parts.ctx.kept.set(STORED, this.#waiting);
  }
}
