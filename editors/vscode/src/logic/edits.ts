/** The edits of the agent that stand, as a person goes through them. */

import type { EditInfo, Position } from "../shared/protocol";

/** An edit and the session that has made it. */
export interface Standing extends EditInfo {
  readonly sessionId: string;
}

/** Edits that wait to be kept or undone, in the order of files and places. */
export function standing(edits: readonly Standing[]): Standing[] {
  return edits.filter(({ state }) => state === "pending").sort(byPlace);
}

/** Where the person is; `uri` is undefined outside of any file. */
export interface Place {
  readonly uri: string | undefined;
  readonly position: Position;
}

/** The next edit after a place, or the one before it; at the end it goes on from the other end. `edits` are in order. */
export function step(edits: readonly Standing[], from: Place, direction: "next" | "previous"): Standing | undefined {
  const here = from.uri;
  if (here === undefined) {
    return direction === "next" ? edits[0] : edits.at(-1);
  }
  const later = (edit: Standing): boolean => compare(edit, { uri: here, start: from.position }) > 0;
  const earlier = (edit: Standing): boolean => compare(edit, { uri: here, start: from.position }) < 0;
  return direction === "next" ? (edits.find(later) ?? edits[0]) : (edits.findLast(earlier) ?? edits.at(-1));
}

/** The edit at a place: one whose lines it is on. */
export function editAt(edits: readonly Standing[], { uri, position }: Place): Standing | undefined {
  return edits.find(
    (edit) => edit.uri === uri && edit.range.start.line <= position.line && position.line <= edit.range.end.line,
  );
}

/** What is said of edits that could not be undone; undefined when all of them were. */
export function refusals(asked: readonly EditInfo[], nameOf: (uri: string) => string): string | undefined {
  const refused = asked.filter(({ reason }) => reason !== undefined);
  const first = refused[0];
  if (!first) {
    return undefined;
  }
  const where = `${nameOf(first.uri)}:${first.range.start.line + 1}`;
  const more = refused.length > 1 ? ` and ${refused.length - 1} more` : "";
  return `Not undone: ${where}${more}, because ${first.reason ?? ""}.`;
}

function byPlace(a: Standing, b: Standing): number {
  return compare(a, { uri: b.uri, start: b.range.start });
}

function compare({ uri, range: { start } }: EditInfo, other: { uri: string; start: Position }): number {
  if (uri !== other.uri) {
    return uri < other.uri ? -1 : 1;
  }
  return start.line - other.start.line || start.character - other.start.character;
}
