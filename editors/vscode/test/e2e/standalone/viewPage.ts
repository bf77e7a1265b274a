/** The view's own page in a browser, with a scripted host in the place of the editor: what is measured is the view alone. */

import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { policy } from "../../../src/shared/page";
import type { OmniMessage } from "../../../src/shared/protocol";

const ROOT = join(__dirname, "../../..");
const NONCE = "standalone";
const BODY = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Agent</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/dist/view.css"></head><body class="vscode-dark"><main id="app"><div id="boot">Starting…</div></main>
<script nonce="${NONCE}" src="/test/e2e/standalone/fakeHost.mjs"></script><script nonce="${NONCE}" src="/dist/view.js"></script></body></html>`;

/** Serves the built view under the policy that it has in the editor. */
export async function serveView(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server: Server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://view").pathname;
    if (path === "/") {
      response.setHeader("content-type", "text/html");
      response.setHeader("content-security-policy", policy("'self'", NONCE));
      response.end(BODY);
      return;
    }
    response.setHeader("content-type", path.endsWith(".css") ? "text/css" : "text/javascript");
    response.end(readFileSync(join(ROOT, path)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

interface Fake {
  messages: OmniMessage[];
  posted: { kind: string; method?: string; act?: string }[];
  counts: { history: number };
  greet(over?: object): void;
  stream(messages: unknown[]): void;
  state(state: string): void;
  receive(message: unknown): void;
  info(over?: object): object;
  /** Answers in place of the usual ones, by method; one that is undefined never comes. */
  readonly handlers: Record<string, (params: unknown) => unknown>;
}

declare global {
  interface Window {
    fake: Fake;
  }
}

/** A session of that many messages: answers of several lines, calls with outputs, now and then a question. */
export function longSession(count: number, marks: Readonly<Record<number, string>> = {}): OmniMessage[] {
  const messages: OmniMessage[] = [];
  const at = (index: number): string => new Date(Date.UTC(2026, 10, 29) + index * 1_000).toISOString();
  for (let index = 0; index < count; index++) {
    const said = `Part ${index}. ${marks[index] ?? ""} ${"Some words of an answer. ".repeat((index % 7) + 1)}\n\n- one\n- two`;
    const id = `call_${Math.floor(index / 4)}`;
    const payload = [
      { type: "text", role: "user", text: `Question ${index}` },
      { type: "text", role: "assistant", text: said },
      {
        type: "tool_call",
        role: "assistant",
        name: "exec_command",
        arguments: `{"cmd":"make ${index}"}`,
        tool_call_id: id,
      },
      { type: "tool_call_output", role: "user", tool_call_id: id, output: `line of ${index}\n[exit code: 0]` },
    ][marks[index] ? 1 : index % 4];
    messages.push({ timestamp: at(index), type: "model_msg", payload } as OmniMessage);
  }
  return messages;
}

/** The page with a session on screen. */
export async function show(
  page: Page,
  url: string,
  messages: readonly OmniMessage[],
  over: object = {},
): Promise<void> {
  await page.goto(url);
  await page.evaluate(
    ([given, more]) => {
      window.fake.messages = given as OmniMessage[];
      window.fake.greet(more);
    },
    [messages, over] as const,
  );
}

/** Counts what would wake a page at rest: frames, timers, messages. */
export async function watch(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const seen = { frames: 0, timers: 0, messages: 0 };
    Object.assign(window, { seen });
    const frame = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (callback) => {
      seen.frames++;
      return frame(callback);
    };
    const timer = window.setTimeout.bind(window) as (...given: unknown[]) => number;
    Object.assign(window, {
      setTimeout: (...given: unknown[]) => {
        seen.timers++;
        return timer(...given);
      },
    });
    window.addEventListener("message", () => seen.messages++);
  });
}
