import * as vscode from "vscode";
import type { DiagnosticItem, WireDiagnostic } from "../shared/protocol";
import { wireRange } from "./places";
import type { Server } from "./server";

/** What the server asks of the editor's documents: to save one, and what is wrong in them. */
export function answerForDocuments(server: Server): void {
  server.handle("agent/saveDocument", async ({ uri }) => ({ saved: await save(uri) }));
  server.handle("agent/diagnostics", ({ uri }) => Promise.resolve({ items: diagnostics(uri) }));
}

/** Saves that document and no other. One that is not open, or has nowhere to be saved to, is not saved. */
async function save(uri: string): Promise<boolean> {
  const document = openDocument(uri);
  if (!document || document.isUntitled) {
    return false;
  }
  return !document.isDirty || document.save();
}

function openDocument(uri: string): vscode.TextDocument | undefined {
  const wanted = vscode.Uri.parse(uri).toString();
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === wanted);
}

/** What any extension has found wrong in one file, or in all of them. */
function diagnostics(uri: string | undefined): DiagnosticItem[] {
  const found: [vscode.Uri, readonly vscode.Diagnostic[]][] =
    uri === undefined
      ? vscode.languages.getDiagnostics().filter(([where]) => where.scheme === "file")
      : [[vscode.Uri.parse(uri), vscode.languages.getDiagnostics(vscode.Uri.parse(uri))]];
  return found.map(([where, list]) => {
    const version = openDocument(where.toString())?.version;
    return { uri: where.toString(), ...(version === undefined ? {} : { version }), diagnostics: list.map((one) => wire(one)) };
  });
}

/** A diagnostic as the protocol has it. */
export function wire({ range, severity, code, source, message }: vscode.Diagnostic): WireDiagnostic {
  const plain = typeof code === "object" ? code.value : code;
  return {
    range: wireRange(range),
    severity: (severity + 1) as 1 | 2 | 3 | 4,
    ...(plain === undefined ? {} : { code: plain }),
    ...(source === undefined ? {} : { source }),
    message,
  };
}
