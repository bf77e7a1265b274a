import { APPROVAL_MODES, THINKING_LEVELS, type ApprovalMode, type ModelList } from "../shared/protocol";
import type { Choices } from "../shared/bridge";
import type { ChatView } from "./chat/view";
import { told } from "./connection";
import type { Ctx } from "./ctx";
import type { Server } from "./server";
import * as vscode from "vscode";

const HARMLESS: readonly ApprovalMode[] = ["read-only", "plan"];

/** What there is to choose from, as the server tells; the view has it as soon as it changes. */
export class Models {
  readonly #ctx: Ctx;
  readonly #server: Server;
  readonly #view: ChatView;
  #list: ModelList = { models: [], defaultModel: null };

  constructor(ctx: Ctx, server: Server, view: ChatView) {
    this.#ctx = ctx;
    this.#server = server;
    this.#view = view;
    server.on("agent/modelsChanged", () => void this.#ask());
    ctx.own(
      server.onDidChangeStatus(({ state }) => {
        if (state === "running") {
          this.#take(server.firstModels);
          void this.#ask();
        }
      }),
    );
    ctx.own(vscode.workspace.onDidGrantWorkspaceTrust(() => this.#take(this.#list)));
  }

  get list(): ModelList {
    return this.#list;
  }

  async #ask(): Promise<void> {
    try {
      this.#take(await this.#server.request("agent/models", {}));
    } catch (error) {
      this.#ctx.log.debug(`models: ${told(error).message}`);
    }
  }

  #take(list: ModelList): void {
    this.#list = list;
    const choices: Choices = {
      ...list,
      approvalModes: vscode.workspace.isTrusted ? APPROVAL_MODES : HARMLESS,
      thinkingLevels: THINKING_LEVELS,
      modes: ["native", "loop"],
    };
    this.#view.choices = choices;
    const usable = list.models.some(({ hasCredential, provider }) => hasCredential && provider !== "rehearsal");
    this.#ctx.setContext("modelReady", usable);
  }
}
