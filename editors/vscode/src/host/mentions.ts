import { statSync } from "node:fs";
import * as vscode from "vscode";
import { matching } from "../logic/mentions";
import { rootOf } from "../logic/roots";
import type { Attachment, FileMatch, SelectionMatch } from "../shared/bridge";
import type { Ctx } from "./ctx";
import { wireRange } from "./places";
import { roots } from "./roots";

const MOST_FILES = 50_000;
const FRESH_MS = 10_000;

/** The files that may be mentioned: those of all roots that the editor's own search would find. */
export class Mentions {
  #listed: { at: number; files: Promise<FileMatch[]> } | undefined;

  constructor(ctx: Ctx) {
    const forget = (): void => (this.#listed = undefined);
    ctx.own(vscode.workspace.onDidCreateFiles(forget));
    ctx.own(vscode.workspace.onDidDeleteFiles(forget));
    ctx.own(vscode.workspace.onDidRenameFiles(forget));
    ctx.own(vscode.workspace.onDidChangeWorkspaceFolders(forget));
  }

  /** The files that match, best first; without a query those that are open. */
  async files(query: string, limit: number): Promise<{ files: FileMatch[] }> {
    if (query.trim() === "") {
      return { files: openFiles().slice(0, limit) };
    }
    return { files: matching(await this.#all(), query, limit) };
  }

  /** The files among dropped URIs that are on a disk. */
  dropped(uris: readonly string[]): Promise<{ files: FileMatch[] }> {
    const files = uris.flatMap((text) => {
      const uri = parsed(text);
      return uri && isFile(uri) ? [described(uri)] : [];
    });
    return Promise.resolve({ files });
  }

  /** What is selected in the active editor; its whole file when nothing is. */
  selection(): SelectionMatch | null {
    const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
    if (!editor || !attachable(editor.document.uri)) {
      return null;
    }
    const { document, selection } = editor;
    const whole = new vscode.Range(0, 0, document.lineCount, 0);
    const range = selection.isEmpty ? document.validateRange(whole) : selection;
    return { uri: document.uri.toString(), label: labelOf(document.uri, selection), range: wireRange(range) };
  }

  /** Every file, from a list that is made anew after a while. */
  #all(): Promise<FileMatch[]> {
    if (!this.#listed || Date.now() - this.#listed.at > FRESH_MS) {
      const files = Promise.resolve(vscode.workspace.findFiles("**/*", undefined, MOST_FILES)).then((uris) =>
        uris.map(described),
      );
      this.#listed = { at: Date.now(), files };
    }
    return this.#listed.files;
  }
}

/** The selection of an editor as an attachment; the file when nothing is selected. */
export function selectionOf({ document, selection }: vscode.TextEditor): Attachment {
  const range = selection.isEmpty ? {} : { range: wireRange(selection) };
  const uri = document.uri.toString();
  return { kind: "file", id: `${uri}#${Date.now()}`, label: labelOf(document.uri, selection), uri, ...range };
}

/** A file as an attachment. */
export function fileOf(uri: vscode.Uri): Attachment {
  return {
    kind: "file",
    id: `${uri.toString()}#${Date.now()}`,
    label: vscode.workspace.asRelativePath(uri),
    uri: uri.toString(),
  };
}

function labelOf(uri: vscode.Uri, selection: vscode.Range): string {
  const path = vscode.workspace.asRelativePath(uri);
  const [first, last] = [selection.start.line + 1, selection.end.line + 1];
  return selection.isEmpty ? path : first === last ? `${path}:${first}` : `${path}:${first}-${last}`;
}

function openFiles(): FileMatch[] {
  const uris = vscode.window.tabGroups.all
    .flatMap((group) => [...group.tabs].sort((a, b) => Number(b.isActive) - Number(a.isActive)))
    .flatMap(({ input }) => (input instanceof vscode.TabInputText ? [input.uri] : []))
    .filter(attachable);
  return [...new Map(uris.map((uri) => [uri.toString(), described(uri)])).values()];
}

function described(uri: vscode.Uri): FileMatch {
  const all = roots();
  const root = rootOf(all, uri.toString());
  const path = vscode.workspace.asRelativePath(uri, false);
  return { uri: uri.toString(), path, ...(root && all.length > 1 ? { root: root.name } : {}) };
}

/** The server attaches files only; what has no file yet it cannot name to the model. */
export function attachable({ scheme }: vscode.Uri): boolean {
  return scheme === "file";
}

function parsed(text: string): vscode.Uri | undefined {
  try {
    const uri = vscode.Uri.parse(text.trim(), true);
    // A page drops the URI of a remote file, which is a file where this runs.
    return uri.scheme === "vscode-remote" ? vscode.Uri.file(uri.path) : uri;
  } catch {
    return undefined;
  }
}

function isFile(uri: vscode.Uri): boolean {
  return uri.scheme === "file" && statSync(uri.fsPath, { throwIfNoEntry: false })?.isFile() === true;
}
