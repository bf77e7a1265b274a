import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import * as vscode from "vscode";
import { say, turn, use } from "../e2e/harness/scriptedModel";
import { inside, model, onDisk, uriOf } from "./stage";
import { eventually, test } from "./testing";

test("a save that the server asks for saves that document and no other", async () => {
  writeFileSync(uriOf("asked.txt").fsPath, "old\n");
  writeFileSync(uriOf("other.txt").fsPath, "other\n");
  const open = async (name: string) => {
    const document = await vscode.workspace.openTextDocument(uriOf(name));
    await eventually("the text of the disk", () => document.getText() === (name === "asked.txt" ? "old\n" : "other\n"));
    return document;
  };
  const [asked, other] = [await open("asked.txt"), await open("other.txt")];
  const typing = new vscode.WorkspaceEdit();
  typing.insert(other.uri, new vscode.Position(0, 0), "unsaved ");
  await vscode.workspace.applyEdit(typing);
  model.script(
    turn(use("edit_file", { file_path: "asked.txt", old_string: "old", new_string: "new" })),
    turn(say("Done.")),
  );
  const { sessionId } = await inside.sessions.create({ approvalMode: "auto-edit" });

  await inside.runs.run({ sessionId, input: "edit" });

  assert.equal(onDisk("asked.txt"), "new\n");
  assert.equal(asked.isDirty, false);
  assert.equal(onDisk("other.txt"), "other\n");
  assert.equal(other.isDirty, true);
});

test("what a checker finds after an edit is told to the model", async () => {
  const found = vscode.languages.createDiagnosticCollection("hosted");
  writeFileSync(uriOf("checked.txt").fsPath, "fine\n");
  const document = await vscode.workspace.openTextDocument(uriOf("checked.txt"));
  const look = () => {
    const range = new vscode.Range(0, 0, 0, 6);
    found.set(
      document.uri,
      document.getText().includes("broken") ? [new vscode.Diagnostic(range, "this is broken")] : [],
    );
  };
  const seen = new Promise<void>((resolve) => {
    const listening = vscode.languages.onDidChangeDiagnostics(() => {
      listening.dispose();
      resolve();
    });
  });
  look();
  await seen;
  const checking = vscode.workspace.onDidChangeTextDocument(() => setTimeout(look, 300));
  try {
    model.script(
      turn(use("edit_file", { file_path: "checked.txt", old_string: "fine", new_string: "broken" })),
      turn(say("Done.")),
    );
    const { sessionId } = await inside.sessions.create({ approvalMode: "auto-edit" });

    await inside.runs.run({ sessionId, input: "edit" });

    assert.match(model.asked[1]?.text ?? "", /this is broken/);
  } finally {
    checking.dispose();
    found.dispose();
  }
});
