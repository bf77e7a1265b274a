/**
 * The message model: what `agent/message` carries and `agent/session/history` answers.
 *
 * Mirrors `agent_lsp/messages/` (content.py and envelope.py; `events.ts` has the rest): snake_case, as it stands in the
 * trace. Fields that are not set are absent. A newer server may add fields and kinds: readers ignore what they do not know.
 */

import type { EventPayload, SessionMode } from "./events";

export * from "./events";

/** How a message, a request or a compaction ended. */
export type StopReason = "completed" | "failed" | "aborted" | "timeout" | "malformed" | "auth";
/** Position of a fragment in its segment: `start`, `delta`s, `stop`, then at once the complete message. */
export type Phase = "start" | "delta" | "stop";
/** What a provider wants back with a message; opaque. */
export type Fidelity = Record<string, unknown>;

// --- model_msg: what is in the model's context -----------------------------------------------------------------------

/** A text of the model or of the user. `sender` tells who wrote a user-role text; absent means the person. */
export interface Text {
  type: "text";
  role: "user" | "assistant";
  text: string;
  sender?: "user" | "parent_agent" | "harness";
  stop_reason?: StopReason;
  fidelity?: Fidelity;
}

/** Reasoning of the model; empty where the provider hides it. */
export interface Thinking {
  type: "thinking";
  role: "assistant";
  thinking: string;
  stop_reason?: StopReason;
  fidelity?: Fidelity;
}

/** A call of a tool. `arguments` is the JSON text as the model wrote it; blank means `{}`. */
export interface ToolCall {
  type: "tool_call";
  role: "assistant";
  name: string;
  arguments: string;
  tool_call_id: string;
  stop_reason?: StopReason;
  fidelity?: Fidelity;
}

/** The one output of a call. `images` are data URLs. `stop_reason` only when the call did not end well. */
export interface ToolCallOutput {
  type: "tool_call_output";
  role: "user";
  tool_call_id: string;
  output: string;
  images?: string[];
  stop_reason?: StopReason;
  fidelity?: Fidelity;
}

/** An image of the user, by web address or data URL. */
export interface ImageUrl {
  type: "image_url";
  role: "user";
  image_url: string;
  fidelity?: Fidelity;
}

/** Other binary content: `data` is base64. */
export interface InlineData {
  type: "inline_data";
  role: "user" | "assistant";
  data: string;
  mime_type: string;
  fidelity?: Fidelity;
}

/** A fragment of a text; `start` and `stop` carry no body. */
export interface PartialText {
  type: "partial_text";
  role: "user" | "assistant";
  event_type: Phase;
  text: string;
}

/** A fragment of a thinking segment. */
export interface PartialThinking {
  type: "partial_thinking";
  role: "assistant";
  event_type: Phase;
  thinking: string;
}

/** A fragment of a call's arguments. */
export interface PartialToolCall {
  type: "partial_tool_call";
  role: "assistant";
  event_type: Phase;
  name: string;
  arguments: string;
  tool_call_id: string;
}

/** A fragment of a call's output. */
export interface PartialToolCallOutput {
  type: "partial_tool_call_output";
  role: "user";
  event_type: Phase;
  output: string;
  images?: string[];
  tool_call_id: string;
}

export type Content = Text | Thinking | ToolCall | ToolCallOutput | ImageUrl | InlineData;
export type Partial = PartialText | PartialThinking | PartialToolCall | PartialToolCallOutput;
export type ModelPayload = Content | Partial;

/** First message of every context: the session as it was created. */
export interface SessionMeta {
  type: "session_meta";
  session_id: string;
  parent_id?: string;
  provider: string;
  model_id: string;
  model_context_window?: number;
  system_prompt: string;
  workspace: string;
  mode: SessionMode;
  created_at: string;
  source?: "subagent" | "fork";
  tags?: string[];
  format: number;
}

// --- the envelope ----------------------------------------------------------------------------------------------------

/** `timestamp`: ISO 8601, UTC, milliseconds. `origin`: ids of child sessions, outer to inner; absent on own messages. */
interface Envelope<Kind extends string, Payload> {
  timestamp: string;
  type: Kind;
  payload: Payload;
  origin?: string[];
}

export type ModelMessage = Envelope<"model_msg", ModelPayload>;
export type EventMessage = Envelope<"event_msg", EventPayload>;
export type MetaMessage = Envelope<"session_meta", SessionMeta>;
/** One message of a session's stream. */
export type OmniMessage = ModelMessage | EventMessage | MetaMessage;
export type Payload = OmniMessage["payload"];
