import assert from "node:assert/strict";
import * as vscode from "vscode";
import { say, turn } from "../e2e/harness/scriptedModel";
import { inside, model } from "./stage";
import { test } from "./testing";

test("a run goes through the server to the model and back", async () => {
  model.script(turn(say("Hel", "lo.")));
  const { sessionId } = await inside.sessions.create({});

  const result = await inside.runs.run({ sessionId, input: "hi" });

  assert.equal(result.status, "completed");
  assert.equal(result.text, "Hello.");
});

test("every command that is contributed exists", async () => {
  const contributed = (
    vscode.extensions.getExtension("agent-lsp.agent-lsp")?.packageJSON as {
      contributes: { commands: { command: string }[] };
    }
  ).contributes.commands;
  const known = await vscode.commands.getCommands(true);

  assert.deepEqual(
    contributed.map(({ command }) => command).filter((command) => !known.includes(command)),
    [],
  );
});
