import * as vscode from "vscode";
import { oneLine } from "../logic/attention";
import { SERVER_PATH, type Remedy, type ServerStatus } from "../shared/bridge";
import type { Ctx } from "./ctx";
import type { Server } from "./server";

const WELCOMED = "welcomed";

/** Shows the walkthrough once; says in one line what is wrong with the server, where its remedy is a command. */
export function welcome(ctx: Ctx, server: Server): void {
  const { globalState } = ctx.extension;
  if (globalState.get(WELCOMED) !== true) {
    void globalState.update(WELCOMED, true);
    void vscode.commands.executeCommand("agentLsp.openWalkthrough");
  }
  let told: string | undefined;
  ctx.own(
    server.onDidChangeStatus((status) => {
      const { hint } = status;
      if (hint !== undefined && hint !== told && needsPerson(status)) {
        told = hint;
        void offer(hint, status);
      }
    }),
  );
}

/** A server that is missing or of another version, even one that works all the same. */
function needsPerson({ state, gaveUp }: ServerStatus): boolean {
  return state === "missing" || state === "incompatible" || state === "running" || gaveUp === true;
}

const REMEDIES: Record<Remedy, string> = { install: "Install Server", settings: "Open Setting" };

async function offer(hint: string, { remedy, gaveUp, lastLogLine }: ServerStatus): Promise<void> {
  const text = gaveUp && lastLogLine ? `${hint} It said last: ${oneLine(lastLogLine)}` : hint;
  const buttons = [...(remedy ? [REMEDIES[remedy]] : []), ...(gaveUp ? ["Restart Server", "Show Log"] : [])];
  const chosen = await vscode.window.showWarningMessage(text, ...buttons);
  switch (chosen) {
    case REMEDIES.install:
      await vscode.commands.executeCommand("agentLsp.installServer");
      break;
    case REMEDIES.settings:
      await vscode.commands.executeCommand("workbench.action.openSettings", SERVER_PATH);
      break;
    case "Restart Server":
      await vscode.commands.executeCommand("agentLsp.restartServer");
      break;
    case "Show Log":
      await vscode.commands.executeCommand("agentLsp.showLog");
      break;
    default:
  }
}
