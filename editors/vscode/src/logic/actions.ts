/** What the agent offers to do at a place in a file, among the editor's code actions. */

import type { Range, WireDiagnostic } from "../shared/protocol";

export type ActionKind = "quickfix" | "refactor" | "rewrite" | "none";

/** `prompt` is run with the lines of `range` attached. `fixes`: the diagnostics it is for, by their place in the list. */
export interface Offer {
  readonly title: string;
  readonly kind: ActionKind;
  readonly prompt: string;
  readonly range: Range;
  readonly fixes: readonly number[];
}

const MOST_PROBLEMS = 20;
const MOST_CHARS = 500;
const SEVERITIES = ["", "error", "warning", "information", "hint"] as const;

const ON_A_SELECTION: readonly Pick<Offer, "title" | "kind" | "prompt">[] = [
  {
    title: "Explain with agent",
    kind: "none",
    prompt: "Explain what the attached code does, and what is not obvious about it. Change nothing.",
  },
  {
    title: "Add tests with agent",
    kind: "refactor",
    prompt: "Write tests for the attached code where this project keeps its tests and in their style, and run them.",
  },
  {
    title: "Document with agent",
    kind: "rewrite",
    prompt:
      "Document the attached code in this project's style: what its readers cannot see from the code itself." +
      " Change nothing but comments and documentation.",
  },
];

/** The offers for a selection and the problems on it. `prompts` are the person's own, by title. */
export function offers(
  selection: Range,
  problems: readonly WireDiagnostic[],
  prompts: Readonly<Record<string, string>>,
): Offer[] {
  const { start, end } = selection;
  const isEmpty = start.line === end.line && start.character === end.character;
  const own = Object.entries(prompts).map(([title, prompt]) => ({ title, kind: "none" as const, prompt }));
  const onSelection = isEmpty ? [] : [...ON_A_SELECTION, ...own];
  return [...fix(problems), ...onSelection.map((one) => ({ ...one, range: selection, fixes: [] }))];
}

/** One offer for all problems, on the whole lines that they are in. */
function fix(problems: readonly WireDiagnostic[]): Offer[] {
  if (problems.length === 0) {
    return [];
  }
  const lines = problems.slice(0, MOST_PROBLEMS).map((problem) => `- ${described(problem)}`);
  if (problems.length > MOST_PROBLEMS) {
    lines.push(`- and ${problems.length - MOST_PROBLEMS} more`);
  }
  const first = Math.min(...problems.map(({ range }) => range.start.line));
  const last = Math.max(...problems.map(({ range }) => range.end.line));
  return [
    {
      title: problems.length === 1 ? "Fix with agent" : `Fix with agent (${problems.length} problems)`,
      kind: "quickfix",
      prompt: ["Fix what the checks have found in the attached lines:", ...lines].join("\n"),
      range: { start: { line: first, character: 0 }, end: { line: last + 1, character: 0 } },
      fixes: problems.map((_, index) => index),
    },
  ];
}

function described({ range, severity, message, source, code }: WireDiagnostic): string {
  const about = [source, code].filter((part) => part !== undefined).join(" ");
  const label = SEVERITIES[severity ?? 0];
  const line = [`line ${range.start.line + 1}:`, label ? `${label}:` : "", message, about ? `(${about})` : ""];
  const text = line
    .filter((part) => part !== "")
    .join(" ")
    .replace(/\s+/g, " ");
  return text.length <= MOST_CHARS ? text : `${text.slice(0, MOST_CHARS - 1)}…`;
}
