import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";
import { DECISION_GRACE_MS } from "../../src/shared/bridge";
import type { RunResult } from "../../src/shared/protocol";
import { say, turn, use } from "../e2e/harness/scriptedModel";
import { inside, model, onDisk } from "./stage";
import { eventually, test } from "./testing";

const command = (cmd: string) => use("exec_command", { cmd, description: "a test" });

/** Runs a prompt whose first answer is that call; returns when the person is asked. */
async function asked(
  call: ReturnType<typeof use>,
): Promise<{ sessionId: string; run: Promise<RunResult>; key: string }> {
  model.script(turn(call), turn(say("Done.")));
  const { sessionId } = await inside.sessions.create({ approvalMode: "ask" });
  const run = inside.runs.run({ sessionId, input: "go" });
  const pending = await eventually("somebody is asked", () =>
    inside.decisions.book.pending.find(({ params }) => params.sessionId === sessionId),
  );
  return { sessionId, run, key: pending.key };
}

test("an answer within the first moments counts for nothing, a later one does", async () => {
  const { run, key } = await asked(command("echo yes > allowed.txt"));

  await vscode.commands.executeCommand("agentLsp.allow");
  assert.notEqual(inside.decisions.book.get(key), undefined);
  await delay(DECISION_GRACE_MS + 50);
  await vscode.commands.executeCommand("agentLsp.allow");

  assert.equal((await run).status, "completed");
  assert.equal(onDisk("allowed.txt"), "yes\n");
});

test("an approval is taken back when its run is stopped", async () => {
  const { sessionId, run, key } = await asked(command("echo no > never.txt"));

  await inside.server.request("agent/abort", { sessionId });

  assert.equal((await run).status, "aborted");
  await eventually("it is not open any more", () => inside.decisions.book.get(key) === undefined);
});

test("a proposed edit is shown whole in one tab; closing that decides nothing", async () => {
  const { run, key } = await asked(use("write_file", { file_path: "shown.txt", content: "first\nsecond\n" }));
  const diffs = () =>
    vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter(({ input }) => input instanceof vscode.TabInputTextDiff);

  await vscode.commands.executeCommand("agentLsp.showProposedDiff");
  await vscode.commands.executeCommand("agentLsp.showProposedDiff");
  const tab = await eventually("one tab with the diff", () => diffs().length === 1 && diffs()[0]);
  const shown = await vscode.workspace.openTextDocument((tab.input as vscode.TabInputTextDiff).modified);
  assert.equal(shown.getText(), "first\nsecond\n");
  await vscode.window.tabGroups.close(tab);
  assert.notEqual(inside.decisions.book.get(key), undefined);

  await delay(DECISION_GRACE_MS);
  await vscode.commands.executeCommand("agentLsp.allow");
  assert.equal((await run).status, "completed");
  assert.equal(onDisk("shown.txt"), "first\nsecond\n");
});
