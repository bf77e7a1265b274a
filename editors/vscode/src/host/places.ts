import * as vscode from "vscode";
import type { Range } from "../shared/protocol";

/** A range of the protocol as the editor has it. */
export function vscodeRange({ start, end }: Range): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

/** A range of the editor as the protocol has it. */
export function wireRange({ start, end }: vscode.Range): Range {
  return {
    start: { line: start.line, character: start.character },
    end: { line: end.line, character: end.character },
  };
}
