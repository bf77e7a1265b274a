import { beforeEach, describe, expect, it } from "vitest";
import { ApprovalBook, type WaitingApproval } from "../../../src/logic/approvals";
import { DECISION_GRACE_MS } from "../../../src/shared/bridge";
import type { ApproveParams, ApproveResult } from "../../../src/shared/protocol";

let now: number;
let book: ApprovalBook;
let settled: (ApproveResult | undefined)[];

const asked = (sessionId: string): ApproveParams => ({
  sessionId,
  toolCall: { tool_call_id: "call", name: "exec_command", arguments: "{}" },
  permission: "rw",
  title: "Run it",
});

const put = (sessionId = "s"): WaitingApproval => book.putApproval(asked(sessionId), (answer) => settled.push(answer));
const wait = (ms: number): void => void (now += ms);

beforeEach(() => {
  now = 1000;
  settled = [];
  book = new ApprovalBook(() => now);
});

describe("an answer", () => {
  it("counts once it could have been meant, and only the first one", () => {
    const { key } = put();
    book.appeared(key, "view");
    wait(DECISION_GRACE_MS);

    expect(book.decide(key, { decision: "allow" }, "view")).toBe("accepted");
    expect(book.decide(key, { decision: "deny" }, "view")).toBe("unknown");
    expect(settled).toEqual([{ decision: "allow" }]);
    expect(book.pending).toEqual([]);
  });

  it.each(["view", "notification", "keyboard"] as const)("from the %s is early within the first moments", (surface) => {
    const { key } = put();
    book.appeared(key, surface === "keyboard" ? "view" : surface);
    wait(DECISION_GRACE_MS - 1);

    expect(book.decide(key, { decision: "allow" }, surface)).toBe("early");
    expect(settled).toEqual([]);
    expect(book.get(key)).toBeDefined();
  });

  it("from where it was never shown is early, however long it waits", () => {
    const { key } = put();
    book.appeared(key, "notification");
    wait(60_000);

    expect(book.decide(key, { decision: "allow" }, "view")).toBe("early");
  });

  it("is early again when the view has drawn it anew", () => {
    const { key } = put();
    book.appeared(key, "view");
    wait(60_000);
    book.appeared(key, "view");

    expect(book.decide(key, { decision: "allow" }, "view")).toBe("early");
  });

  it("by key counts since it was first seen, wherever", () => {
    const { key } = put();
    book.appeared(key, "notification");
    wait(DECISION_GRACE_MS);
    book.appeared(key, "view");

    expect(book.decide(key, { decision: "allow" }, "keyboard")).toBe("accepted");
  });

  it("of the wrong kind is none", () => {
    const { key } = put();
    book.appeared(key, "view");
    wait(DECISION_GRACE_MS);

    expect(book.reply(key, "yes", "view")).toBe("unknown");
    expect(settled).toEqual([]);
  });
});

describe("a withdrawal", () => {
  it("settles without an answer, and what comes later counts for nothing", () => {
    const { key } = put();
    book.appeared(key, "view");
    wait(DECISION_GRACE_MS);

    expect(book.withdraw(key)).toBe(true);
    expect(book.withdraw(key)).toBe(false);
    expect(book.decide(key, { decision: "allow" }, "view")).toBe("unknown");
    expect(settled).toEqual([undefined]);
  });

  it("of all leaves nothing open", () => {
    put();
    put("other");

    expect(book.withdrawAll()).toHaveLength(2);
    expect(settled).toEqual([undefined, undefined]);
    expect(book.pending).toEqual([]);
  });
});

describe("a key means", () => {
  it("what waits in the session on screen, the oldest first", () => {
    put("other");
    const first = put("here");
    put("here");

    expect(book.meant("here")).toBe(first);
  });

  it("the only one there is, wherever", () => {
    expect(book.meant("here")).toBeUndefined();
    const only = put("other");
    expect(book.meant("here")).toBe(only);
    expect(book.meant(undefined)).toBe(only);
  });

  it("nothing when several wait elsewhere", () => {
    put("a");
    put("b");

    expect(book.meant("here")).toBeUndefined();
  });

  it("no question", () => {
    book.putQuestion({ sessionId: "here", question: "Why?" }, () => undefined);

    expect(book.meant("here")).toBeUndefined();
  });
});

it("a question gets the words it was answered with", () => {
  const answers: unknown[] = [];
  const { key } = book.putQuestion({ sessionId: "s", question: "Which?" }, (answer) => answers.push(answer));
  book.appeared(key, "view");
  wait(DECISION_GRACE_MS);

  expect(book.reply(key, ["a", "b"], "view")).toBe("accepted");
  expect(answers).toEqual([{ answer: ["a", "b"] }]);
});
