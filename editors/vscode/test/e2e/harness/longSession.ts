/** The trace of a long session, as the server would have written it: what a person comes back to after a week of work. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface LongSession {
  readonly id: string;
  readonly title: string;
}

interface Story {
  readonly dataDir: string;
  readonly workspace: string;
  readonly messages: number;
  readonly title: string;
  /** Texts that stand at certain messages, by their number. */
  readonly marks?: Readonly<Record<number, string>>;
}

const BEGAN = Date.UTC(2026, 0, 5, 9);

/** Writes the trace. A round is four messages: a prompt, a call, its output and an answer with a list and code. */
export function writeLongSession({ dataDir, workspace, messages, title, marks = {} }: Story): LongSession {
  const id = `session-20260105-090000-${messages.toString(16).padStart(8, "0")}`;
  const folder = join(dataDir, "sessions", "2026-01-05");
  const trace = new Trace();
  trace.write("session_meta", {
    type: "session_meta",
    session_id: id,
    provider: "script",
    model_id: "one",
    model_context_window: 100_000,
    system_prompt: "You are a coding agent.",
    workspace,
    mode: "native",
    created_at: trace.time,
    format: 1,
  });
  trace.event("session_update", { title });
  for (let at = 0; at < messages; at += 4) {
    writeRound(trace, at, marks);
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${id}_001.jsonl`), trace.text);
  return { id, title };
}

class Trace {
  private readonly lines: string[] = [];
  private requests = 0;

  get time(): string {
    return new Date(BEGAN + this.lines.length * 250).toISOString();
  }

  get text(): string {
    return `${this.lines.join("\n")}\n`;
  }

  write(type: string, payload: object): void {
    this.lines.push(JSON.stringify({ timestamp: this.time, type, payload }));
  }

  event(type: string, more: object = {}): void {
    this.write("event_msg", { type, ...more });
  }

  message(type: string, role: string, more: object): void {
    this.write("model_msg", { type, role, ...more });
  }

  endRequest(finish: string): void {
    const tokens = (times: number) => ({
      cache_read: 900 * times,
      cache_write: 90 * times,
      output: 10 * times,
      total: 1000 * times,
    });
    this.event("token_usage", {
      session: tokens(++this.requests),
      request: tokens(1),
      context_window: 100_000,
      compaction_at: 80_000,
    });
    this.event("request_end", { status: "completed", finish });
  }
}

function writeRound(trace: Trace, number: number, marks: Readonly<Record<number, string>>): void {
  const id = `call_${number}`;
  trace.event("run_begin", { run_id: `run-${number.toString(16).padStart(12, "0")}` });
  trace.message("text", "user", { text: marks[number] ?? `Question ${number}: what about part ${number % 97}?` });
  trace.event("request_begin");
  trace.message("tool_call", "assistant", {
    name: "read_file",
    arguments: '{"file_path": "greeter.py"}',
    tool_call_id: id,
  });
  trace.endRequest("tool_calls");
  trace.event("approval_decision", { tool_call_id: id, decision: "allow", decided_by: "mode" });
  trace.message("tool_call_output", "user", {
    tool_call_id: id,
    output: `     1\t"""Says hello."""\n     2\tpart = ${number}\n`,
  });
  trace.event("request_begin");
  trace.message("text", "assistant", { text: marks[number + 3] ?? answer(number) });
  trace.endRequest("stop");
}

function answer(number: number): string {
  const sentence = `Part ${number} is read in **one** pass; see \`greeter.py\`. `;
  const code = `\n\n\`\`\`python\ndef part_${number}(value: int) -> int:\n    return value + ${number}\n\`\`\`\n`;
  return `${sentence.repeat(1 + (number % 5))}\n\n- first point of ${number}\n- second point${number % 3 ? "" : code}`;
}
