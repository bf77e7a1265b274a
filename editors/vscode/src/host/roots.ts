import * as vscode from "vscode";
import { chosenRoot } from "../logic/roots";
import type { Root } from "../shared/bridge";

/** The folders of the workspace that are on a disk. */
export function roots(): Root[] {
  return (vscode.workspace.workspaceFolders ?? [])
    .filter(({ uri }) => uri.scheme === "file")
    .map(({ name, uri }) => ({ name, uri: uri.toString() }));
}

/** The same, with the folder of a new session first. */
export function rootsInOrder(wanted?: string): Root[] {
  const first = rootFor(wanted);
  return first ? [first, ...roots().filter(({ uri }) => uri !== first.uri)] : [];
}

/** The folder of a new session; undefined when no folder is open. */
export function rootFor(wanted?: string): Root | undefined {
  return chosenRoot(roots(), wanted, vscode.window.activeTextEditor?.document.uri.toString());
}
