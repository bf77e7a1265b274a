/** Reads the arguments of a call while they are being written: what is there of a JSON object, strings cut included. */

export type Arguments = Readonly<Record<string, unknown>>;

/** The fields of the object as far as they go; an empty object when nothing can be read. */
export function readArguments(text: string): Arguments {
  const trimmed = text.trim();
  if (trimmed === "") return {};
  return asObject(trimmed) ?? asObject(closed(trimmed)) ?? {};
}

/** A field as text; other values as JSON. */
export function field(args: Arguments, name: string): string | undefined {
  const value = args[name];
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function asObject(text: string): Arguments | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Arguments) : null;
  } catch {
    return null;
  }
}

/** The text with what is open closed: string, arrays and objects; a key without its value is dropped. */
function closed(text: string): string {
  const stack: string[] = [];
  let inString = false;
  let safe = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    if (inString) {
      if (character === "\\") index++;
      else if (character === '"') inString = false;
      continue;
    }
    if (character === '"') inString = true;
    else if (character === "{" || character === "[") stack.push(character === "{" ? "}" : "]");
    else if (character === "}" || character === "]") stack.pop();
    else if (character === "," && stack.length === 1) safe = index;
  }
  const closers = stack.reverse().join("");
  const cut = inString ? `${withoutBrokenEscape(text)}"` : text.replace(/[,\s]+$/, "");
  for (const attempt of [cut + closers, `${cut}:null${closers}`, `${cut}null${closers}`]) {
    if (asObject(attempt)) return attempt;
  }
  return safe > 0 ? `${text.slice(0, safe)}}` : "{}";
}

function withoutBrokenEscape(text: string): string {
  return text.replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, (tail, at: number) => {
    let slashes = 0;
    while (text.charAt(at - 1 - slashes) === "\\") slashes++;
    return slashes % 2 === 0 ? "" : tail;
  });
}
