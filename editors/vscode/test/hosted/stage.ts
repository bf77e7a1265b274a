/** What the tests share: the extension as it runs, a scripted model, and the files of the workspace. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import type { Inside } from "../../src/host/extension";
import { ScriptedModel } from "../e2e/harness/scriptedModel";
import { eventually } from "./testing";

export let inside: Inside;
export let model: ScriptedModel;
export let workspace: string;

/** Starts the model, writes the configuration, wakes the extension. */
export async function prepare(root: string): Promise<void> {
  workspace = join(root, "workspace");
  model = await ScriptedModel.start();
  writeFileSync(
    join(root, "config.toml"),
    `default_model = "script/one"\ntitles = false\n[providers.script]\napi = "openai-chat"\nbase_url = "${model.url}"\n` +
      "[providers.script.models.one]\ncontext_window = 100000\n",
  );
  const extension = vscode.extensions.getExtension<Inside>("agent-lsp.agent-lsp");
  if (!extension) {
    throw new Error("the extension is not there");
  }
  inside = await extension.activate();
  inside.server.needed();
  await eventually("the server runs", () => inside.server.status.state === "running");
}

export function uriOf(name: string): vscode.Uri {
  return vscode.Uri.file(join(workspace, name));
}

export function onDisk(name: string): string {
  return readFileSync(join(workspace, name), "utf8");
}
