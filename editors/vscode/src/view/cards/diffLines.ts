/** The difference that a call makes, as lines: from its arguments, or from a unified diff. Pure. */

import { field, type Arguments } from "../model/partialJson";

export interface DiffLine {
  readonly kind: "add" | "remove" | "same" | "head";
  readonly text: string;
}

/** What an edit would change, from the arguments as far as they are there; null for calls that edit nothing. */
export function diffOf(name: string, args: Arguments): DiffLine[] | null {
  switch (name) {
    case "edit_file":
      return changed(field(args, "old_string") ?? "", field(args, "new_string") ?? "");
    case "write_file":
      return split(field(args, "content") ?? "").map((text) => ({ kind: "add", text }));
    case "apply_patch":
      return unified(field(args, "patch") ?? "");
    default:
      return null;
  }
}

/** The lines of a unified diff or of a patch between `*** Begin Patch` and `*** End Patch`. */
export function unified(diff: string): DiffLine[] {
  return split(diff).flatMap((line): DiffLine[] => {
    if (line.startsWith("*** Begin") || line.startsWith("*** End")) return [];
    if (/^(?:@@|\*\*\*|---|\+\+\+|diff |index |\\ )/.test(line)) return [{ kind: "head", text: line }];
    if (line.startsWith("+")) return [{ kind: "add", text: line.slice(1) }];
    if (line.startsWith("-")) return [{ kind: "remove", text: line.slice(1) }];
    return [{ kind: "same", text: line.startsWith(" ") ? line.slice(1) : line }];
  });
}

/** How many lines come and go. */
export function balance(lines: readonly DiffLine[]): { readonly added: number; readonly removed: number } {
  let added = 0;
  let removed = 0;
  for (const line of lines) {
    if (line.kind === "add") added++;
    else if (line.kind === "remove") removed++;
  }
  return { added, removed };
}

/** Lines that both begin or end with stay; what is between goes and comes. */
function changed(before: string, after: string): DiffLine[] {
  const from = split(before);
  const to = split(after);
  let head = 0;
  while (head < from.length && head < to.length && from[head] === to[head]) head++;
  let tail = 0;
  while (tail < from.length - head && tail < to.length - head && from.at(-1 - tail) === to.at(-1 - tail)) tail++;
  const same = (text: string): DiffLine => ({ kind: "same", text });
  return [
    ...from.slice(0, head).map(same),
    ...from.slice(head, from.length - tail).map((text): DiffLine => ({ kind: "remove", text })),
    ...to.slice(head, to.length - tail).map((text): DiffLine => ({ kind: "add", text })),
    ...from.slice(from.length - tail).map(same),
  ];
}

function split(text: string): string[] {
  if (text === "") return [];
  const lines = text.replace(/\r\n/g, "\n").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
