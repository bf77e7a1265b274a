import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OmniMessage } from "../../../src/shared/protocol";
import { searchable, type Row } from "../../../src/view/model/rows";
import { Story } from "../../../src/view/model/story";
import { answerText, message, piecesOf, run, sizes, streamed } from "./streams";

const GOLDEN = join(import.meta.dirname, "../../../../../tests/golden");
const silent = { changed: () => undefined, rearranged: () => undefined };

function told(messages: readonly OmniMessage[]): Story {
  const story = new Story(silent);
  for (const one of messages) story.apply(one);
  return story;
}

/** What a person sees of the rows, without the names and times that differ between a stream and its replay. */
function seen(rows: readonly Row[]): unknown[] {
  return rows.map((row) => [
    row.kind,
    searchable(row),
    "status" in row ? row.status : "",
    "open" in row ? row.open : false,
  ]);
}

const text = (rows: readonly Row[]): string => rows.map((row) => (row.kind === "answer" ? row.text : "")).join("");

describe("every kind of message of the golden files", () => {
  for (const file of readdirSync(GOLDEN).filter((name) => name.endsWith(".json"))) {
    it(`${file} is reduced`, () => {
      const messages = JSON.parse(readFileSync(join(GOLDEN, file), "utf8")) as OmniMessage[];
      expect(() => told(messages)).not.toThrow();
    });
  }

  it("together make rows with names of their own", () => {
    const all = readdirSync(GOLDEN).filter((name) => name.endsWith(".json"));
    const story = told(all.flatMap((name) => JSON.parse(readFileSync(join(GOLDEN, name), "utf8")) as OmniMessage[]));
    const keys = story.rows.map((row) => row.key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(new Set(story.rows.map((row) => row.kind))).toEqual(
      new Set(["user", "answer", "thinking", "tool", "retry", "error", "compaction", "mcp", "note", "end"]),
    );
  });
});

describe("a stream", () => {
  it("shows exactly the complete message, however the deltas were cut", () => {
    fc.assert(
      fc.property(answerText, sizes, (body, cuts) => {
        const story = told(streamed({ type: "text", role: "assistant", text: body }, piecesOf(body, cuts)));
        expect(text(story.rows)).toBe(body);
      }),
      { numRuns: 60 },
    );
  });

  it("and its replay from the trace give the same rows", () => {
    fc.assert(
      fc.property(run, ({ live, traced }) => {
        expect(seen(told(live).rows)).toEqual(seen(told(traced).rows));
      }),
      { numRuns: 40 },
    );
  });

  it("joined from pages, prepended one by one, is the same as in one go", () => {
    fc.assert(
      fc.property(run, fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 }), ({ traced }, steps) => {
        const pages: OmniMessage[][] = [];
        for (let at = 0, index = 0; at < traced.length; index++) {
          const size = steps[index % steps.length]!;
          pages.push(traced.slice(at, at + size));
          at += size;
        }
        const story = told(pages.pop() ?? []);
        for (const page of pages.reverse()) story.prepend(page);
        expect(seen(story.rows)).toEqual(seen(told(traced).rows));
      }),
      { numRuns: 60 },
    );
  });

  it("of nothing leaves no row behind", () => {
    expect(told(streamed({ type: "text", role: "assistant", text: "" }, [])).rows).toEqual([]);
    expect(told(streamed({ type: "thinking", role: "assistant", thinking: "" }, [])).rows).toEqual([]);
  });

  it("that was cut keeps what came, and says so", () => {
    const story = told(
      streamed({ type: "text", role: "assistant", text: "Half a th", stop_reason: "timeout" }, ["Half", " a th"]),
    );
    expect(story.rows).toMatchObject([{ kind: "answer", text: "Half a th", stop: "timeout", open: false }]);
  });
});

describe("calls", () => {
  const call = message({
    type: "tool_call",
    role: "assistant",
    name: "exec_command",
    arguments: '{"cmd":"ls"}',
    tool_call_id: "c",
  });
  const output = (text: string, stop?: "failed" | "aborted"): OmniMessage =>
    message({
      type: "tool_call_output",
      role: "user",
      tool_call_id: "c",
      output: text,
      ...(stop ? { stop_reason: stop } : {}),
    });
  const decided = (decision: "allow" | "deny" | "forbidden"): OmniMessage =>
    message({ type: "approval_decision", tool_call_id: "c", decision, decided_by: "user" });

  it("go from asking to running to done", () => {
    const story = told([call]);
    const status = (): unknown => (story.rows[0]?.kind === "tool" ? story.rows[0].status : null);
    expect(status()).toBe("waiting");
    story.tools.asking("c", true);
    expect(status()).toBe("asking");
    story.apply(decided("allow"));
    expect(status()).toBe("running");
    story.apply(output("ok"));
    expect(status()).toBe("done");
  });

  it("are told apart when they were denied, failed or stopped", () => {
    const status = (...rest: OmniMessage[]): unknown =>
      told([call, ...rest]).rows.map((row) => row.kind === "tool" && row.status)[0];
    expect(status(decided("deny"), output("Tool call denied by user.", "failed"))).toBe("denied");
    expect(status(decided("allow"), output("exit code 1", "failed"))).toBe("failed");
    expect(status(decided("allow"), output("[interrupted: tool aborted by user]", "aborted"))).toBe("stopped");
  });
});

