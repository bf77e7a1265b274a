import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Cut } from "../../../src/shared/bridge";
import type { MessageParams, OmniMessage, SessionInfo } from "../../../src/shared/protocol";
import { Conversation, type Page } from "../../../src/view/model/conversation";
import { searchable, type Row } from "../../../src/view/model/rows";
import { message, notified, run, sizes, streamed } from "./streams";

const usage = { cache_read: 0, cache_write: 0, output: 0, total: 0 };
const session = { sessionId: "s", workspace: "file:///w", contextTokens: 0, usage } as SessionInfo;
const nothing = {
  changed: () => undefined,
  rearranged: () => undefined,
  loaded: () => undefined,
  waitingChanged: () => undefined,
};
const pending = { runs: [], steers: [], approvals: [] };

/** What the server would answer when `sent` messages of the stream have gone out: traced ones, live segments, the number. */
function historyAt(stream: readonly OmniMessage[], sent: number): Page {
  const gone = stream.slice(0, sent);
  const messages = gone.filter((one) => !one.payload.type.startsWith("partial_"));
  const open = new Map<string, OmniMessage[]>();
  for (const one of gone) {
    const { payload } = one;
    if (!("event_type" in payload)) continue;
    const key = `${payload.type}:${"tool_call_id" in payload ? payload.tool_call_id : ""}`;
    if (payload.event_type === "start") open.set(key, [one]);
    else if (payload.event_type === "delta") open.get(key)?.push(one);
    else open.delete(key);
  }
  return { messages, live: [...open.values()].flat(), nextSeq: sent, pending };
}

const seen = (rows: readonly Row[]): unknown[] =>
  rows.filter((row) => row.kind !== "end").map((row) => [row.kind, searchable(row), "status" in row ? row.status : ""]);

async function loaded(page: () => Page | Promise<Page>, more = {}): Promise<Conversation> {
  const conversation = new Conversation(session, async () => page(), { ...nothing, ...more });
  conversation.running(true);
  await conversation.load();
  return conversation;
}

const complete = async (stream: readonly OmniMessage[]): Promise<unknown[]> =>
  seen((await loaded(() => historyAt(stream, stream.length))).rows);

/** A stream whose stops are not parted from their messages by a reload: the server takes both at once. */
function mayBeCut(stream: readonly OmniMessage[], at: number): boolean {
  const before = stream[at - 1]?.payload;
  return !(before && "event_type" in before && before.event_type === "stop");
}

describe("a reload", () => {
  it("in the middle of a stream shows every message once, whatever was sent meanwhile", async () => {
    await fc.assert(
      fc.asyncProperty(run, sizes, fc.nat(), fc.nat(), async ({ live }, cuts, first, second) => {
        const at = first % (live.length + 1);
        fc.pre(mayBeCut(live, at));
        const conversation = await loaded(() => historyAt(live, at));
        // What the connection still carried from before, what comes after, and some of it twice.
        const again = Math.max(0, at - (second % 20));
        for (const params of notified(live.slice(again), cuts, "r", again)) {
          conversation.receive(params);
          if (second % 3 === 0) conversation.receive(params);
        }
        expect(seen(conversation.rows)).toEqual(await complete(live));
      }),
      { numRuns: 60 },
    );
  });

  it("keeps what comes while its page is on the way", async () => {
    const stream = streamed({ type: "text", role: "assistant", text: "one two three" }, ["one ", "two ", "three"]);
    let answer: (page: Page) => void = () => undefined;
    const conversation = new Conversation(session, () => new Promise((resolve) => (answer = resolve)), nothing);
    const loading = conversation.load();
    for (const params of notified(stream.slice(2), [1], "r", 2)) conversation.receive(params);
    answer(historyAt(stream, 3));
    await loading;
    expect(seen(conversation.rows)).toEqual([["answer", "one two three", ""]]);
  });

  it("is made by itself when a number is missing", async () => {
    const stream = streamed({ type: "text", role: "assistant", text: "abc" }, ["a", "b", "c"]);
    let fetched = 0;
    const conversation = await loaded(() => {
      fetched++;
      return historyAt(stream, fetched === 1 ? 0 : stream.length);
    });
    conversation.receive({ sessionId: "s", runId: "r", seq: 3, messages: stream.slice(3) });
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
    expect(fetched).toBe(2);
    expect(seen(conversation.rows)).toEqual([["answer", "abc", ""]]);
  });
});

