import { readFile, readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import * as vscode from "vscode";
import { allCommands, writtenCommand } from "../logic/slash";
import type { SlashCommand } from "../shared/bridge";

/** The commands that may be typed in a session of that folder (a URI). */
export async function slashCommands(workspace: string | undefined): Promise<{ commands: SlashCommand[] }> {
  const configuration = process.env.XDG_CONFIG_HOME ?? join(homedir(), ".config");
  const user = join(configuration, "agent-lsp", "commands");
  const project = workspace === undefined ? [] : [join(vscode.Uri.parse(workspace).fsPath, ".agent-lsp", "commands")];
  const written = await Promise.all([...project, user].map(readFolder));
  return { commands: allCommands(written.flat()) };
}

async function readFolder(folder: string): Promise<SlashCommand[]> {
  const names = await readdir(folder).catch(() => []);
  const read = names
    .filter((name) => name.endsWith(".md"))
    .map(async (name) => {
      const content = await readFile(join(folder, name), "utf8").catch(() => undefined);
      return content === undefined ? undefined : writtenCommand(basename(name, ".md"), content);
    });
  return (await Promise.all(read)).filter((command) => command !== undefined);
}
