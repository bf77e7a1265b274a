/** Edits: undoable, kept or taken back one by one, and nothing opens or moves because of them. */

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./harness/fixtures";
import { say, turn, use } from "./harness/scriptedModel";

const NUMBERS = readFileSync(join(__dirname, "sample/src/numbers.txt"), "utf8");
const PATH = "src/numbers.txt";
const edit = (from: string, to: string) => use("edit_file", { file_path: PATH, old_string: from, new_string: to });

test.beforeEach(async ({ chat, server, bench }) => {
  await bench.closeEditors();
  writeFileSync(join(server.workspace, PATH), NUMBERS);
  await chat.fresh();
  await chat.approves("auto-edit");
});

test("an edit of a file that is not open opens no tab, moves no focus and is on the disk", async ({
  chat,
  model,
  server,
  bench,
}) => {
  model.script(turn(edit("three", "3")), turn(say("Done.")));
  await chat.composer.focus();
  await chat.run("go");

  expect(readFileSync(join(server.workspace, PATH), "utf8")).toBe(NUMBERS.replace("three", "3"));
  await expect(bench.page.locator(".tabs-container .tab")).toHaveCount(0);
  await expect(chat.composer).toBeFocused();
});

test("an edit of a file with unsaved text keeps that text, is left unsaved, and is one undo step", async ({
  chat,
  model,
  server,
  bench,
  page,
  picture,
}) => {
  await bench.openFile(PATH);
  await bench.editor.locator(".view-line").first().click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("typed by hand\n");
  model.script(turn(edit("three", "drei")), turn(say("Done.")));
  await chat.open();
  await chat.run("go");

  await expect.poll(() => bench.editorText()).toContain("typed by hand\none\ntwo\ndrei");
  expect(readFileSync(join(server.workspace, PATH), "utf8")).toBe(NUMBERS);
  await picture("edit-of-a-dirty-file");
  await bench.editor.locator(".view-line").first().click();
  await page.keyboard.press("Control+z");
  await expect.poll(() => bench.editorText()).toContain("typed by hand\none\ntwo\nthree");
});

test("undoing the first of two edits leaves the second and what was typed since", async ({
  chat,
  model,
  server,
  bench,
  page,
  picture,
}) => {
  model.script(turn(edit("two", "2\n2b")), turn(edit("eleven", "11")), turn(say("Both.")));
  await chat.run("go");
  await bench.openFile(PATH);
  await expect(bench.lens("Undo").first()).toBeVisible();
  await picture("keep-and-undo");
  await bench.editor.locator(".view-line").first().click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("by hand\n");

  await bench.lens("Undo").first().click();

  await expect.poll(() => bench.editorText()).toContain("by hand\none\ntwo\nthree");
  await page.keyboard.press("Control+s");
  await expect
    .poll(() => readFileSync(join(server.workspace, PATH), "utf8"))
    .toBe(`by hand\n${NUMBERS.replace("eleven", "11")}`);
});

test("keeping an edit in its card takes its choices away, in the editor too", async ({ chat, model, bench }) => {
  model.script(turn(edit("five", "5")), turn(say("Done.")));
  await chat.run("go");
  await bench.openFile(PATH);
  await expect(bench.lens("Keep").first()).toBeVisible();

  await chat.rows("tool").last().getByRole("button", { name: "Keep", exact: true }).click();

  await expect(bench.lens("Keep")).toHaveCount(0);
  await expect(chat.rows("tool").last().getByRole("button", { name: "Undo", exact: true })).toHaveCount(0);
});

test("an edit that can no longer be undone says why", async ({ chat, model, server, bench }) => {
  model.script(turn(edit("seven", "7")), turn(say("Done.")));
  await chat.run("go");
  const undo = chat.rows("tool").last().getByRole("button", { name: "Undo", exact: true });
  await expect(undo).toBeVisible();
  writeFileSync(join(server.workspace, PATH), NUMBERS.replace("seven", "something else"));

  // The card may have heard of it first; then there is nothing to press any more.
  await undo.click({ timeout: 2_000 }).catch(() => undefined);

  await expect(chat.frame.locator("#app").or(bench.toasts.first())).toContainText(
    /changed since|cannot be undone|no longer/i,
  );
  expect(readFileSync(join(server.workspace, PATH), "utf8")).toContain("something else");
});

test("after Undo all nothing of the repository has changed, and what a command did is said not to be undoable", async ({
  chat,
  model,
  server,
  bench,
}) => {
  const git = (...words: string[]) =>
    execFileSync("git", ["-C", server.workspace, "-c", "user.name=T", "-c", "user.email=t@example.org", ...words], {
      stdio: "pipe",
    });
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "--message", "as it was");
  const before = snapshot(join(server.workspace, ".git"));
  model.script(
    turn(edit("one", "1")),
    turn(edit("nine", "9"), use("exec_command", { cmd: "echo x > src/extra.txt", description: "a test" })),
    turn(say("Done.")),
  );
  await chat.send("go");
  await chat.decide("Allow");
  await chat.reaches("idle");

  await bench.command("Agent: Undo All Edits of Session");

  await expect.poll(() => readFileSync(join(server.workspace, PATH), "utf8")).toBe(NUMBERS);
  expect(snapshot(join(server.workspace, ".git"))).toEqual(before);
  await expect(chat.app.or(bench.toasts.first())).toContainText(/command/i);
});

/** Every file of a folder with its content; the index is left out, which git rewrites when it is only looked at. */
function snapshot(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (name) => name !== "index" && statSync(join(folder, name)).isFile(),
  );
  return Object.fromEntries(files.sort().map((name) => [name, readFileSync(join(folder, name), "base64")]));
}
