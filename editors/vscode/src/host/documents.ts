import * as vscode from "vscode";
import type { DiagnosticItem, WireDiagnostic } from "../shared/protocol";
import type { Ctx } from "./ctx";
import { wireRange } from "./places";
import type { Server } from "./server";

/** The server waits two seconds for an answer about diagnostics. */
const PATIENCE_MS = 1500;

/** What the server asks of the editor's documents: to save one, and what is wrong in them. */
export function answerForDocuments(ctx: Ctx, server: Server): void {
  const checks = ctx.own(new Checks());
  server.handle("agent/saveDocument", async ({ uri }) => ({ saved: await save(uri) }));
  server.handle("agent/diagnostics", async ({ uri }) => {
    if (uri !== undefined) {
      await checks.settled(vscode.Uri.parse(uri));
    }
    return { items: diagnostics(uri) };
  });
}

/**
 * Whoever checks a file that was just changed needs a moment, so what is known of it is old for that long. Languages that
 * nobody checks are not waited for.
 */
class Checks implements vscode.Disposable {
  readonly #changed = new Map<string, number>();
  readonly #checked = new Set<string>();
  readonly #listening: vscode.Disposable;

  constructor() {
    this.#listening = vscode.Disposable.from(
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0 && this.#checked.has(document.languageId)) {
          this.#changed.set(document.uri.toString(), Date.now());
        }
      }),
      vscode.languages.onDidChangeDiagnostics(({ uris }) => uris.forEach((uri) => this.#saw(uri))),
    );
  }

  /** Waits until the file was checked since its last change, or long enough. */
  async settled(uri: vscode.Uri): Promise<void> {
    const at = this.#changed.get(uri.toString());
    const atMostMs = at === undefined ? 0 : at + PATIENCE_MS - Date.now();
    if (atMostMs > 0) {
      await nextDiagnostics(uri, atMostMs);
    }
  }

  dispose(): void {
    this.#listening.dispose();
  }

  #saw(uri: vscode.Uri): void {
    this.#changed.delete(uri.toString());
    const document = openDocument(uri.toString());
    if (document) {
      this.#checked.add(document.languageId);
    }
  }
}

/** The next word on what is wrong in a file, or so many milliseconds. */
async function nextDiagnostics(uri: vscode.Uri, atMostMs: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      listening.dispose();
      resolve();
    };
    const timer = setTimeout(end, atMostMs);
    const listening = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
      if (uris.some((one) => one.toString() === uri.toString())) {
        end();
      }
    });
  });
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
    return {
      uri: where.toString(),
      ...(version === undefined ? {} : { version }),
      diagnostics: list.map((one) => wire(one)),
    };
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
