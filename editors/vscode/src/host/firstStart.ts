import * as vscode from "vscode";
import type { ServerStatus } from "../shared/bridge";
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

async function offer(hint: string, { state, gaveUp }: ServerStatus): Promise<void> {
  const install = state === "missing" || state === "incompatible" || state === "running" ? ["Install Server"] : [];
  const buttons = [...install, ...(gaveUp ? ["Restart Server", "Show Log"] : [])];
  const chosen = await vscode.window.showWarningMessage(hint, ...buttons);
  const command = { "Install Server": "installServer", "Restart Server": "restartServer", "Show Log": "showLog" }[
    chosen ?? ""
  ];
  if (command !== undefined) {
    await vscode.commands.executeCommand(`agentLsp.${command}`);
  }
}
