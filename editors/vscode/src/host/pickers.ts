import * as vscode from "vscode";
import { approvalItems, modelItems, modeItems, thinkingItems, type Item } from "../logic/choices";
import type { UpdateParams } from "../shared/protocol";
import type { Ctx } from "./ctx";
import type { Models } from "./models";
import type { Server } from "./server";
import type { Sessions } from "./sessions";

type Choice = Pick<UpdateParams, "model" | "mode" | "thinkingLevel" | "approvalMode">;

/** Model, mode, thinking level and approval mode as commands: of the session on screen, else one is begun with the choice. */
export function registerPickers(ctx: Ctx, server: Server, sessions: Sessions, models: Models): void {
  const settle = async (change: Choice): Promise<void> => {
    const { shown } = sessions;
    if (shown) {
      await sessions.update({ sessionId: shown.sessionId, ...change });
    } else {
      sessions.adopt(await sessions.create(change));
    }
  };
  ctx.command("pickModel", async () => {
    server.needed();
    const model = await pick("Model", modelItems(models.list, sessions.shown?.model));
    await (model === undefined ? undefined : settle({ model }));
  });
  ctx.command("pickMode", async () => {
    const mode = await pick("How the session works with its model", modeItems(sessions.shown?.mode));
    await (mode === undefined ? undefined : settle({ mode }));
  });
  ctx.command("pickThinking", async () => {
    const level = await pick("How much the model is asked to think", thinkingItems(sessions.shown?.thinkingLevel));
    await (level === undefined ? undefined : settle({ thinkingLevel: level }));
  });
  ctx.command("pickApprovalMode", async () => {
    const items = approvalItems(vscode.workspace.isTrusted, sessions.shown?.approvalMode);
    const mode = await pick("What runs without asking", items);
    await (mode === undefined ? undefined : settle({ approvalMode: mode }));
  });
  ctx.command("testModel", async () => {
    server.needed();
    const model = await pick("Which model is to answer?", modelItems(models.list, sessions.shown?.model));
    if (model !== undefined) {
      await testModel(server, model);
    }
  });
}

async function pick<V extends string>(title: string, items: readonly Item<V>[]): Promise<V | undefined> {
  if (items.length === 0) {
    void vscode.window.showInformationMessage("There is nothing to choose from: the server is not running.");
    return undefined;
  }
  return (await vscode.window.showQuickPick([...items], { title, matchOnDescription: true }))?.value;
}

async function testModel(server: Server, model: string): Promise<void> {
  const options = { location: vscode.ProgressLocation.Notification, title: `Waiting for ${model}` };
  const result = await vscode.window.withProgress(options, () => server.request("agent/models/test", { model }));
  if (result.ok) {
    void vscode.window.showInformationMessage(`${model} answers, after ${result.latencyMs ?? 0} ms.`);
  } else {
    void vscode.window.showWarningMessage(
      `${model} does not answer: ${result.message ?? result.status ?? "no reason given"}`,
    );
  }
}
