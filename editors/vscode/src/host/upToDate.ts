import * as vscode from "vscode";
import type { Ctx } from "./ctx";
import type { Keyring } from "./keyring";
import type { Server } from "./server";
import type { Sessions } from "./sessions";
import type { Settings } from "./settings";

/** Settings that only a new process can have. */
const NEED_RESTART = ["agentLsp.server"];

/** Carries what the person changes over to the server that runs. */
export function keepUpToDate(ctx: Ctx, settings: Settings, server: Server, keyring: Keyring, sessions: Sessions): void {
  ctx.own(
    settings.onDidChange((event) => {
      if (NEED_RESTART.some((section) => event.affectsConfiguration(section))) {
        void offerRestart(server, sessions, "The agent's server has to be started again for this setting.");
      } else {
        server.tell("settings").catch((error: unknown) => ctx.tell(error));
      }
    }),
  );
  ctx.own(
    keyring.onDidChange(
      () => void offerRestart(server, sessions, "The agent's server has to be started again to know of this key."),
    ),
  );
  ctx.own(
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      server.tell("trust").catch((error: unknown) => ctx.tell(error));
    }),
  );
}

/** Restarts at once while nothing is at work; else asks, because a restart ends it. */
async function offerRestart(server: Server, sessions: Sessions, why: string): Promise<void> {
  if (server.status.state === "stopped") {
    return;
  }
  const question = `${why} That stops what is at work.`;
  if (
    sessions.running === 0 ||
    (await vscode.window.showInformationMessage(question, "Restart Server")) !== undefined
  ) {
    await server.restart();
  }
}
