/** A draft as the input of a request, and back. Pure. */

import type { Attachment, Draft } from "../../shared/bridge";
import type { Input, InputPart } from "../../shared/protocol";

export function isEmpty(draft: Draft): boolean {
  return draft.text.trim() === "" && draft.attachments.length === 0;
}

/** Text alone is a string; else the text, then what goes along with it, in order. */
export function inputOf(draft: Draft): Input {
  if (draft.attachments.length === 0) return draft.text;
  const parts: InputPart[] = draft.text.trim() === "" ? [] : [{ type: "text", text: draft.text }];
  for (const attachment of draft.attachments) {
    if (attachment.kind === "image") parts.push({ type: "image", data: attachment.dataUrl });
    else if (attachment.range) parts.push({ type: "resource", uri: attachment.uri, range: attachment.range });
    else parts.push({ type: "resource", uri: attachment.uri });
  }
  return parts;
}

/** An input that comes back to the composer. */
export function draftOf(input: Input, id: () => string): Draft {
  if (typeof input === "string") return { text: input, attachments: [] };
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  for (const part of input) {
    if (part.type === "text") texts.push(part.text);
    else if (part.type === "image")
      attachments.push({ kind: "image", id: id(), name: "image", dataUrl: part.data ?? part.url ?? "" });
    else
      attachments.push({
        kind: "file",
        id: id(),
        label: labelOf(part.uri, part.range),
        uri: part.uri,
        ...(part.range ? { range: part.range } : {}),
      });
  }
  return { text: texts.join("\n\n"), attachments };
}

/** What comes back stands before what is there. */
export function merged(returned: readonly Draft[], present: Draft): Draft {
  const texts = [...returned.map((draft) => draft.text), present.text].filter((text) => text.trim() !== "");
  return {
    text: texts.join("\n\n"),
    attachments: [...returned.flatMap((draft) => draft.attachments), ...present.attachments],
  };
}

/** What is left when what was sent is taken out: what was typed or attached since. */
export function without(present: Draft, sent: Draft): Draft {
  const text = present.text.startsWith(sent.text)
    ? present.text.slice(sent.text.length).replace(/^\n+/, "")
    : present.text;
  const gone = new Set(sent.attachments.map((attachment) => attachment.id));
  return { text, attachments: present.attachments.filter((attachment) => !gone.has(attachment.id)) };
}

function labelOf(
  uri: string,
  range: { readonly start: { readonly line: number }; readonly end: { readonly line: number } } | undefined,
): string {
  const name = decodeURIComponent(uri.split("/").pop() ?? uri);
  return range ? `${name}:${range.start.line + 1}-${range.end.line + 1}` : name;
}
