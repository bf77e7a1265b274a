/** The folders of the workspace, and which one a session belongs to. */

import type { Root } from "../shared/bridge";

/** The innermost root that a file is in. */
export function rootOf<R extends Pick<Root, "uri">>(roots: readonly R[], uri: string | undefined): R | undefined {
  const holding = roots.filter((root) => uri !== undefined && isWithin(uri, root.uri));
  return holding.reduce<R | undefined>(
    (best, root) => (best && best.uri.length >= root.uri.length ? best : root),
    undefined,
  );
}

/** The root of a new session: the given one if it is one, else the active file's, else the first. */
export function chosenRoot(
  roots: readonly Root[],
  wanted: string | undefined,
  activeFile: string | undefined,
): Root | undefined {
  const named = roots.find(({ uri }) => wanted !== undefined && sameFolder(uri, wanted));
  return named ?? rootOf(roots, activeFile) ?? roots[0];
}

/** Whether two URIs name the same folder. */
export function sameFolder(a: string, b: string): boolean {
  return normal(a) === normal(b);
}

function isWithin(uri: string, folder: string): boolean {
  return normal(uri).startsWith(`${normal(folder)}/`);
}

/** One spelling of a URI: editor and server escape different characters. */
function normal(uri: string): string {
  try {
    return decodeURIComponent(uri).replace(/\/+$/, "");
  } catch {
    return uri.replace(/\/+$/, "");
  }
}
