import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import * as vscode from "vscode";
import { filePatches, sides, type FilePatch, type Sides } from "../logic/patch";
import type { Ctx } from "./ctx";
import { roots } from "./roots";

const SCHEME = "agent-lsp-diff";

/** A diff to be shown. `uri`: its file, if that is known; `workspace`: what its names are relative to. */
export interface Shown {
  readonly uri: string | undefined;
  readonly diff: string;
  readonly title: string;
  readonly workspace: string | undefined;
}

/**
 * Proposed edits in the editor's own diff editor: two texts of ours, read-only, in one preview tab that the next one
 * takes over. Closing it decides nothing.
 */
export class Diffs implements vscode.TextDocumentContentProvider {
  readonly #texts = new Map<string, string>();
  readonly #changed: vscode.EventEmitter<vscode.Uri>;
  readonly onDidChange: vscode.Event<vscode.Uri>;
  #made = 0;
  #title: string | undefined;

  constructor(ctx: Ctx) {
    this.#changed = ctx.own(new vscode.EventEmitter<vscode.Uri>());
    this.onDidChange = this.#changed.event;
    ctx.own(vscode.workspace.registerTextDocumentContentProvider(SCHEME, this));
    ctx.own(
      vscode.workspace.onDidCloseTextDocument(({ uri }) => uri.scheme === SCHEME && this.#texts.delete(uri.toString())),
    );
  }

  provideTextDocumentContent(uri: vscode.Uri): string | undefined {
    return this.#texts.get(uri.toString());
  }

  /** Shows a diff. */
  async show({ uri, diff, title, workspace }: Shown): Promise<void> {
    await this.#closeLast();
    this.#title = title;
    const patches = filePatches(diff);
    if (patches.length > 1) {
      const places = patches.map((patch) => ({ patch, file: fileOf(patch, workspace) }));
      const resources = await Promise.all(
        places.map(async ({ patch, file }) => [file, ...(await this.#pair(file, patch))]),
      );
      await vscode.commands.executeCommand("vscode.changes", title, resources);
      return;
    }
    const [patch] = patches;
    const file = uri === undefined && patch ? fileOf(patch, workspace) : vscode.Uri.parse(uri ?? "text");
    const [left, right] = patch
      ? await this.#pair(file, patch)
      : [this.#text(file, "before", ""), this.#text(file, "after", diff)];
    await vscode.commands.executeCommand("vscode.diff", left, right, title, { preview: true });
  }

  /** Closes the tab of the diff before, whatever the person has set about previews. */
  async #closeLast(): Promise<void> {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const ours = tabs.filter(({ input, label }) =>
      input instanceof vscode.TabInputTextDiff
        ? input.modified.scheme === SCHEME
        : input === undefined && label === this.#title,
    );
    if (ours.length > 0) {
      await vscode.window.tabGroups.close(ours, true);
    }
  }

  async #pair(file: vscode.Uri, patch: FilePatch): Promise<[vscode.Uri, vscode.Uri]> {
    const { left, right }: Sides = sides(patch, await presentText(file));
    return [this.#text(file, "before", left), this.#text(file, "after", right)];
  }

  /** A text under a name that ends as the file's does, so that it is coloured like it. */
  #text(file: vscode.Uri, side: "before" | "after", text: string): vscode.Uri {
    this.#made += 1;
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${this.#made}/${side}/${basename(file.path)}` });
    this.#texts.set(uri.toString(), text);
    return uri;
  }
}

/** The file as the editor has it, unsaved changes included; undefined when there is none. */
async function presentText(uri: vscode.Uri): Promise<string | undefined> {
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  if (open) {
    return open.getText();
  }
  return readFile(uri.fsPath, "utf8").catch(() => undefined);
}

/** The file that a patch names. */
function fileOf({ before, after }: FilePatch, workspace: string | undefined): vscode.Uri {
  const name = after ?? before ?? "";
  const root = workspace ?? roots()[0]?.uri;
  return name.startsWith("/") || root === undefined
    ? vscode.Uri.file(name)
    : vscode.Uri.joinPath(vscode.Uri.parse(root), name);
}
