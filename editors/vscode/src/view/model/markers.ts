/** Reads the square-bracket blocks that the engine composes (`agent_lsp/messages/markers.py`); the older forms too. */

/** Whether the whole text is one block of `tag`. */
export function isBlock(text: string, tag: string): boolean {
  return (
    (text.startsWith(`[${tag}]`) && text.endsWith(`[/${tag}]`)) ||
    (text.startsWith(`<${tag}>`) && text.endsWith(`</${tag}>`))
  );
}

/** What stands inside a text that is one block of `tag`. */
export function bodyOf(text: string, tag: string): string {
  return text.slice(tag.length + 2, text.length - tag.length - 3).replace(/^\n|\n$/g, "");
}

/** The summary in a reply: the first pair of tags that is not empty, else the text. */
export function summaryOf(text: string): string {
  for (const match of text.matchAll(/\[summary\]([\s\S]*?)(?:\[\/summary\]|$)|<summary>([\s\S]*?)(?:<\/summary>|$)/g)) {
    const body = (match[1] ?? match[2] ?? "").trim();
    if (body) return body;
  }
  return text.trim();
}

const ATTACHED_FILE = /^\[attached file: (.*)\]\n/;
const ATTACHED_IMAGE = /^\[attached image: (.*)\]$/;

/** The file that a text attaches, if it is one. */
export function attachedFile(text: string): { path: string; text: string } | null {
  const matched = ATTACHED_FILE.exec(text);
  return matched ? { path: matched[1] ?? "", text: text.slice(matched[0].length) } : null;
}

/** The path of an image that was kept as a file, if the text is such a line. */
export function attachedImage(text: string): string | null {
  return ATTACHED_IMAGE.exec(text)?.[1] ?? null;
}

const TITLES: Readonly<Record<string, string>> = {
  turn_aborted: "Carried over from the turn that was stopped",
  turn_retried: "What the failed attempt had brought, sent again",
  output_limit: "The reply reached the output limit",
  user_edits: "What you changed meanwhile, as told to the agent",
  goal: "The goal, as told to the agent",
  answer_rejected: "The answer was not accepted",
  preparation: "Prepared for the agent",
};

/** A text of the engine as a title and what is below it. */
export function noteOf(text: string): { title: string; body: string } {
  const tag = /^[[<]([a-z_]+)[\]>]/.exec(text)?.[1];
  if (tag && isBlock(text, tag)) {
    return { title: TITLES[tag] ?? `Note to the agent: ${tag.replace(/_/g, " ")}`, body: bodyOf(text, tag) };
  }
  return { title: (tag && TITLES[tag]) ?? "Note to the agent", body: text };
}
