/** What in a reply may be opened, and as what. */

const SCHEMES = new Set(["http:", "https:", "mailto:"]);

/** The link as it may be handed to the system; undefined when its scheme is none that a browser or a mailer opens. */
export function safeLink(href: string): string | undefined {
  try {
    const url = new URL(href.trim());
    return SCHEMES.has(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** A place in a file as it stands in a text; line and column begin with 1. */
export interface PathReference {
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
}

/** Reads `path`, `path:12`, `path:12:3`, `path#L12` and `file:` URLs of them. */
export function pathReference(text: string): PathReference {
  const match = /^(.*?)(?::(\d+)(?::(\d+))?|#L(\d+)(?:-L?\d+)?)?$/su.exec(text.trim());
  const line = match?.[2] ?? match?.[4];
  return {
    path: match?.[1] ?? text,
    ...(line ? { line: Number(line) } : {}),
    ...(match?.[3] ? { column: Number(match[3]) } : {}),
  };
}