describe("pages", () => {
  const texts = (conversation: Conversation): string[] =>
    conversation.rows.filter((row) => row.kind !== "end").map(searchable);
  const messages = Array.from({ length: 950 }, (_, index) =>
    message({ type: "text", role: index % 2 ? "assistant" : "user", text: `m${index}` }),
  );
  const server = (cursor: string | undefined, limit: number): Page => {
    const end = cursor === undefined ? messages.length : Number(cursor);
    const start = Math.max(0, end - limit);
    return {
      messages: messages.slice(start, end),
      nextSeq: 0,
      pending,
      ...(start > 0 ? { previousCursor: String(start) } : {}),
    };
  };

  it("are fetched from the end, one at first, and joined in order", async () => {
    let fetched = 0;
    const conversation = new Conversation(
      session,
      (cursor, limit) => (fetched++, Promise.resolve(server(cursor, limit))),
      nothing,
    );
    await conversation.load();
    expect(fetched).toBe(1);
    expect(texts(conversation)).toHaveLength(200);
    while (conversation.hasEarlier) await conversation.earlier();
    expect(texts(conversation)).toEqual(messages.map((_, index) => `m${index}`));
  });

  it("are asked for once, however often", async () => {
    let fetched = 0;
    const conversation = new Conversation(
      session,
      (cursor, limit) => (fetched++, Promise.resolve(server(cursor, limit))),
      nothing,
    );
    await conversation.load();
    await Promise.all([conversation.earlier(), conversation.earlier(), conversation.earlier()]);
    expect(fetched).toBe(2);
  });

  it("of a server that only pages forward are followed to the end", async () => {
    const forward = (cursor: string | undefined, limit: number): Promise<Page> => {
      const start = Number(cursor ?? 0);
      const end = start + limit;
      return Promise.resolve({
        messages: messages.slice(start, end),
        nextSeq: 0,
        pending,
        ...(end < messages.length ? { nextCursor: String(end) } : {}),
      });
    };
    const conversation = new Conversation(session, forward, nothing);
    await conversation.load();
    expect(texts(conversation)).toHaveLength(950);
    expect(conversation.hasEarlier).toBe(false);
  });
});

describe("texts that wait", () => {
  const steered = (words: string): OmniMessage =>
    message({ type: "text", role: "user", text: `[user_steering]\n${words}\n[/user_steering]` });
  const send = (conversation: Conversation, ...messages: OmniMessage[]): void => {
    const params: MessageParams = { sessionId: "s", runId: "r", seq: 0, messages };
    conversation.receive(params);
  };

  it("leave the list in the very step in which they stand in the transcript", async () => {
    const conversation = await loaded(() => historyAt([], 0));
    const first = conversation.waiting.add("steer", "one", 1);
    conversation.waiting.accepted(first, { steerId: "a" });
    conversation.waiting.accepted(conversation.waiting.add("steer", "two", 2), { steerId: "b" });
    send(conversation, steered("one"));
    expect(conversation.waiting.all.map((entry) => entry.steerId)).toEqual(["b"]);
    expect(conversation.rows.filter((row) => row.kind === "user").map(searchable)).toEqual(["one"]);
  });

  it("that begin a run become its first row", async () => {
    const conversation = new Conversation(session, () => Promise.resolve(historyAt([], 0)), nothing);
    await conversation.load();
    conversation.waiting.add("run", "do it", 1);
    send(conversation, message({ type: "request_begin" }));
    expect(conversation.waiting.all).toEqual([]);
    expect(conversation.rows).toMatchObject([{ kind: "user", text: "do it", via: "prompt" }]);
  });

  it("come back from what the server says is pending", async () => {
    const conversation = await loaded(() => historyAt([], 0));
    conversation.waiting.restore(
      { runs: [{ runId: "r2", input: "later" }], steers: [{ steerId: "x", input: "now" }] },
      1,
    );
    expect(conversation.waiting.all).toMatchObject([
      { kind: "steer", steerId: "x", state: "queued" },
      { kind: "run", runId: "r2", state: "queued" },
    ]);
  });
});

describe("a run that was cut off", () => {
  const begun = [
    message({ type: "run_begin", run_id: "r1" }),
    message({ type: "text", role: "user", text: "go" }),
    message({ type: "request_begin" }),
  ];
  const call = message({
    type: "tool_call",
    role: "assistant",
    name: "exec_command",
    arguments: "{}",
    tool_call_id: "c",
  });
  const cut = { runId: "r1", by: "crash", asked: ["Run make"] } as const;
  const opened = async (messages: readonly OmniMessage[], given?: Cut): Promise<Conversation> => {
    const page = { messages: [...messages], nextSeq: 0, pending };
    const conversation = new Conversation(session, () => Promise.resolve(page), nothing, given);
    await conversation.load();
    return conversation;
  };
  const last = (conversation: Conversation): Row | undefined => conversation.rows.at(-1);

  it.each([
    ["in a request", begun],
    ["in a call", [...begun, call, message({ type: "request_end", status: "completed", finish: "tool_calls" })]],
    ["and was still able to say so", [...begun, message({ type: "abort", reason: "aborted by user" })]],
  ])("%s says so at its end, and that it can go on", async (_, messages) => {
    expect(last(await opened(messages, cut))).toMatchObject({ kind: "end", status: "aborted", cut });
  });

  it("is not called completed, whoever knows why it ended", async () => {
    const conversation = await opened([...begun, call, message({ type: "run_begin", run_id: "r2" })]);

    expect(conversation.rows.find((row) => row.kind === "end")).toMatchObject({ runId: "r1", status: "aborted" });
    expect(conversation.rows.find((row) => row.kind === "tool")).toMatchObject({ status: "stopped" });
  });

  it("is another one than that which was completed", async () => {
    const completed = [...begun, message({ type: "request_end", status: "completed", finish: "stop" })];

    expect(last(await opened(completed, cut))).not.toHaveProperty("cut");
    expect(last(await opened(begun, { ...cut, runId: "r0" }))).not.toHaveProperty("cut");
  });

  it("has gone on with the next run", async () => {
    const conversation = await opened(begun, cut);
    const row = last(conversation);

    conversation.running(true);
    conversation.receive({ sessionId: "s", runId: "r2", seq: 0, messages: [message({ type: "request_begin" })] });

    expect(row).toMatchObject({ kind: "end", status: "aborted" });
    expect(row).not.toHaveProperty("cut");
  });
});
