/** Makes the two sides of a diff editor from a unified diff and the text that it is about. */

import type { Preview } from "../shared/protocol";

interface Hunk {
  /** First line of the old text that it is about, from 0. */
  readonly start: number;
  readonly old: readonly string[];
  readonly new: readonly string[];
}

/** The part of a diff that is about one file. A name is undefined on the side where there is no file. */
export interface FilePatch {
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly hunks: readonly Hunk[];
  /** Whether the last line of the new text has no line end. */
  readonly openEnd: boolean;
}

/** Both sides. `whole`: all of the text, not only what is near the changes. */
export interface Sides {
  readonly left: string;
  readonly right: string;
  readonly whole: boolean;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const NO_LINE_END = "\\ No newline at end of file";

/** Reads a unified diff of one file or several. What is no diff gives nothing. */
export function filePatches(diff: string): FilePatch[] {
  const patches: FilePatch[] = [];
  const lines = diff.split("\n");
  let at = 0;
  while (at < lines.length) {
    const [before, after] = [fileName(lines[at], "--- "), fileName(lines[at + 1], "+++ ")];
    if (before === null || after === null) {
      at += 1;
      continue;
    }
    const read = hunks(lines, at + 2);
    patches.push({ before, after, hunks: read.hunks, openEnd: read.openEnd });
    at = read.end;
  }
  return patches;
}

/** The name in a head line; undefined for no file, null when it is no head line. */
function fileName(line: string | undefined, mark: string): string | undefined | null {
  if (!line?.startsWith(mark)) {
    return null;
  }
  const name = line.slice(mark.length).replace(/\t.*$/, "");
  return name === "/dev/null" ? undefined : name.replace(/^[ab]\//, "");
}

function hunks(lines: readonly string[], from: number): { hunks: Hunk[]; openEnd: boolean; end: number } {
  const found: Hunk[] = [];
  let openEnd = false;
  let at = from;
  for (let head = HUNK.exec(lines[at] ?? ""); head; head = HUNK.exec(lines[at] ?? "")) {
    const [oldLength, newLength] = [Number(head[2] ?? 1), Number(head[4] ?? 1)];
    const hunk = { start: Number(head[1]) - (oldLength === 0 ? 0 : 1), old: [] as string[], new: [] as string[] };
    let sign = " ";
    for (at += 1; at < lines.length; at += 1) {
      const line = lines[at] ?? "";
      if (line === NO_LINE_END) {
        openEnd ||= sign !== "-";
        continue;
      }
      if (hunk.old.length === oldLength && hunk.new.length === newLength) {
        break;
      }
      sign = line[0] ?? " ";
      if (sign !== "+") {
        hunk.old.push(line.slice(1));
      }
      if (sign !== "-") {
        hunk.new.push(line.slice(1));
      }
    }
    found.push(hunk);
  }
  return { hunks: found, openEnd, end: at };
}

/**
 * Both sides of a patch on `text`, the present one (undefined: there is no file). Where the diff does not fit the text,
 * because somebody has typed or because something in it was spelled out, they show the changed places alone.
 */
export function sides(patch: FilePatch, text: string | undefined): Sides {
  const before = patch.before === undefined ? "" : text;
  const right = before === undefined ? undefined : applied(patch, before);
  return before !== undefined && right !== undefined ? { left: before, right, whole: true } : excerpt(patch);
}

function applied(patch: FilePatch, text: string): string | undefined {
  if (patch.after === undefined) {
    return "";
  }
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const open = text !== "" && !text.endsWith("\n");
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  const made: string[] = [];
  let at = 0;
  for (const hunk of patch.hunks) {
    const here = lines.slice(hunk.start, hunk.start + hunk.old.length);
    if (hunk.start < at || here.length !== hunk.old.length || here.some((line, i) => line !== hunk.old[i])) {
      return undefined;
    }
    made.push(...lines.slice(at, hunk.start), ...hunk.new);
    at = hunk.start + hunk.old.length;
  }
  const rest = lines.slice(at);
  made.push(...rest);
  const endsOpen = rest.length > 0 ? open : patch.openEnd;
  return made.length === 0 ? "" : made.join(lineEnd) + (endsOpen ? "" : lineEnd);
}

function excerpt(patch: FilePatch): Sides {
  const joined = (side: "old" | "new") => patch.hunks.map((hunk) => hunk[side].join("\n")).join("\n⋯\n");
  return { left: joined("old"), right: joined("new"), whole: false };
}

/** The diff in a preview, with the file that it begins with; undefined when there is none in it. */
export function proposedDiff(preview: Preview | undefined): { uri: string | undefined; diff: string } | undefined {
  if (preview?.kind === "edit") {
    return { uri: preview.uri, diff: preview.diff };
  }
  // Several files at once come as a text that is the diff of all of them.
  const isDiff = preview?.kind === "text" && filePatches(preview.text).length > 0;
  return isDiff ? { uri: undefined, diff: preview.text } : undefined;
}
