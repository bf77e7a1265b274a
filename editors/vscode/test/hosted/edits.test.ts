import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import * as vscode from "vscode";
import { say, turn, use } from "../e2e/harness/scriptedModel";
import { inside, model, onDisk, uriOf } from "./stage";
import { eventually, test } from "./testing";

const replace = (file: string, from: string, to: string) =>
  use("edit_file", { file_path: file, old_string: from, new_string: to });

/** Runs a prompt in a new session that may edit without asking. */
async function edited(...edits: ReturnType<typeof replace>[]): Promise<string> {
  model.script(...edits.map((edit) => turn(edit)), turn(say("Done.")));
  const { sessionId } = await inside.sessions.create({ approvalMode: "auto-edit" });
  const result = await inside.runs.run({ sessionId, input: "edit" });
  assert.equal(result.status, "completed");
  return sessionId;
}

async function opened(name: string, text: string): Promise<vscode.TextEditor> {
  writeFileSync(uriOf(name).fsPath, text);
  const document = await vscode.workspace.openTextDocument(uriOf(name));
  const editor = await vscode.window.showTextDocument(document, { preview: false });
  await eventually("the editor has the text of the disk", () => document.getText() === text);
  return editor;
}

async function standing(sessionId: string, count: number): Promise<void> {
  await eventually(
    `${count} edits stand`,
    () => inside.edits.standing.filter((one) => one.sessionId === sessionId).length === count,
  );
}

test("an edit of an open file is made in the editor, saved, and one step to undo", async () => {
  const { document } = await opened("clean.txt", "one\ntwo\nthree\n");

  await edited(replace("clean.txt", "two", "2"));

  assert.equal(document.getText(), "one\n2\nthree\n");
  assert.equal(document.isDirty, false);
  assert.equal(onDisk("clean.txt"), "one\n2\nthree\n");
  await vscode.commands.executeCommand("undo");
  assert.equal(document.getText(), "one\ntwo\nthree\n");
});

test("an edit of a file with unsaved changes keeps them and leaves it unsaved", async () => {
  const editor = await opened("dirty.txt", "one\ntwo\nthree\n");
  await editor.edit((builder) => builder.insert(new vscode.Position(0, 0), "mine "));

  await edited(replace("dirty.txt", "three", "3"));

  assert.equal(editor.document.getText(), "mine one\ntwo\n3\n");
  assert.equal(editor.document.isDirty, true);
  assert.equal(onDisk("dirty.txt"), "one\ntwo\nthree\n");
});

test("no edit opens a tab or takes the focus", async () => {
  const editor = await opened("front.txt", "front\n");
  writeFileSync(uriOf("behind.txt").fsPath, "behind\n");
  const tabs = () => vscode.window.tabGroups.all.flatMap((group) => group.tabs.map(({ label }) => label));
  const before = tabs();

  await edited(replace("behind.txt", "behind", "changed"));

  assert.equal(onDisk("behind.txt"), "changed\n");
  assert.deepEqual(tabs(), before);
  assert.equal(vscode.window.activeTextEditor, editor);
});

test("undoing one edit leaves the others and what was typed as they are", async () => {
  const editor = await opened("many.txt", "a\nb\nc\nd\n");
  const sessionId = await edited(replace("many.txt", "a\n", "A\n"), replace("many.txt", "c\n", "C\n"));
  await standing(sessionId, 2);
  await editor.edit((builder) => builder.insert(new vscode.Position(1, 1), " typed"));

  const [first] = inside.edits.standing.filter((one) => one.sessionId === sessionId);
  await vscode.commands.executeCommand("agentLsp.undoEdit", { sessionId, editId: first?.editId });

  assert.equal(editor.document.getText(), "a\nb typed\nC\nd\n");
  await standing(sessionId, 1);
});

test("lenses stand above what waits to be kept, and go when it is", async () => {
  const { document } = await opened("lens.txt", "x\ny\n");
  const sessionId = await edited(replace("lens.txt", "y", "why"));
  const lenses = async () =>
    (await vscode.commands.executeCommand<vscode.CodeLens[]>("vscode.executeCodeLensProvider", document.uri, 10)).map(
      ({ range, command }) => `${range.start.line} ${command?.title ?? ""}`,
    );
  await standing(sessionId, 1);
  assert.deepEqual(await lenses(), ["1 Keep", "1 Undo"]);

  await vscode.commands.executeCommand("agentLsp.keepAll");

  await standing(sessionId, 0);
  assert.deepEqual(await lenses(), []);
});

test("the keyboard goes from edit to edit, over files, and keeps the one it is on", async () => {
  for (const { sessionId: other } of inside.edits.standing) {
    await inside.edits.keep({ sessionId: other });
  }
  await opened("step-a.txt", "1\n2\n3\n");
  await opened("step-b.txt", "1\n2\n3\n");
  const sessionId = await edited(replace("step-a.txt", "3", "three"), replace("step-b.txt", "2", "two"));
  await standing(sessionId, 2);
  const here = () => {
    const editor = vscode.window.activeTextEditor;
    return `${editor?.document.fileName.split("/").at(-1) ?? ""}:${editor?.selection.active.line ?? -1}`;
  };
  const stops: string[] = [];
  for (const command of ["nextEdit", "nextEdit", "nextEdit", "previousEdit"]) {
    await vscode.commands.executeCommand(`agentLsp.${command}`);
    stops.push(here());
  }
  const last = stops.at(-1);
  assert.deepEqual([...new Set(stops)].sort(), ["step-a.txt:2", "step-b.txt:1"]);

  await vscode.commands.executeCommand("agentLsp.keepEdit");

  await standing(sessionId, 1);
  assert.notEqual(
    inside.edits.standing
      .find((one) => one.sessionId === sessionId)
      ?.uri.split("/")
      .at(-1) ?? "",
    last?.split(":")[0],
  );
});

test("what was typed over cannot be undone, and that is said", async () => {
  const editor = await opened("over.txt", "old\n");
  const sessionId = await edited(replace("over.txt", "old", "new words"));
  await standing(sessionId, 1);
  await editor.edit((builder) => builder.replace(new vscode.Range(0, 0, 0, 9), "mine"));

  const { edits } = await inside.edits.undo({ sessionId });

  assert.equal(editor.document.getText(), "mine\n");
  assert.match(edits[0]?.reason ?? "", /changed/);
});

test("an edit of a closed file that somebody has changed since is not undone, and that is said", async () => {
  writeFileSync(uriOf("closed.txt").fsPath, "one\nseven\nnine\n");
  const sessionId = await edited(replace("closed.txt", "seven", "7"));
  await standing(sessionId, 1);
  writeFileSync(uriOf("closed.txt").fsPath, "one\nsomething else\nnine\n");

  const { edits } = await inside.edits.undo({ sessionId });

  assert.equal(onDisk("closed.txt"), "one\nsomething else\nnine\n");
  assert.match(edits[0]?.reason ?? "", /changed/);
  await standing(sessionId, 0);
  assert.deepEqual(
    inside.edits.of(sessionId).map(({ state }) => state),
    ["changed"],
  );
});
