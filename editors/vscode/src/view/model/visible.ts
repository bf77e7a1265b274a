/** Spells out characters that the eye would be fooled by, as `agent_lsp/policy/visible.py` does. */

// Written as escapes, all of them: controls, text direction overrides, characters without a glyph, lone surrogates, tags.
const UNSEEN = new RegExp(
  // eslint-disable-next-line no-control-regex -- finding control characters is what it is for
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060\\u2066-\\u2069\\ufeff\\ufff9-\\ufffb]|[\\ud800-\\udfff]|[\\u{e0000}-\\u{e007f}]",
  "gu",
);

/** The text with those characters as `\x1b`, `\u202e`, …; line feeds and tabs stay. */
export function visible(text: string): string {
  return text.replace(UNSEEN, spelled);
}

/** The same on one line. */
export function visibleLine(text: string): string {
  return visible(text).replace(/\n/g, "\\n").replace(/\t/g, "\\t");
}

/** The text cut into what can be read and what has to be marked, in order. */
export function* spans(text: string): Generator<{ readonly text: string; readonly marked: boolean }> {
  let at = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > at) yield { text: text.slice(at, match.index), marked: false };
    yield { text: spelled(match[0]), marked: true };
    at = match.index + match[0].length;
  }
  if (at < text.length) yield { text: text.slice(at), marked: false };
}

function spelled(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
}
