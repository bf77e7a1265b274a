/**
 * What the person has sent and the agent has not got yet: it must never vanish, whatever stops or crashes.
 *
 *     accepted ──▶ waiting ──▶ delivered    its text came back on the session's stream
 *                     ├──────▶ taken back
 *                     ╰──────▶ returned     the server is gone: into the session's draft
 */

import { randomUUID } from "node:crypto";
import type { Attachment, Draft } from "../shared/bridge";
import type { Input, MessageParams } from "../shared/protocol";

interface Waiting {
  readonly id: string;
  readonly input: Input;
}

const STEERING = /^\[user_steering\]\n([\s\S]*)\n\[\/user_steering\]$/;

/** Inputs that wait, by session. It can be written down and read again. */
export class Undelivered {
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #runs = new Map<string, string>();

  /** From what `toJSON` gave; anything else is nothing. */
  constructor(saved?: unknown) {
    for (const [sessionId, list] of isTable(saved) ? Object.entries(saved) : []) {
      const known = Array.isArray(list) ? list.filter(isWaiting) : [];
      if (known.length > 0) {
        this.#waiting.set(sessionId, known);
      }
    }
  }

  /** An input was sent; `id` is whatever the caller knows it by. */
  sent(sessionId: string, id: string, input: Input): void {
    this.#waiting.set(sessionId, [...(this.#waiting.get(sessionId) ?? []), { id, input }]);
  }

  /** It waits no more: it was refused, taken back, or what it began has ended. Whether it was there. */
  settled(sessionId: string, id: string): boolean {
    const waiting = this.#waiting.get(sessionId) ?? [];
    return this.#keep(
      sessionId,
      waiting,
      waiting.filter((one) => one.id !== id),
    );
  }

  /**
   * What comes on the stream settles what has begun: a run whose id is new is the oldest one that waits, since runs begin
   * in the order in which they were asked for; steering comes back in its own words. Whether anything changed.
   */
  saw({ sessionId, runId, messages }: MessageParams): boolean {
    const waiting = this.#waiting.get(sessionId) ?? [];
    let left = waiting;
    if (runId !== undefined && this.#runs.get(sessionId) !== runId) {
      this.#runs.set(sessionId, runId);
      left = without(
        left,
        left.find(({ id }) => !isSteering(id)),
      );
    }
    for (const { payload, origin } of messages) {
      const words = payload.type === "text" && origin === undefined ? STEERING.exec(payload.text)?.[1] : undefined;
      if (words !== undefined) {
        left = without(
          left,
          left.find(({ id, input }) => isSteering(id) && begins(words, firstText(input))),
        );
      }
    }
    return this.#keep(sessionId, waiting, left);
  }

  /** Takes out what waits in a session under such an id, oldest first. */
  take(sessionId: string, which: (id: string) => boolean): Input[] {
    const waiting = this.#waiting.get(sessionId) ?? [];
    this.#keep(
      sessionId,
      waiting,
      waiting.filter(({ id }) => !which(id)),
    );
    return waiting.filter(({ id }) => which(id)).map(({ input }) => input);
  }

  get sessions(): string[] {
    return [...this.#waiting.keys()];
  }

  toJSON(): Record<string, Waiting[]> {
    return Object.fromEntries(this.#waiting);
  }

  #keep(sessionId: string, before: readonly Waiting[], left: Waiting[]): boolean {
    if (left.length === before.length) {
      return false;
    }
    if (left.length === 0) {
      this.#waiting.delete(sessionId);
    } else {
      this.#waiting.set(sessionId, left);
    }
    return true;
  }
}

/** A draft that begins with inputs which came back, in their order, before what was being written. */
export function withReturned(draft: Draft, inputs: readonly Input[]): Draft {
  const texts = inputs.map(allText).filter((text) => text !== "");
  const attachments = inputs.flatMap(attachmentsOf);
  return {
    text: [...texts, draft.text].filter((text) => text !== "").join("\n\n"),
    attachments: [...attachments, ...draft.attachments],
  };
}

function firstText(input: Input): string {
  return (typeof input === "string" ? input : (input.find((part) => part.type === "text")?.text ?? "")).trim();
}

/** Whether an id is one that the server gives to steering. */
export function isSteering(id: string): boolean {
  return id.startsWith("steer-");
}

function without(list: readonly Waiting[], one: Waiting | undefined): Waiting[] {
  return list.filter((other) => other !== one);
}

/** Steering is one text with all of its words, and whatever else was attached to it. */
function begins(said: string, words: string): boolean {
  return said.trim().startsWith(words);
}

function allText(input: Input): string {
  return typeof input === "string"
    ? input
    : input.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
}

function attachmentsOf(input: Input): Attachment[] {
  if (typeof input === "string") {
    return [];
  }
  return input.flatMap((part): Attachment[] => {
    const id = randomUUID();
    if (part.type === "image" && part.data !== undefined) {
      return [{ kind: "image", id, name: "image", dataUrl: part.data }];
    }
    if (part.type === "resource") {
      const label = decodeURIComponent(part.uri.slice(part.uri.lastIndexOf("/") + 1));
      return [{ kind: "file", id, label, uri: part.uri, ...(part.range ? { range: part.range } : {}) }];
    }
    return [];
  });
}

function isWaiting(value: unknown): value is Waiting {
  return (
    isTable(value) && typeof value.id === "string" && (typeof value.input === "string" || Array.isArray(value.input))
  );
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
