import { beforeEach, describe, expect, it } from "vitest";
import { Undelivered, withReturned } from "../../../src/logic/undelivered";
import type { MessageParams, OmniMessage } from "../../../src/shared/protocol";

let waiting: Undelivered;
beforeEach(() => {
  waiting = new Undelivered();
});

const all = (): boolean => true;
const user = (text: string, origin?: string[]): OmniMessage => ({
  timestamp: "2026-11-29T21:20:41.123Z",
  type: "model_msg",
  payload: { type: "text", role: "user", text },
  ...(origin ? { origin } : {}),
});
const steering = (words: string): OmniMessage => user(`[user_steering]\n${words}\n[/user_steering]`);
const stream = (runId: string | undefined, ...messages: OmniMessage[]): MessageParams => ({
  sessionId: "s",
  ...(runId === undefined ? {} : { runId }),
  seq: 0,
  messages,
});

describe("a run", () => {
  it("waits until the stream has a run of another id, in the order in which they were asked for", () => {
    waiting.sent("s", "run-a", "first");
    waiting.sent("s", "run-b", "second");

    expect(waiting.saw(stream("r1"))).toBe(true);
    expect(waiting.saw(stream("r1"))).toBe(false);
    expect(waiting.take("s", all)).toEqual(["second"]);
  });

  it("that is settled waits no more", () => {
    waiting.sent("s", "run-a", "first");

    expect(waiting.settled("s", "run-a")).toBe(true);
    expect(waiting.settled("s", "run-a")).toBe(false);
    expect(waiting.sessions).toEqual([]);
  });

  it("of another session is not touched", () => {
    waiting.sent("other", "run-a", "first");
    waiting.saw(stream("r1"));

    expect(waiting.take("other", all)).toEqual(["first"]);
  });
});

describe("steering", () => {
  it("waits until its words come back", () => {
    waiting.sent("s", "steer-1", "left");
    waiting.sent("s", "steer-2", "right");

    expect(waiting.saw(stream("r1", steering("right")))).toBe(true);
    expect(waiting.take("s", all)).toEqual(["left"]);
  });

  it("of the same words comes back one by one", () => {
    waiting.sent("s", "steer-1", "again");
    waiting.sent("s", "steer-2", "again");
    waiting.saw(stream("r1", steering("again")));

    expect(waiting.take("s", all)).toEqual(["again"]);
  });

  it("with a file attached comes back with it", () => {
    waiting.sent("s", "steer-1", [
      { type: "text", text: "look" },
      { type: "resource", uri: "file:///a.py" },
    ]);
    waiting.saw(stream("r1", steering("look\n\n[attached file: a.py]\nx = 1")));

    expect(waiting.sessions).toEqual([]);
  });

  it("is not what a child session was told", () => {
    waiting.sent("s", "steer-1", "left");
    const { payload, ...rest } = steering("left");

    expect(waiting.saw(stream("r1", { ...rest, payload, origin: ["child"] } as OmniMessage))).toBe(false);
  });

  it("is no run, and no run settles it", () => {
    waiting.sent("s", "steer-1", "left");
    waiting.saw(stream("r1"));

    expect(waiting.take("s", (id) => id.startsWith("run-"))).toEqual([]);
    expect(waiting.take("s", (id) => id.startsWith("steer-"))).toEqual(["left"]);
  });
});

describe("what was written down", () => {
  it("is read again", () => {
    waiting.sent("s", "run-a", [{ type: "text", text: "x" }]);

    expect(new Undelivered(JSON.parse(JSON.stringify(waiting))).take("s", all)).toEqual([
      [{ type: "text", text: "x" }],
    ]);
  });

  it.each([[null], [1], ["x"], [[]], [{ s: 1 }], [{ s: [1, null, { id: 1 }] }]])("as %j is nothing", (saved) => {
    expect(new Undelivered(saved).sessions).toEqual([]);
  });
});

describe("a draft to which something comes back", () => {
  it("has it before what was being written, in order", () => {
    const draft = withReturned({ text: "third", attachments: [] }, ["first", [{ type: "text", text: "second" }]]);

    expect(draft.text).toBe("first\n\nsecond\n\nthird");
  });

  it("has its images and files, too, and the ids of no two are the same", () => {
    const kept = { kind: "file", id: "k", label: "b", uri: "file:///b" } as const;
    const input = [
      { type: "image", data: "data:image/png;base64,AA==" },
      { type: "resource", uri: "file:///dir/%C3%BC.py" },
    ] as const;
    const { attachments } = withReturned({ text: "", attachments: [kept] }, [[...input], [...input]]);

    expect(attachments.map(({ kind }) => kind)).toEqual(["image", "file", "image", "file", "file"]);
    expect(attachments[1]).toMatchObject({ label: "ü.py" });
    expect(new Set(attachments.map(({ id }) => id)).size).toBe(5);
  });
});
