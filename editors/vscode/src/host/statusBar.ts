import * as vscode from "vscode";
import { statusText } from "../logic/statusText";
import type { Ctx } from "./ctx";
import type { Decisions } from "./decisions";
import type { Server } from "./server";
import type { Sessions } from "./sessions";

const LINKS = { Trace: "agentLsp.showTrace", Usage: "agentLsp.showUsage" };

/** The item in the status bar, and the context keys that go with it. */
export function showStatus(ctx: Ctx, server: Server, sessions: Sessions, decisions: Decisions): void {
  const item = ctx.own(vscode.window.createStatusBarItem("agentLsp.status", vscode.StatusBarAlignment.Right, 50));
  item.name = "Agent";
  item.command = "agentLsp.openChat";
  const draw = (): void => {
    const { shown } = sessions;
    const state = shown && sessions.state(shown.sessionId);
    const waiting = decisions.book.pending.length;
    const { icon, text, tooltip, tone } = statusText({
      server: server.status,
      session: shown,
      nextModel: server.firstModels.defaultModel?.model,
      state,
      waiting,
      running: sessions.running,
    });
    item.text = `$(${icon}) ${text}`;
    item.tooltip = server.status.state === "running" ? linked(tooltip, shown !== undefined) : tooltip;
    item.backgroundColor = tone === "plain" ? undefined : new vscode.ThemeColor(`statusBarItem.${tone}Background`);
    item.accessibilityInformation = { label: `Agent: ${text}`, role: "button" };
    ctx.setContext("hasSession", shown !== undefined);
    ctx.setContext("busy", state !== undefined && state.state !== "idle" && state.state !== "auth_required");
  };
  ctx.own(server.onDidChangeStatus(draw));
  ctx.own(sessions.onDidChange(draw));
  ctx.own(decisions.onDidChange(draw));
  draw();
  item.show();
}

/** What the item tells, with links to the pages behind it. The text is nobody's Markdown: titles come from models. */
function linked(text: string, hasSession: boolean): vscode.MarkdownString {
  const tooltip = new vscode.MarkdownString();
  tooltip.isTrusted = { enabledCommands: Object.values(LINKS) };
  tooltip.appendText(text);
  const links = Object.entries(LINKS).slice(hasSession ? 0 : 1);
  return tooltip.appendMarkdown(`\n\n${links.map(([title, command]) => `[${title}](command:${command})`).join(" · ")}`);
}
