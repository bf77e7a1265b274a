import { describe, expect, it } from "vitest";
import type { OmniMessage } from "../../../src/shared/protocol";
import { Story } from "../../../src/view/model/story";
import { message } from "./streams";

const silent = { changed: () => undefined, rearranged: () => undefined };

function told(messages: readonly OmniMessage[]): Story {
  const story = new Story(silent);
  for (const one of messages) story.apply(one);
  return story;
}

describe("subagents", () => {
  it("in the background are named when a stop ends them with the run", () => {
    const story = new Story(silent);
    story.begin("r", "go", "2026-11-29T00:00:00.000Z");
    for (const one of [
      message({
        type: "tool_call",
        role: "assistant",
        name: "run_subagent",
        arguments: '{"prompt":"Look around"}',
        tool_call_id: "c",
      }),
      message({ type: "subagent", session_id: "child" }),
      message({ type: "tool_call_output", role: "user", tool_call_id: "c", output: "[subagent running]" }),
      message({ type: "request_begin" }, ["child"]),
      message({ type: "abort" }, ["child"]),
      message({ type: "abort" }),
    ])
      story.apply(one);
    expect(story.end()).toMatchObject({ ended: ["Subagent Look around"] });
  });

  it("are part of the call that started them, told by the origin of their messages", () => {
    const prompt = '{"prompt":"Find callers"}';
    const story = told([
      message({ type: "tool_call", role: "assistant", name: "run_subagent", arguments: prompt, tool_call_id: "c" }),
      message({ type: "subagent", session_id: "child" }),
      message({ type: "request_begin" }, ["child"]),
      message(
        {
          type: "tool_call",
          role: "assistant",
          name: "read_file",
          arguments: '{"file_path":"a.py"}',
          tool_call_id: "c",
        },
        ["child"],
      ),
    ]);
    expect(story.rows).toHaveLength(1);
    expect(story.rows[0]).toMatchObject({
      kind: "tool",
      child: { sessionId: "child", running: true, lines: [{ text: "Read a.py", done: false }] },
    });
  });

  it("go on in the card of their call when that is on an earlier page", () => {
    const earlier = [
      message({ type: "tool_call", role: "assistant", name: "run_subagent", arguments: "{}", tool_call_id: "c" }),
      message({ type: "subagent", session_id: "child" }),
    ];
    const story = told([message({ type: "text", role: "assistant", text: "later" })]);
    story.prepend(earlier);
    story.apply(message({ type: "request_begin" }, ["child"]));
    expect(story.rows[0]).toMatchObject({ kind: "tool", child: { sessionId: "child", running: true } });
  });
});
