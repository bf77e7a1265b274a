/** Makes streams as the server sends them, and cuts them as connections do. */

import fc from "fast-check";
import type {
  MessageParams,
  ModelPayload,
  EventPayload,
  OmniMessage,
  Partial,
  Content,
} from "../../../src/shared/protocol";

let clock = 0;

/** A message with a time of its own. */
export function message(payload: ModelPayload | EventPayload, origin?: string[]): OmniMessage {
  const timestamp = new Date(Date.UTC(2026, 10, 29) + clock++).toISOString();
  const type = "role" in payload ? "model_msg" : "event_msg";
  return { timestamp, type, payload, ...(origin ? { origin } : {}) } as OmniMessage;
}

/** The fragments of a complete message, its body cut at `cuts`, and the message. */
export function streamed(payload: Content, pieces: readonly string[]): OmniMessage[] {
  const fragment = (phase: "start" | "delta" | "stop", body: string): OmniMessage =>
    message(fragmentOf(payload, phase, body));
  return [
    fragment("start", ""),
    ...pieces.map((piece) => fragment("delta", piece)),
    fragment("stop", ""),
    message(payload),
  ];
}

function fragmentOf(payload: Content, event_type: "start" | "delta" | "stop", body: string): Partial {
  switch (payload.type) {
    case "text":
      return { type: "partial_text", role: "assistant", event_type, text: body };
    case "thinking":
      return { type: "partial_thinking", role: "assistant", event_type, thinking: body };
    case "tool_call":
      return {
        type: "partial_tool_call",
        role: "assistant",
        event_type,
        name: payload.name,
        arguments: body,
        tool_call_id: payload.tool_call_id,
      };
    case "tool_call_output":
      return {
        type: "partial_tool_call_output",
        role: "user",
        event_type,
        output: body,
        tool_call_id: payload.tool_call_id,
      };
    default:
      throw new Error(`${payload.type} is never streamed`);
  }
}

/** A text in pieces that are not empty. */
export function piecesOf(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  let at = 0;
  for (let index = 0; at < text.length; index++) {
    const size = Math.max(1, sizes[index % Math.max(1, sizes.length)] ?? 1);
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

/** Notifications that carry the messages, some together, numbered from `seq`. */
export function notified(
  messages: readonly OmniMessage[],
  sizes: readonly number[],
  runId: string,
  seq = 0,
): MessageParams[] {
  const found: MessageParams[] = [];
  let at = 0;
  for (let index = 0; at < messages.length; index++) {
    const size = Math.max(1, sizes[index % Math.max(1, sizes.length)] ?? 1);
    found.push({ sessionId: "s", runId, seq: seq + at, messages: messages.slice(at, at + size) });
    at += size;
  }
  return found;
}

const markdown = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.constantFrom(
    "# Title",
    "- item\n- item",
    "```js\nlet a = 1;\n\nlet b;\n```",
    "a paragraph\nof two lines",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "1. one\n\n   more\n\n2. two",
    "> quoted\n> more",
  ),
  fc.constantFrom("long ".repeat(500), "longer ".repeat(700)),
);
export const answerText = fc.array(markdown, { minLength: 1, maxLength: 8 }).map((blocks) => blocks.join("\n\n"));
export const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 12 });

interface Turn {
  readonly thinking: string;
  readonly text: string;
  readonly output: string;
  readonly sizes: number[];
  readonly streamedOutput: boolean;
}

const turn: fc.Arbitrary<Turn> = fc.record({
  thinking: fc.string(),
  text: answerText,
  output: fc.string({ maxLength: 300 }),
  sizes,
  streamedOutput: fc.boolean(),
});

/** A whole run: what the trace of it holds and what the stream brought, in the same order. */
export interface Run {
  readonly traced: OmniMessage[];
  readonly live: OmniMessage[];
}

/** Runs of some turns, each with a thought, an answer and a call. */
export const run: fc.Arbitrary<Run> = fc.array(turn, { minLength: 1, maxLength: 3 }).map((turns) => {
  const live: OmniMessage[] = [];
  for (const [index, one] of turns.entries()) {
    const id = `call_${index}`;
    live.push(message({ type: "request_begin" }));
    if (one.thinking.trim())
      live.push(
        ...streamed({ type: "thinking", role: "assistant", thinking: one.thinking }, piecesOf(one.thinking, one.sizes)),
      );
    live.push(...streamed({ type: "text", role: "assistant", text: one.text }, piecesOf(one.text, one.sizes)));
    const call = '{"cmd": "make"}';
    live.push(
      ...streamed(
        { type: "tool_call", role: "assistant", name: "exec_command", arguments: call, tool_call_id: id },
        piecesOf(call, one.sizes),
      ),
    );
    live.push(message({ type: "request_end", status: "completed", finish: "tool_calls" }));
    live.push(message({ type: "approval_decision", tool_call_id: id, decision: "allow", decided_by: "mode" }));
    const output: Content = { type: "tool_call_output", role: "user", tool_call_id: id, output: one.output };
    live.push(...(one.streamedOutput ? streamed(output, piecesOf(one.output, one.sizes)) : [message(output)]));
  }
  return { live, traced: live.filter((each) => !each.payload.type.startsWith("partial_")) };
});
