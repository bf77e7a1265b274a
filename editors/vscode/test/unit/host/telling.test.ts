import { describe, expect, it } from "vitest";
import { approvalNotice, endNotice, needsDecisionNotice, oneLine, type Sight } from "../../../src/logic/attention";
import { ago, isOf, merged, sessionItem } from "../../../src/logic/sessionItems";
import { statusText, tokens, type Standing } from "../../../src/logic/statusText";
import { Transcript } from "../../../src/logic/transcript";
import type { ApproveParams, OmniMessage, RunResult, SessionInfo, SessionState } from "../../../src/shared/protocol";

const inSight: Sight = { viewVisible: true, windowFocused: true, sessionId: "s" };
const outOfSight: [string, Sight][] = [
  ["the view is hidden", { ...inSight, viewVisible: false }],
  ["the window is not in the focus", { ...inSight, windowFocused: false }],
  ["another session is on screen", { ...inSight, sessionId: "other" }],
];

const session = (more: Partial<SessionInfo> = {}): SessionInfo => ({
  sessionId: "s",
  workspace: "file:///home/ada/pr%C3%B8ject",
  model: { provider: "anthropic", model: "claude-x" },
  mode: "native",
  approvalMode: "ask",
  state: "idle",
  createdAt: "2026-11-29T10:00:00.000Z",
  updatedAt: "2026-11-29T11:00:00.000Z",
  turns: 1,
  usage: { cache_read: 0, cache_write: 0, output: 0, total: 0 },
  contextTokens: 0,
  ...more,
});

describe("something that waits", () => {
  it("needs no notification while it is in sight", () => {
    expect(needsDecisionNotice(inSight, "s", "all")).toBe(false);
  });

  it.each(outOfSight)("needs one when %s, unless none are wanted", (_, sight) => {
    expect(needsDecisionNotice(sight, "s", "all")).toBe(true);
    expect(needsDecisionNotice(sight, "s", "decisions")).toBe(true);
    expect(needsDecisionNotice(sight, "s", "none")).toBe(false);
  });
});

describe("the end of a run", () => {
  const ended = (status: RunResult["status"], errorMessage?: string): RunResult => ({
    sessionId: "s",
    status,
    runId: "r",
    turns: 1,
    text: "",
    usage: session().usage,
    ...(errorMessage ? { errorMessage } : {}),
  });

  it.each(outOfSight)("is told when %s", (_, sight) => {
    expect(endNotice(sight, ended("completed"), "all", "Tidy up")).toEqual({
      text: "Agent has finished: Tidy up",
      failed: false,
    });
    expect(endNotice(sight, ended("failed", "llm request error: HTTP 500"), "all", "Tidy up")?.text).toBe(
      "Agent has failed (HTTP 500): Tidy up",
    );
  });

  it("is not told when it was seen, was asked for, or is not wanted", () => {
    const hidden = { ...inSight, viewVisible: false };
    expect(endNotice(inSight, ended("failed"), "all", "x")).toBeUndefined();
    expect(endNotice(hidden, ended("aborted"), "all", "x")).toBeUndefined();
    expect(endNotice(hidden, ended("completed"), "decisions", "x")).toBeUndefined();
  });
});

describe("the notification of an approval", () => {
  const asked = (title: string, preview?: ApproveParams["preview"]): ApproveParams => ({
    sessionId: "s",
    toolCall: { tool_call_id: "c", name: "x", arguments: "{}" },
    permission: "rw",
    title,
    ...(preview ? { preview } : {}),
  });

  it("shows a command whole, and can be allowed only then", () => {
    expect(approvalNotice(asked("Run tests", { kind: "command", command: "make test", cwd: "/" }))).toEqual({
      text: "Agent asks: Run tests: make test",
      canAllow: true,
    });
    expect(approvalNotice(asked("Run", { kind: "command", command: "x".repeat(500), cwd: "/" })).canAllow).toBe(false);
    expect(approvalNotice(asked("Call it", { kind: "text", text: "much more" })).canAllow).toBe(false);
  });

  it("says of an edit how much it changes", () => {
    const diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n a\n-b\n+B\n+c\n";

    expect(approvalNotice(asked("Edit x", { kind: "edit", uri: "file:///x", diff, created: false })).text).toContain(
      "+2 −1",
    );
  });

  it("has no link and no second line, whoever has written it", () => {
    expect(oneLine("do [Allow](command:agentLsp.allow)\nnow")).toBe("do [Allow] (command:agentLsp.allow) now");
    expect(oneLine("é".repeat(400))).toHaveLength(300);
  });
});

