/** The commands that stand for a method of the server: what comes out is opened as a text, or said in a line. */

import type { SlashCommand } from "../../shared/bridge";
import { count, money, tokens } from "../cards/figures";
import { wordsOf, type Port } from "./port";

export async function runCommand(
  command: SlashCommand,
  port: Port,
  sessionId: string | undefined,
  say: (words: string) => void,
): Promise<void> {
  if (sessionId === undefined) return;
  try {
    await run(command, port, sessionId, say);
  } catch (error) {
    say(wordsOf(error));
  }
}

async function run(command: SlashCommand, port: Port, sessionId: string, say: (words: string) => void): Promise<void> {
  const open = (title: string, lines: readonly string[]): void => {
    port.act({ act: "openText", title, text: `# ${title}\n\n${lines.join("\n")}\n`, language: "markdown" });
  };
  switch (command.method) {
    case "agent/compact": {
      const { availability, errorMessage } = await port.request("agent/compact", { sessionId });
      if (availability !== "ok") say(COMPACTIONS[availability] ?? errorMessage ?? "");
      return;
    }
    case "agent/title":
      await port.request("agent/title", { sessionId });
      return;
    case "agent/tools": {
      const { tools } = await port.request("agent/tools", { sessionId });
      open("Tools", tools.map((tool) => `- \`${tool.name}\` (${tool.source}): ${tool.description}`)); // prettier-ignore
      return;
    }
    case "agent/rules": {
      const { rules } = await port.request("agent/rules", { sessionId });
      open(
        "Remembered rules",
        rules.length > 0 ? rules.map((rule) => `- ${rule.label}`) : ["Nothing is allowed for longer than once."],
      );
      return;
    }
    case "agent/models": {
      const { models } = await port.request("agent/models", {});
      open("Models", models.map((model) => `- \`${model.provider}/${model.model}\`${model.hasCredential ? "" : " (no key)"}`)); // prettier-ignore
      return;
    }
    case "agent/usage": {
      const { rows } = await port.request("agent/usage", { sessionId, groupBy: "model" });
      open("Usage of this session", rows.map((row) => `- ${row.key}: ${tokens(row.total)} tokens in ${count(row.requests, "request")}${row.costUsd === null ? "" : `, ${money(row.costUsd)}`}`)); // prettier-ignore
      return;
    }
    default:
      say(`/${command.name} is not known here.`);
  }
}

const COMPACTIONS: Readonly<Record<string, string>> = {
  empty: "There is nothing to compact yet.",
  just_compacted: "It has just been compacted.",
  unsupported: "This session cannot be compacted.",
};
