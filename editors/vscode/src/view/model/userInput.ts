/** What a person gave, as rows show it: from the input of a request and from the messages it became. */

import type { Input, Text } from "../../shared/protocol";
import { attachedFile, attachedImage, bodyOf, isBlock } from "./markers";
import type { UserRow } from "./rows";

/** What goes into one user row. */
export interface Said {
  text: string;
  images: string[];
  files: { path: string; text: string }[];
}

/** An input as it was given. */
export function saidIn(input: Input): Said {
  const said: Said = { text: "", images: [], files: [] };
  if (typeof input === "string") return { ...said, text: input };
  for (const part of input) {
    if (part.type === "text") said.text += said.text ? `\n\n${part.text}` : part.text;
    else if (part.type === "image") said.images.push(part.data ?? part.url ?? "");
    else said.files.push({ path: shown(part.uri), text: "" });
  }
  return said;
}

/** Adds a text of a person's to a row: words, a file, or the line of an image that was kept as a file. */
export function addText(row: UserRow, text: string): void {
  const file = attachedFile(text);
  const image = attachedImage(text);
  if (file) row.files.push(file);
  else if (image !== null) row.files.push({ path: image, text: "" });
  else row.text += row.text ? `\n\n${text}` : text;
}

/** What a steering message says, null for any other text. */
export function steeringIn(payload: Text): string | null {
  return isBlock(payload.text, "user_steering") ? bodyOf(payload.text, "user_steering") : null;
}

function shown(uri: string): string {
  try {
    return decodeURIComponent(new URL(uri).pathname);
  } catch {
    return uri;
  }
}
