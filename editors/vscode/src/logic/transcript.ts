/** A session as Markdown, to read, search and keep. */

import type { EventPayload, OmniMessage, SessionInfo, Text, ToolCall, ToolCallOutput } from "../shared/protocol";

const CONTROL = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;
const BLOCK = /^\[(user_steering|context_summary)\]\n([\s\S]*)\n\[\/\1\]$/;
const ATTACHED = /^\[attached file: (.*)\]\n/;

/** Takes the messages of a session in their order. Fragments, and what child sessions say, add nothing. */
export class Transcript {
  readonly #parts: string[];
  readonly #names = new Map<string, string>();
  #speaker = "";

  constructor({ title, model, workspace, createdAt }: SessionInfo) {
    const facts = [`${model.provider}/${model.model}`, workspace, createdAt].map(code).join(" · ");
    this.#parts = [`# ${escaped(title ?? "Session")}\n\n${facts}\n`];
  }

  get text(): string {
    return this.#parts.join("");
  }

  add(messages: readonly OmniMessage[]): void {
    for (const message of messages) {
      if (message.origin === undefined) {
        this.#add(message);
      }
    }
  }

  #add({ payload }: OmniMessage): void {
    switch (payload.type) {
      case "run_begin":
        this.#speaker = "";
        this.#parts.push("\n---\n");
        break;
      case "text":
        this.#text(payload);
        break;
      case "thinking":
        this.#by("Agent", payload.thinking.trim() === "" ? "" : quoted(payload.thinking));
        break;
      case "tool_call":
        this.#call(payload);
        break;
      case "tool_call_output":
        this.#output(payload);
        break;
      case "image_url":
      case "inline_data":
        this.#by(
          payload.type === "image_url" || payload.role === "user" ? "You" : "Agent",
          "*(an image or other data)*",
        );
        break;
      default:
        this.#event(remark(payload as EventPayload));
    }
  }

  #text({ role, text, sender }: Text): void {
    if (role === "assistant") {
      this.#by("Agent", prose(text));
      return;
    }
    const block = BLOCK.exec(text);
    const attached = ATTACHED.exec(text);
    if (block) {
      this.#by(block[1] === "user_steering" ? "You" : "Summary of what came before", prose(block[2] ?? ""));
    } else if (attached) {
      this.#by("You", `${code(attached[1] ?? "")}\n\n${fenced(text.slice(attached[0].length))}`);
    } else if (sender === undefined || sender === "user") {
      this.#by("You", prose(text));
    } else {
      this.#by("Note to the agent", fenced(text));
    }
  }

  #call({ name, arguments: given, tool_call_id: id }: ToolCall): void {
    this.#names.set(id, name);
    this.#by("Agent", `**Calls ${code(name)}**${given.trim() === "" ? "" : `\n\n${fenced(given, "json")}`}`);
  }

  #output({ tool_call_id: id, output, images, stop_reason: stop }: ToolCallOutput): void {
    const pictures = images?.length ? `\n\n*(${images.length} images)*` : "";
    const ending = stop === undefined ? "" : ` (${stop})`;
    this.#by("Agent", `Output of ${code(this.#names.get(id) ?? "a call")}${ending}:\n\n${fenced(output)}${pictures}`);
  }

  #event(line: string | undefined): void {
    if (line !== undefined) {
      this.#parts.push(`\n*${escaped(line)}*\n`);
    }
  }

  #by(speaker: string, body: string): void {
    if (body.trim() !== "") {
      this.#parts.push(speaker === this.#speaker ? `\n${body}\n` : `\n## ${speaker}\n\n${body}\n`);
      this.#speaker = speaker;
    }
  }
}

/** What of the events is worth a line. */
function remark(event: EventPayload): string | undefined {
  switch (event.type) {
    case "approval_decision": {
      const because = event.rule === undefined ? "" : `: ${event.rule}`;
      const asMeant = event.decision === "allow" && event.decided_by === "mode";
      return asMeant ? undefined : `${event.decision}, by ${event.decided_by}${because}`;
    }
    case "request_end":
      return event.error_message === undefined ? undefined : `a request failed: ${event.error_message}`;
    case "compaction_end":
      return `the context was compacted: ${event.status}`;
    case "abort":
      return event.reason === undefined ? "stopped" : `stopped: ${event.reason}`;
    default:
      return undefined;
  }
}

/** Markdown as it was written, apart from what the eye would not see. */
function prose(text: string): string {
  return visible(text).replace(/^\n+|\n+$/g, "");
}

function quoted(text: string): string {
  return prose(text)
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}

/** A span of code, whatever is in it. */
function code(text: string): string {
  const line = visible(text).replaceAll("\n", " ");
  const ticks = "`".repeat(longestRun(line) + 1);
  return line.includes("`") ? `${ticks} ${line} ${ticks}` : `\`${line}\``;
}

/** A block that nothing in it can end. */
function fenced(text: string, language = ""): string {
  const shown = visible(text).replace(/\n+$/, "");
  const fence = "`".repeat(Math.max(3, longestRun(shown) + 1));
  return `${fence}${language}\n${shown}\n${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

function escaped(line: string): string {
  return visible(line)
    .replaceAll("\n", " ")
    .replace(/[\\`*_<>[\]#]/g, "\\$&");
}

/** The text with control characters, and those that turn the direction of writing, spelled out. */
function visible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(CONTROL, (character) => {
    const number = character.codePointAt(0) ?? 0;
    return character === "\n" || character === "\t" ? character : `\\u{${number.toString(16).padStart(4, "0")}}`;
  });
}
