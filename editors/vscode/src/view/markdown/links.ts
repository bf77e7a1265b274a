/** What a link may do. The host checks again before it opens anything. */

const WEB = /^(?:https?|mailto):/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

export type Target =
  | { readonly kind: "web"; readonly href: string; readonly host: string }
  | { readonly kind: "path"; readonly path: string; readonly line?: number };

/** Where a link leads; null when it leads nowhere that is opened. */
export function targetOf(href: string): Target | null {
  const trimmed = href.trim();
  if (WEB.test(trimmed)) {
    try {
      const url = new URL(trimmed);
      return { kind: "web", href: url.href, host: url.host || url.pathname };
    } catch {
      return null;
    }
  }
  if (/^file:\/\//i.test(trimmed)) return pathOf(trimmed.replace(/^file:\/\//i, ""));
  if (trimmed === "" || trimmed.startsWith("#") || trimmed.startsWith("//")) return null;
  if (SCHEME.test(trimmed) && !/^[a-z]:[\\/]/i.test(trimmed)) return null;
  return pathOf(trimmed);
}

function pathOf(text: string): Target {
  const matched = /^(.*?)(?:#L?|:)(\d+)(?:[-:]\S*)?$/.exec(text);
  const path = decoded(matched?.[1] ?? text);
  return matched?.[2] ? { kind: "path", path, line: Number(matched[2]) } : { kind: "path", path };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
