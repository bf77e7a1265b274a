import * as vscode from "vscode";
import { proposedDiff } from "../logic/patch";
import type { Runs } from "./chat/runs";
import type { Parts } from "./chat/parts";
import type { ChatView } from "./chat/view";
import type { Diffs } from "./diffs";
import type { Installation } from "./installation";
import { fileOf, selectionOf } from "./mentions";
import { roots } from "./roots";
import type { Input, RuleInfo } from "../shared/protocol";
import type { ViewCommand } from "../shared/bridge";

const WALKTHROUGH = "agent-lsp.agent-lsp#start";

/** Commands about the chat. */
export function registerChatCommands({ ctx, sessions }: Parts, view: ChatView): void {
  const inView = (command: ViewCommand): Promise<void> => view.command(command, { reveal: true });
  ctx.command("openChat", () => inView({ command: "focusComposer" }));
  ctx.command("find", () => inView({ command: "find" }));
  ctx.command("nextMessage", () => inView({ command: "nextMessage" }));
  ctx.command("previousMessage", () => inView({ command: "previousMessage" }));
  ctx.command("latestMessage", () => inView({ command: "latest" }));
  ctx.command("newSession", async () => {
    sessions.leave();
    await inView({ command: "focusComposer" });
  });
  ctx.command("newSessionIn", async () => {
    const items = roots().map(({ name, uri }) => ({ label: name, description: vscode.Uri.parse(uri).fsPath, uri }));
    const chosen = await vscode.window.showQuickPick(items, { title: "Folder of the new session" });
    if (chosen) {
      sessions.leave(chosen.uri);
      await inView({ command: "focusComposer" });
    }
  });
  ctx.command("openSession", async (sessionId: string) => {
    await sessions.resume(sessionId);
    await inView({ command: "focusComposer" });
  });
  ctx.command("addSelection", async () => {
    const editor = vscode.window.activeTextEditor;
    await (editor?.document.uri.scheme === "file"
      ? inView({ command: "attach", attachments: [selectionOf(editor)], focus: true })
      : vscode.window.showInformationMessage(
          "Open a file of this workspace first: what has no file cannot be attached.",
        ));
  });
  ctx.command("addFile", async (uri?: vscode.Uri, all?: vscode.Uri[]) => {
    const active = vscode.window.activeTextEditor?.document.uri;
    const attachments = (all ?? [uri ?? active]).flatMap((one) => (one?.scheme === "file" ? [fileOf(one)] : []));
    await inView({ command: "attach", attachments, focus: true });
  });
}

/** Commands about what goes on in the session on screen. */
export function registerSessionCommands({ ctx, server, sessions, decisions }: Parts, diffs: Diffs): void {
  ctx.command("showProposedDiff", async () => {
    const waiting = decisions.book.meant(sessions.shownId);
    const proposed = proposedDiff(waiting?.params.preview);
    if (waiting && proposed) {
      const { title, sessionId } = waiting.params;
      await diffs.show({ ...proposed, title, workspace: sessions.get(sessionId)?.workspace });
    } else {
      void vscode.window.showInformationMessage("What waits for your decision is no edit.");
    }
  });
  ctx.command("stop", () => withSession(sessions.shownId, (sessionId) => server.request("agent/abort", { sessionId })));
  ctx.command("retryNow", () =>
    withSession(sessions.shownId, (sessionId) => server.request("agent/retryNow", { sessionId })),
  );
  ctx.command("compact", () => withSession(sessions.shownId, (sessionId) => compact(server, sessionId)));
  ctx.command("manageRules", () => withSession(sessions.shownId, (sessionId) => manageRules(server, sessionId)));
}

/** Commands about the server and the extension. */
export function registerServerCommands({ ctx, server }: Parts, installation: Installation): void {
  ctx.command("installServer", async () => {
    const wheel = installation.carried(); // nothing is stopped where there is nothing to install
    await server.replace(() => installation.install(wheel));
  });
  ctx.command("restartServer", () => server.restart());
  ctx.command("showLog", () => ctx.log.show());
  ctx.command("openSettings", () =>
    vscode.commands.executeCommand("workbench.action.openSettings", "@ext:agent-lsp.agent-lsp"),
  );
  ctx.command("openWalkthrough", () =>
    vscode.commands.executeCommand("workbench.action.openWalkthrough", WALKTHROUGH, false),
  );
}

/** Runs an input in the session on screen, or in a new one, in the sight of the person. */
export async function ask({ sessions }: Parts, view: ChatView, runs: Runs, input: Input): Promise<void> {
  await view.command({ command: "focusComposer" }, { reveal: true });
  const session = sessions.shown ?? (await sessions.create({}));
  view.showSession();
  view.postIfShowing(session.sessionId, { kind: "asked", sessionId: session.sessionId, input });
  await runs.run({ sessionId: session.sessionId, input, queueIfBusy: true });
}

async function withSession(
  sessionId: string | undefined,
  work: (sessionId: string) => Promise<unknown>,
): Promise<void> {
  if (sessionId === undefined) {
    void vscode.window.showInformationMessage("There is no session yet.");
  } else {
    await work(sessionId);
  }
}

async function compact(server: Parts["server"], sessionId: string): Promise<void> {
  const { availability, status, errorMessage } = await server.request("agent/compact", { sessionId });
  if (availability !== "ok") {
    void vscode.window.showInformationMessage(`There is nothing to compact: ${availability.replaceAll("_", " ")}.`);
  } else if (status !== "completed" && status !== "aborted") {
    void vscode.window.showWarningMessage(`The conversation was not compacted: ${errorMessage ?? status}`);
  }
}

async function manageRules(server: Parts["server"], sessionId: string): Promise<void> {
  const { rules } = await server.request("agent/rules", { sessionId });
  if (rules.length === 0) {
    void vscode.window.showInformationMessage("Nothing is allowed for longer than once.");
    return;
  }
  const items = rules.map(({ ruleId, label, scope, createdAt }: RuleInfo) => ({
    label,
    description: `${scope}, since ${createdAt}`,
    ruleId,
  }));
  const options = {
    title: "Allowed for longer than once",
    placeHolder: "Choose those to be revoked",
    canPickMany: true as const,
  };
  const chosen = await vscode.window.showQuickPick(items, options);
  if (chosen && chosen.length > 0) {
    await server.request("agent/rules/revoke", { ruleIds: chosen.map(({ ruleId }) => ruleId) });
  }
}
