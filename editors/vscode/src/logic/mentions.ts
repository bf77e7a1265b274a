/** Which files a person means who has typed a part of a path. */

/** A file with its path relative to its root, with `/`. */
export interface PathOf {
  readonly path: string;
}

/**
 * The files whose path has the characters of `query` in their order, best first: the name before the folders, the
 * beginning of a word before its middle, what lies together before what is scattered, short before long.
 */
export function matching<File extends PathOf>(files: readonly File[], query: string, limit: number): File[] {
  const wanted = query.toLowerCase().replaceAll("\\", "/").replace(/\s+/gu, "");
  const scored: { file: File; score: number }[] = [];
  for (const file of files) {
    const score = scoreOf(file.path, wanted);
    if (score !== undefined) {
      scored.push({ file, score });
    }
  }
  scored.sort(
    (a, b) => b.score - a.score || a.file.path.length - b.file.path.length || compare(a.file.path, b.file.path),
  );
  return scored.slice(0, limit).map(({ file }) => file);
}

const IN_ORDER = 1;
const TOGETHER = 5;
const WORD_BEGINS = 4;
const IN_NAME = 3;

function scoreOf(path: string, wanted: string): number | undefined {
  const lower = path.toLowerCase();
  const nameAt = lower.lastIndexOf("/") + 1;
  const whole = lower.indexOf(wanted, nameAt);
  if (whole >= 0) {
    const begins = whole === nameAt ? 2 * WORD_BEGINS : 0;
    return wanted.length * (IN_ORDER + TOGETHER + IN_NAME) + begins;
  }
  let score = 0;
  let at = -1;
  for (const character of wanted) {
    const found = lower.indexOf(character, at + 1);
    if (found < 0) {
      return undefined;
    }
    score += IN_ORDER;
    score += found === at + 1 && at >= 0 ? TOGETHER : 0;
    score += beginsWord(path, found) ? WORD_BEGINS : 0;
    score += found >= nameAt ? IN_NAME : 0;
    at = found;
  }
  return score;
}

function beginsWord(path: string, at: number): boolean {
  const before = path[at - 1] ?? "/";
  const here = path[at] ?? "";
  return /[/_\-. ]/.test(before) || (/\p{Lu}/u.test(here) && /\p{Ll}/u.test(before));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
