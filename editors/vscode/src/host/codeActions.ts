import * as vscode from "vscode";
import { offers, type ActionKind, type Offer } from "../logic/actions";
import type { Input } from "../shared/protocol";
import type { Ctx } from "./ctx";
import { wire } from "./documents";
import { attachable } from "./mentions";
import { vscodeRange, wireRange } from "./places";
import type { Settings } from "./settings";

const KINDS: Record<ActionKind, vscode.CodeActionKind> = {
  quickfix: vscode.CodeActionKind.QuickFix,
  refactor: vscode.CodeActionKind.Refactor,
  rewrite: vscode.CodeActionKind.RefactorRewrite,
  none: vscode.CodeActionKind.Empty,
};

/** Offers the agent's help among the code actions of every file. `ask` gives an input to the session on screen. */
export function offerCodeActions(ctx: Ctx, settings: Settings, ask: (input: Input) => Promise<void>): void {
  ctx.command("runOn", (prompt: string, uri: string, range: Offer["range"]) =>
    ask([
      { type: "text", text: prompt },
      { type: "resource", uri, range },
    ]),
  );
  const provider: vscode.CodeActionProvider = {
    provideCodeActions(document, selection, context) {
      if (!settings.codeActions || !attachable(document.uri)) {
        return [];
      }
      const problems = context.diagnostics.map((one) => wire(one));
      return offers(wireRange(selection), problems, settings.prompts)
        .map((offer) => action(offer, document, context.diagnostics))
        .filter(({ kind }) => !context.only || (kind !== undefined && context.only.contains(kind)));
    },
  };
  ctx.own(vscode.languages.registerCodeActionsProvider({ scheme: "file" }, provider));
}

function action(
  offer: Offer,
  document: vscode.TextDocument,
  diagnostics: readonly vscode.Diagnostic[],
): vscode.CodeAction {
  const made = new vscode.CodeAction(offer.title, KINDS[offer.kind]);
  const range = wireRange(document.validateRange(vscodeRange(offer.range)));
  made.command = {
    title: offer.title,
    command: "agentLsp.runOn",
    arguments: [offer.prompt, document.uri.toString(), range],
  };
  made.diagnostics = offer.fixes.flatMap((index) => diagnostics[index] ?? []);
  return made;
}
