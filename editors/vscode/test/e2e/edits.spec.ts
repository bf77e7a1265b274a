/** Edits: undoable, kept or taken back one by one, and nothing opens or moves because of them. */

import { execFileSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./harness/fixtures";
import { say, turn, use } from "./harness/scriptedModel";

const NUMBERS = readFileSync(join(__dirname, "sample/src/numbers.txt"), "utf8");
const PATH = "src/numbers.txt";
const COLOURS = "src/colours.py";
const editOf = (path: string, from: string, to: string) =>
  use("edit_file", { file_path: path, old_string: from, new_string: to });
const edit = (from: string, to: string) => editOf(PATH, from, to);

test.beforeEach(async ({ chat, server, bench }) => {
  await bench.closeEditors();
  writeFileSync(join(server.workspace, PATH), NUMBERS);
  copyFileSync(join(__dirname, "sample", COLOURS), join(server.workspace, COLOURS));
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

test("the keyboard goes to the next and the previous edit, over files, and keeps the one that it is at", async ({
  chat,
  model,
  bench,
  page,
}) => {
  model.script(turn(edit("three", "3"), edit("ten", "10"), editOf(COLOURS, "GREEN", "GRASS")), turn(say("Done.")));
  await chat.run("go");
  await expect(chat.rows("run_end").last()).toContainText("3 edits to decide");
  const chord = async (key: string, line: number) => {
    await page.keyboard.press("Control+K");
    await page.keyboard.press(key);
    await expect(bench.status(new RegExp(`^Ln ${line}, Col 1`))).toBeVisible();
  };
  await chat.composer.focus();

  await chord(".", 2);
  await expect(bench.tab(COLOURS)).toHaveAttribute("aria-selected", "true");
  await chord(".", 3);
  await expect(bench.tab(PATH)).toHaveAttribute("aria-selected", "true");
  await chord(".", 10);
  await chord(",", 3);
  await bench.command("Agent: Keep Edit");

  await expect(chat.rows("run_end").last()).toContainText("2 edits to decide");
  await expect(chat.rows("tool").first()).toContainText("Kept");
  await bench.command("Agent: Keep All Edits of Session");
});

test("the edits of one file are undone, and those of the others stay", async ({ chat, model, server, bench }) => {
  model.script(turn(edit("three", "3"), edit("ten", "10"), editOf(COLOURS, "GREEN", "GRASS")), turn(say("Done.")));
  await chat.run("go");
  await expect(chat.rows("run_end").last()).toContainText("3 edits to decide");
  await bench.openFile(PATH);

  await bench.command("Agent: Undo Edits of File");

  await expect.poll(() => readFileSync(join(server.workspace, PATH), "utf8")).toBe(NUMBERS);
  await expect(chat.rows("run_end").last()).toContainText("1 edit to decide");
  expect(readFileSync(join(server.workspace, COLOURS), "utf8")).toContain("GRASS");
  await bench.command("Agent: Keep All Edits of Session");
});

test("the edits of the last run are undone, by command or in its card, and those of the run before stay", async ({
  chat,
  model,
  server,
  bench,
}) => {
  const onDisk = () => readFileSync(join(server.workspace, PATH), "utf8");
  model.script(
    turn(edit("two", "2")),
    turn(say("One.")),
    turn(edit("nine", "9"), edit("ten", "10")),
    turn(say("Two.")),
  );
  await chat.run("first");
  await chat.run("second");
  await expect(chat.rows("run_end").last()).toContainText("2 edits to decide");
  expect(onDisk()).toBe(NUMBERS.replace("two", "2").replace("nine", "9").replace("ten", "10"));

  await bench.command("Agent: Undo Edits of Last Run");

  await expect.poll(onDisk).toBe(NUMBERS.replace("two", "2"));
  await expect(chat.rows("run_end").first()).toContainText("1 edit to decide");
  await chat.rows("run_end").first().getByRole("button", { name: "Undo all" }).click();
  await expect.poll(onDisk).toBe(NUMBERS);
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
