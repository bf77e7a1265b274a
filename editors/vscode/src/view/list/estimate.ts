/** How high a row will about be, before it was ever measured. */

import type { Row } from "../model/rows";

const LINE_PX = 20;
const CHARACTER_PX = 7;

/** Pixels, for a list of that width. */
export function estimate(row: Row, width: number): number {
  switch (row.kind) {
    case "user":
      return 44 + Math.min(12, lines(row.text, width)) * LINE_PX + (row.images.length > 0 ? 96 : 0);
    case "answer":
      return 16 + lines(row.text, width) * LINE_PX;
    case "tool":
      return 38;
    case "retry":
    case "error":
      return 84;
    case "compaction":
      return 56;
    default:
      return 32;
  }
}

function lines(text: string, width: number): number {
  const perLine = Math.max(20, Math.floor((width || 400) / CHARACTER_PX));
  let count = 0;
  for (const line of text.split("\n")) count += Math.max(1, Math.ceil(line.length / perLine));
  return count;
}