describe("the status bar", () => {
  const at = (more: Partial<Standing>): string => statusText(standing(more)).text;
  const standing = (more: Partial<Standing>): Standing => ({
    server: { state: "running" },
    session: session(),
    nextModel: undefined,
    state: undefined,
    waiting: 0,
    running: 0,
    ...more,
  });
  const state = (name: SessionState) => ({ sessionId: "s", state: name, queued: 0, pendingApprovals: 0 });

  it("names the model, and what goes on", () => {
    expect(at({})).toBe("claude-x");
    expect(at({ state: state("running") })).toBe("claude-x · working");
    expect(at({ state: state("reconnecting") })).toBe("claude-x · reconnecting");
    expect(at({ session: undefined })).toBe("Agent");
    expect(at({ session: undefined, nextModel: "claude-y" })).toBe("claude-y");
  });

  it("says so above all when somebody is waited for", () => {
    const waits = statusText(standing({ waiting: 1, state: state("running") }));
    expect(waits).toMatchObject({ text: "claude-x · needs you", tone: "warning" });
  });

  it("shows tokens, and no window that nobody knows", () => {
    expect(at({ session: session({ contextTokens: 12_345, contextWindow: 200_000 }) })).toBe(
      "claude-x · 12.3k of 200k",
    );
    expect(at({ session: session({ contextTokens: 950 }) })).toBe("claude-x · 950 tokens");
  });

  it.each(["installing", "starting", "stopped", "crashed", "missing", "incompatible"] as const)(
    "says that the server is %s",
    (name) => {
      const told = statusText(standing({ server: { state: name, hint: "do this" } }));
      expect(told.text).toMatch(/^Agent: /);
      expect(told.tooltip).toBe("do this");
    },
  );

  it.each([
    [0, "0"],
    [999, "999"],
    [1000, "1k"],
    [12_345, "12.3k"],
    [199_999, "200k"],
    [999_999, "1M"],
    [1_234_567, "1.2M"],
  ])("writes %i tokens as %s", (count, expected) => {
    expect(tokens(count)).toBe(expected);
  });
});

describe("sessions", () => {
  it("of several lists are listed once, newest first", () => {
    const [a, b] = [session({ sessionId: "a" }), session({ sessionId: "b", updatedAt: "2026-11-30T00:00:00.000Z" })];

    expect(merged([[a], [b, a]]).map(({ sessionId }) => sessionId)).toEqual(["b", "a"]);
  });

  it("are told by title, age, turns and folder", () => {
    const item = sessionItem(session({ title: "Tidy up" }), "s", Date.parse("2026-11-29T13:30:00.000Z"));

    expect(item.label).toContain("Tidy up");
    expect(item.description).toBe("2 hours ago");
    expect(item.detail).toBe("1 turn · anthropic/claude-x · prøject");
  });

  it("belong to a folder however it is spelled", () => {
    expect(isOf(session(), [{ uri: "file:///home/ada/prøject/" }])).toBe(true);
    expect(isOf(session(), [{ uri: "file:///home/ada" }])).toBe(false);
  });

  it.each([
    [-5, "just now"],
    [59_999, "just now"],
    [60_000, "1 minute ago"],
    [3_600_000 * 47, "1 day ago"],
    [86_400_000 * 2, "2 days ago"],
  ])("%i ms ago are %s", (ms, expected) => {
    expect(ago(ms)).toBe(expected);
  });
});

describe("a transcript", () => {
  const message = (payload: object, origin?: string[]): OmniMessage =>
    ({
      timestamp: "2026-11-29T21:20:41.123Z",
      type: "model_msg",
      payload,
      ...(origin ? { origin } : {}),
    }) as OmniMessage;
  const written = (...messages: OmniMessage[]): string => {
    const transcript = new Transcript(session({ title: "A *title*" }));
    transcript.add(messages);
    return transcript.text;
  };

  it("has both speakers, calls and outputs, in order", () => {
    const text = written(
      message({ type: "text", role: "user", text: "Why?" }),
      message({ type: "thinking", role: "assistant", thinking: "Hm.\nSo." }),
      message({ type: "text", role: "assistant", text: "Because." }),
      message({ type: "tool_call", role: "assistant", name: "read_file", arguments: '{"a": 1}', tool_call_id: "c" }),
      message({ type: "tool_call_output", role: "user", tool_call_id: "c", output: "1 line" }),
    );

    expect(text).toBe(
      "# A \\*title\\*\n\n`anthropic/claude-x` · `file:///home/ada/pr%C3%B8ject` · `2026-11-29T10:00:00.000Z`\n" +
        "\n## You\n\nWhy?\n\n## Agent\n\n> Hm.\n> So.\n\nBecause.\n" +
        '\n**Calls `read_file`**\n\n```json\n{"a": 1}\n```\n\nOutput of `read_file`:\n\n```\n1 line\n```\n',
    );
  });

  it("lets no output end its block, and shows what the eye would not see", () => {
    const text = written(
      message({ type: "tool_call_output", role: "user", tool_call_id: "c", output: "```\n\u001b[31m\u202Ex" }),
    );

    expect(text).toContain("````\n```\n\\u{001b}[31m\\u{202e}x\n````");
  });

  it("leaves out fragments and what child sessions say", () => {
    const head = written();

    expect(
      written(
        message({ type: "text", role: "assistant", text: "x" }, ["child"]),
        message({ type: "partial_text", role: "assistant", event_type: "delta", text: "x" }),
      ),
    ).toBe(head);
  });

  it("gives steering to the person and what was attached as code", () => {
    const text = written(
      message({ type: "text", role: "user", text: "[user_steering]\nLeft.\n[/user_steering]" }),
      message({ type: "text", role: "user", text: "[attached file: a.py]\nx = 1" }),
      message({ type: "text", role: "user", text: "[note]\nx\n[/note]", sender: "harness" }),
    );

    expect(text).toContain("## You\n\nLeft.\n\n`a.py`\n\n```\nx = 1\n```\n\n## Note to the agent");
  });
});
