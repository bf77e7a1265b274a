/**
 * A model that says what it is told to: an HTTP server on loopback that speaks chat completions.
 *
 *     model.script(turn(think("hm"), say("Hel", "lo"), use("read_file", { file_path: "a.txt" })), turn(say("Done.")));
 *
 * Each request takes the next answer of the script and streams it piece by piece. A `Gate` in it waits until a test
 * opens it, `CUT` breaks the connection there. Every request is kept in `asked`.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export const CUT = Symbol("cut");

export interface Say {
  readonly kind: "text" | "thinking";
  readonly pieces: readonly string[];
}

export interface Use {
  readonly kind: "call";
  readonly name: string;
  readonly arguments: string;
}

/** `count` pieces, `perTick` of them every 10 ms: what a fast model does for a long time. */
export interface Flood {
  readonly kind: "flood";
  readonly piece: (index: number) => string;
  readonly count: number;
  readonly perTick: number;
}

/** Where a turn stops until a test opens it. */
export class Gate {
  readonly kind = "gate";
  readonly reached: Promise<void>;
  readonly passed: Promise<void>;
  open!: () => void;
  reach!: () => void;

  constructor() {
    this.reached = new Promise((resolve) => (this.reach = resolve));
    this.passed = new Promise((resolve) => (this.open = resolve));
  }
}

export type Step = Say | Use | Flood | Gate | typeof CUT;

export interface Turn {
  readonly steps: readonly Step[];
  readonly usage: { readonly prompt: number; readonly completion: number };
}

export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What was sent to the model. */
export interface Asked {
  readonly messages: readonly { role: string; content: unknown }[];
  readonly text: string;
}

export const say = (...pieces: string[]): Say => ({ kind: "text", pieces });
export const think = (...pieces: string[]): Say => ({ kind: "thinking", pieces });
export const use = (name: string, parameters: object): Use => ({
  kind: "call",
  name,
  arguments: JSON.stringify(parameters),
});
export const flood = (count: number, perTick: number, piece: (index: number) => string): Flood => ({
  kind: "flood",
  piece,
  count,
  perTick,
});
export const turn = (...steps: Step[]): Turn => ({ steps, usage: { prompt: 100, completion: 10 } });
export const turnOf = (promptTokens: number, ...steps: Step[]): Turn => ({
  steps,
  usage: { prompt: promptTokens, completion: 10 },
});
export const refuse = (status: number, message: string, headers: Record<string, string> = {}): Refusal => ({
  status,
  message,
  headers,
});

/** Serves a script until it is closed. */
export class ScriptedModel {
  readonly asked: Asked[] = [];
  private answers: (Turn | Refusal)[] = [];
  private readonly server: Server;

  private constructor() {
    this.server = createServer((request, response) => void this.answer(request, response));
  }

  static async start(): Promise<ScriptedModel> {
    const model = new ScriptedModel();
    await new Promise<void>((resolve) => model.server.listen(0, "127.0.0.1", resolve));
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  /** Adds answers to the script. */
  script(...answers: (Turn | Refusal)[]): void {
    this.answers.push(...answers);
  }

  /** Forgets what was scripted and what was asked. */
  reset(): void {
    this.answers = [];
    this.asked.length = 0;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await bodyOf(request);
    if (request.method === "GET") {
      sendJson(response, 200, { data: [{ id: "one" }] });
      return;
    }
    this.asked.push({ ...(JSON.parse(text) as Asked), text });
    const answer = this.answers.shift() ?? refuse(400, "the script has no turn for this request");
    if ("status" in answer) {
      sendJson(response, answer.status, { error: { type: "refused", message: answer.message } }, answer.headers);
      return;
    }
    await stream(response, answer);
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(value));
}

async function stream(response: ServerResponse, turn: Turn): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const closed = new Promise<void>((resolve) => response.on("close", resolve));
  const send = (delta: object, finish: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    );
  send({ role: "assistant", content: "" });
  let calls = 0;
  for (const step of turn.steps) {
    if (step === CUT) {
      response.destroy();
      return;
    }
    if (step.kind === "gate") {
      step.reach();
      await Promise.race([step.passed, closed]);
    } else if (step.kind === "flood") {
      await sendFlood(step, send, response);
    } else if (step.kind === "call") {
      sendCall(step, calls++, send);
    } else {
      step.pieces.forEach((piece) => send({ [step.kind === "text" ? "content" : "reasoning_content"]: piece }));
    }
    if (response.destroyed) return;
  }
  send({}, calls ? "tool_calls" : "stop");
  const { prompt, completion } = turn.usage;
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
  response.end(
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [], usage })}\n\ndata: [DONE]\n\n`,
  );
}

async function sendFlood(step: Flood, send: (delta: object) => boolean, response: ServerResponse): Promise<void> {
  for (let sent = 0; sent < step.count && !response.destroyed;) {
    for (const end = Math.min(sent + step.perTick, step.count); sent < end; sent++) {
      send({ content: step.piece(sent) });
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function sendCall(step: Use, index: number, send: (delta: object) => boolean): void {
  const half = step.arguments.length >> 1;
  const id = `call_${Math.random().toString(36).slice(2, 10)}`;
  send({ tool_calls: [{ index, id, type: "function", function: { name: step.name, arguments: "" } }] });
  send({ tool_calls: [{ index, function: { arguments: step.arguments.slice(0, half) } }] });
  send({ tool_calls: [{ index, function: { arguments: step.arguments.slice(half) } }] });
}
