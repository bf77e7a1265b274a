/** Commands that begin with a slash: those that stand for a method, and those that somebody has written down. */

import type { SlashCommand } from "../shared/bridge";

/** Mirrors `BUILT_IN` of `agent_lsp/sessions/slash.py`. */
export const BUILT_IN: readonly SlashCommand[] = [
  { name: "compact", description: "Go on from a summary of the conversation", method: "agent/compact" },
  { name: "title", description: "Give the conversation a title", method: "agent/title" },
  { name: "tools", description: "List the tools", method: "agent/tools" },
  { name: "rules", description: "List what was allowed for longer than once", method: "agent/rules" },
  { name: "models", description: "List the models", method: "agent/models" },
  { name: "usage", description: "Say what was used", method: "agent/usage" },
];

const NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_.:-]*$/u;
const MOST_CHARS = 200;

/** The command in a file of that name (without `.md`); undefined when the name is none that can be typed. */
export function writtenCommand(name: string, content: string): SlashCommand | undefined {
  if (!NAME.test(name)) {
    return undefined;
  }
  const { fields, body } = frontMatter(content);
  const first = body
    .split("\n")
    .map((line) => line.replace(/^[# ]+|[# ]+$/g, ""))
    .find((line) => line !== "");
  const hint = fields["argument-hint"];
  return {
    name,
    description: shortened(fields.description ?? first ?? ""),
    ...(hint ? { hint: shortened(hint) } : {}),
  };
}

/** All of them, the built-in ones first; of two of the same name the later one, which is the person's own, counts. */
export function allCommands(written: readonly SlashCommand[]): SlashCommand[] {
  const byName = new Map(written.map((command) => [command.name, command]));
  const own = [...byName.values()].sort((a, b) => a.name.localeCompare(b.name));
  return [...BUILT_IN, ...own.filter(({ name }) => !BUILT_IN.some((known) => known.name === name))];
}

function frontMatter(content: string): { fields: Record<string, string>; body: string } {
  const match = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?/.exec(content);
  const fields: Record<string, string> = {};
  for (const line of match?.[1]?.split(/\r?\n/) ?? []) {
    const [name, value] = [line.slice(0, line.indexOf(":")).trim(), line.slice(line.indexOf(":") + 1).trim()];
    if (name !== "") {
      fields[name] = value.replace(/^(["'])(.*)\1$/, "$2");
    }
  }
  return { fields, body: match ? content.slice(match[0].length) : content };
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= MOST_CHARS ? line : `${line.slice(0, MOST_CHARS - 1)}…`;
}
