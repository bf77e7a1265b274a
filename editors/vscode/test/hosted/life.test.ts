import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import * as vscode from "vscode";
import { Gate, say, turn } from "../e2e/harness/scriptedModel";
import { inside, model } from "./stage";
import { eventually, test } from "./testing";

/** The processes of the agent's server below this one. */
function agents(): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        const [parent] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ").slice(1) ?? [];
        return Number(parent) === process.pid && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--data-dir");
      } catch {
        return false;
      }
    });
}

test("what was not delivered when the server crashed is in the draft of its session, once, and the session is back", async () => {
  const gate = new Gate();
  model.script(turn(say("Begun"), gate, say("ended")));
  const { sessionId } = await inside.sessions.create({});
  inside.drafts.set(sessionId, { text: "being written", attachments: [] });
  const first = inside.runs.run({ sessionId, input: "first" }).catch((error: unknown) => error);
  await eventually("it runs", () => inside.sessions.state(sessionId)?.state === "running");
  const queued = inside.runs
    .run({ sessionId, input: "queued words", queueIfBusy: true })
    .catch((error: unknown) => error);
  await eventually("one waits", () => inside.sessions.state(sessionId)?.queued === 1);
  const { accepted } = await inside.runs.steer({ sessionId, input: "steering words" });
  assert.equal(accepted, true);
  const [pid] = agents();
  assert.equal(agents().length, 1);

  process.kill(pid ?? 0, "SIGKILL");

  assert.ok((await first) instanceof Error);
  assert.ok((await queued) instanceof Error);
  await eventually(
    "another one runs",
    () => inside.server.status.state === "running" && agents().length === 1 && agents()[0] !== pid,
  );
  await eventually("the session is open again", () => inside.sessions.shownId === sessionId);
  await eventually(
    "the draft has it",
    () => inside.drafts.get(sessionId).text === "queued words\n\nsteering words\n\nbeing written",
  );
  gate.open();
});

test("a restart ends one process and begins another", async () => {
  const [before] = agents();

  await vscode.commands.executeCommand("agentLsp.restartServer");

  await eventually("one other process", () => agents().length === 1 && agents()[0] !== before);
});

test("the third crash in three minutes is the last, and says so", async () => {
  for (let crash = 1; crash <= 3; crash += 1) {
    const [pid] = await eventually(
      "it runs",
      () => inside.server.status.state === "running" && agents().length === 1 && agents(),
    );
    process.kill(pid ?? 0, "SIGKILL");
    await eventually(
      "its end was noticed",
      () => !agents().includes(pid ?? 0) && inside.server.status.state !== "running",
    );
    if (crash < 3) {
      await eventually("it is started again", () => inside.server.status.state === "running");
    }
  }
  await eventually("nobody starts it again", () => inside.server.status.gaveUp === true);
  assert.match(inside.server.status.hint ?? "", /third time within three minutes/);

  await vscode.commands.executeCommand("agentLsp.restartServer");
  assert.equal(inside.server.status.state, "running");
});

test("a setting counts at once, without another process", async () => {
  const [pid] = agents();
  const configuration = vscode.workspace.getConfiguration("agentLsp");
  const level = async () => {
    const session = await inside.sessions.create({});
    await inside.sessions.delete(session.sessionId);
    return session.approvalMode;
  };
  assert.equal(await level(), "ask");

  await configuration.update("approvalMode", "auto-edit", vscode.ConfigurationTarget.Global);
  await eventually("new sessions have it", async () => (await level()) === "auto-edit");
  await configuration.update("approvalMode", undefined, vscode.ConfigurationTarget.Global);
  await eventually("and no more", async () => (await level()) === "ask");

  assert.deepEqual(agents(), [pid]);
});
