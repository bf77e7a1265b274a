/** One line for a person about a call: what it does with what. The server's titles of approvals read the same. */

import { field, type Arguments } from "./partialJson";
import { visibleLine } from "./visible";

export type ToolIcon =
  "file" | "edit" | "search" | "terminal" | "plan" | "agent" | "globe" | "question" | "tool" | "warning";

export interface ToolTitle {
  readonly verb: string;
  readonly subject: string;
  readonly icon: ToolIcon;
}

type Titler = (args: Arguments) => ToolTitle;

const TITLES: Readonly<Record<string, Titler>> = {
  read_file: of("Read", "file_path", "file"),
  read_image: of("Look at", "file_path", "file"),
  describe_image: of("Describe", "file_path", "file"),
  list_files: of("List", "path", "file", "."),
  search_text: (args) => ({ verb: "Search", subject: withPlace(args, "pattern"), icon: "search" }),
  edit_file: of("Edit", "file_path", "edit"),
  write_file: of("Write", "file_path", "edit"),
  apply_patch: (args) => ({ verb: "Patch", subject: patched(field(args, "patch") ?? ""), icon: "edit" }),
  exec_command: of("Run", "cmd", "terminal"),
  input_command: of("Talk to", "process_id", "terminal"),
  kill_command: of("Kill", "process_id", "terminal"),
  web_fetch: of("Fetch", "url", "globe"),
  todo_write: (args) => ({ verb: "Plan", subject: progress(args), icon: "plan" }),
  run_subagent: of("Subagent", "prompt", "agent"),
  input_subagent: of("To subagent", "prompt", "agent", "wait"),
  kill_subagent: of("End subagent", "subagent_id", "agent"),
  ask_user: of("Ask", "question", "question"),
  exit_plan: (args) => ({ verb: "Plan", subject: firstLine(field(args, "plan") ?? ""), icon: "plan" }),
  diagnostics: of("Diagnostics of", "file_path", "warning", "all files"),
};

const SUBJECT_CHARS = 300;

/** The title of a call, as far as its arguments are written. */
export function toolTitle(name: string, args: Arguments): ToolTitle {
  const titler = TITLES[name] ?? unknownTool(name);
  const title = titler(args);
  return { ...title, subject: visibleLine(title.subject).slice(0, SUBJECT_CHARS) };
}

/** The steps of a plan, as `todo_write` has them. */
export interface PlanStep {
  readonly text: string;
  readonly status: "pending" | "in_progress" | "done";
}

/** The steps in the arguments, those that are whole. */
export function planSteps(args: Arguments): PlanStep[] {
  const items: unknown = args.items;
  if (!Array.isArray(items)) return [];
  return items.flatMap((item: unknown) => {
    if (typeof item !== "object" || item === null) return [];
    const { text, status } = item as Record<string, unknown>;
    if (typeof text !== "string" || text === "") return [];
    return [{ text, status: status === "done" || status === "in_progress" ? status : "pending" }];
  });
}

function of(verb: string, name: string, icon: ToolIcon, otherwise = ""): Titler {
  return (args) => ({ verb, subject: field(args, name) ?? otherwise, icon });
}

function unknownTool(name: string): Titler {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  return (args) => {
    const first = Object.values(args).find((value): value is string => typeof value === "string");
    return { verb: tool && server ? `${tool} (${server})` : name, subject: first ?? "", icon: "tool" };
  };
}

function withPlace(args: Arguments, name: string): string {
  const place = field(args, "path");
  return `${field(args, name) ?? ""}${place && place !== "." ? ` in ${place}` : ""}`;
}

function patched(patch: string): string {
  const files = [...patch.matchAll(/^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b\/)?)(\S.*)$/gm)].map(
    (match) => match[1] ?? "",
  );
  return [...new Set(files.filter((file) => file !== "/dev/null"))].join(", ");
}

function progress(args: Arguments): string {
  const steps = planSteps(args);
  return `${steps.filter((step) => step.status === "done").length} of ${steps.length} done`;
}

function firstLine(text: string): string {
  return (
    text
      .split("\n")
      .map((line) => line.replace(/^[# ]+/, "").trim())
      .find((line) => line !== "") ?? ""
  );
}