describe("what the engine does by itself", () => {
  const failed = (attempt: number, retry?: number): OmniMessage =>
    message({
      type: "request_end",
      status: "timeout",
      error_message: "HTTP 503",
      attempt,
      ...(retry === undefined ? {} : { retry_in_ms: retry }),
    });
  const begin = (): OmniMessage => message({ type: "request_begin" });

  it("a retry waits until its request goes out, the last failure is an error", () => {
    const story = told([begin(), failed(1, 5_000)]);
    expect(story.rows).toMatchObject([{ kind: "retry", state: "waiting", attempt: 1 }]);
    story.apply(begin());
    story.apply(failed(2));
    expect(story.rows).toMatchObject([
      { kind: "retry", state: "retried" },
      { kind: "error", attempts: 2, message: "HTTP 503" },
    ]);
  });

  it("a compaction holds its summary, what was before and after, and none of its talk stands beside it", () => {
    const usage = { cache_read: 0, cache_write: 900, output: 100, total: 1_000 };
    const messages = [
      message({ type: "compaction_begin", reason: "context", mode: "summarize", context: 128_000, turns: 9 }),
      message({ type: "text", role: "user", text: "Summarise.", sender: "harness" }),
      ...streamed({ type: "text", role: "assistant", text: "[summary]\nWe fixed it.\n[/summary]" }, [
        "[summ",
        "ary]\nWe fixed it.\n[/summary]",
      ]),
      message({ type: "compaction_end", reason: "context", mode: "summarize", status: "completed" }),
      message({
        type: "text",
        role: "user",
        text: "[context_summary]\nWe fixed it.\n[/context_summary]",
        sender: "harness",
      }),
      begin(),
      message({ type: "token_usage", session: usage, request: usage, context_window: 200_000, compaction_at: 128_000 }),
    ];
    const expected = [
      { kind: "compaction", summary: "We fixed it.", before: 128_000, after: 900, status: "completed" },
    ];
    expect(told(messages).rows).toMatchObject(expected);
    const halved = told(messages.slice(4));
    halved.prepend(messages.slice(0, 4));
    expect(halved.rows).toHaveLength(1);
  });

  it("a compaction that two pages share is one row", () => {
    const messages = [
      message({ type: "compaction_begin", reason: "manual", mode: "summarize", context: 50, turns: 2 }),
      message({ type: "text", role: "assistant", text: "[summary]\nAll of it.\n[/summary]" }),
      message({ type: "compaction_end", reason: "manual", mode: "summarize", status: "completed" }),
    ];
    for (const at of [1, 2]) {
      const story = told(messages.slice(at));
      story.prepend(messages.slice(0, at));
      expect(story.rows).toMatchObject([
        { kind: "compaction", summary: "All of it.", before: 50, status: "completed" },
      ]);
    }
  });

  it("the gauge knows nothing after a compaction until the next request", () => {
    const usage = { cache_read: 0, cache_write: 900, output: 100, total: 1_000 };
    const story = told([message({ type: "token_usage", session: usage, request: usage })]);
    expect(story.gauge).toEqual({ used: 1_000, total: 1_000 });
    story.apply(message({ type: "compaction_begin", reason: "manual", mode: "discard", context: 1_000, turns: 1 }));
    story.apply(message({ type: "compaction_end", reason: "manual", mode: "discard", status: "completed" }));
    expect(story.gauge.used).toBeUndefined();
  });
});

describe("a run's end", () => {
  const usage = { cache_read: 0, cache_write: 10, output: 5, total: 15 };
  const turn = (): OmniMessage[] => [
    message({ type: "request_begin" }),
    message({ type: "text", role: "assistant", text: "x" }),
    message({ type: "token_usage", session: usage, request: usage }),
    message({ type: "request_end", status: "completed" }),
  ];

  it("adds up its turns and tokens, over pages too", () => {
    const messages = [
      message({ type: "run_begin", run_id: "r1" }),
      message({ type: "text", role: "user", text: "go" }),
      ...turn(),
      ...turn(),
      message({ type: "run_begin", run_id: "r2" }),
    ];
    for (let at = 0; at < messages.length; at++) {
      const story = told(messages.slice(at));
      story.prepend(messages.slice(0, at));
      expect(story.rows.filter((row) => row.kind === "end")).toMatchObject([
        { turns: 2, tokens: 30, status: "completed" },
      ]);
    }
  });

  it("names what an abort has ended", () => {
    const story = new Story(silent);
    story.begin("r", "go", "2026-11-29T00:00:00.000Z");
    for (const one of [
      message({
        type: "tool_call",
        role: "assistant",
        name: "exec_command",
        arguments: '{"cmd":"sleep 9"}',
        tool_call_id: "c",
      }),
      message({ type: "tool_call_output", role: "user", tool_call_id: "c", output: "", stop_reason: "aborted" }),
      message({ type: "abort", reason: "aborted by user" }),
    ])
      story.apply(one);
    expect(story.end()).toMatchObject({ status: "aborted", ended: ["Run sleep 9"] });
  });
});
