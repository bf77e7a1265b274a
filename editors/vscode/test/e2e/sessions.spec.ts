/** Sessions: found, resumed, renamed, forked and deleted; their roots and mentions; their settings. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./harness/fixtures";
import { say, think, turn } from "./harness/scriptedModel";

test.beforeEach(({ chat }) => chat.fresh());

test("a session is renamed, resumed, forked and deleted by the keyboard", async ({
  chat,
  model,
  bench,
  page,
  picture,
}) => {
  model.script(turn(say("The first answer.")));
  await chat.run("the first question");
  await bench.command("Agent: Rename Session…");
  await bench.quickInput.locator("input.input").fill("Renamed by hand");
  await page.keyboard.press("Enter");
  await bench.command("Agent: New Session");
  await expect(chat.rows()).toHaveCount(0);

  await bench.command("Agent: Resume Session…");
  await picture("sessions");
  await bench.choose("Renamed by hand");
  await expect(chat.rows("text").last()).toContainText("The first answer.");

  const original = (await chat.app.getAttribute("data-session")) ?? "";
  await bench.command("Agent: Fork Session");
  await expect(chat.app).not.toHaveAttribute("data-session", original);
  await expect(chat.rows("text").last()).toContainText("The first answer.");
  model.script(turn(say("Only in the fork.")));
  await chat.run("go another way");
  expect(model.asked[0]?.text).toContain("the first question");

  await bench.command("Agent: Delete Session…");
  await page.locator(".monaco-dialog-box .monaco-button").filter({ hasText: "Delete" }).click();
  await bench.command("Agent: Resume Session…");
  await expect(bench.choice("Renamed by hand").first()).toBeVisible();
  await page.keyboard.press("Escape");
});

test("the view and the status bar say which model, mode and root a session has", async ({ chat, bench }) => {
  await expect(chat.app).toContainText("workspace");
  await expect(chat.frame.getByRole("combobox", { name: "Model" })).toHaveValue("script/one");
  await expect(bench.status(/one/)).toBeVisible();
});

test("a file is mentioned by its name, and the model gets it as it stands in the editor", async ({
  chat,
  model,
  bench,
  page,
  picture,
}) => {
  await bench.openFile("greeter.py");
  await bench.editor.locator(".view-line").first().click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("# not saved yet\n");
  await chat.open();
  await chat.composer.pressSequentially("look at @greet");
  const option = chat.frame.getByRole("option", { name: /greeter\.py/ });
  await expect(option.first()).toBeVisible();
  await picture("mention");
  await page.keyboard.press("Enter");
  model.script(turn(say("Looked.")));
  await page.keyboard.type("please");
  await page.keyboard.press("Enter");
  await expect(chat.rows("text").last()).toContainText("Looked.");

  expect(model.asked[0]?.text).toContain("# not saved yet");
  await bench.closeEditors();
});

test("the selection is added to the chat by a command", async ({ chat, model, bench, page }) => {
  await bench.openFile("src/colours.py");
  await bench.editor.locator(".view-line").filter({ hasText: "GREEN" }).click();
  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+End");
  await bench.command("Agent: Add Selection to Chat");
  await expect(chat.composer).toBeFocused();
  model.script(turn(say("Green.")));
  await chat.run("what colour");

  const sent = model.asked[0]?.text ?? "";
  expect(sent).toContain("colours.py");
  expect(sent).toContain("GREEN");
  expect(sent).not.toContain("BLUE");
  await bench.closeEditors();
});

test("a command that begins with a slash is offered, runs by itself, or goes to the model as it is written down", async ({
  chat,
  model,
  server,
  bench,
  page,
  picture,
}) => {
  const folder = join(server.workspace, ".agent-lsp/commands");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "inspect.md"),
    "---\ndescription: Look at a part closely\n---\nInspect $ARGUMENTS line by line.\n",
  );
  model.script(turn(say("Something to count.")));
  await chat.run("go");
  await chat.composer.pressSequentially("/");
  const offers = chat.frame.getByRole("listbox", { name: "Suggestions" });
  const option = (name: RegExp) => offers.getByRole("option", { name });
  await expect(option(/\/compact.*summary/)).toBeVisible();
  await expect(option(/\/inspect.*Look at a part closely/)).toBeVisible();
  await picture("slash");
  await chat.composer.pressSequentially("usa");
  await expect(option(/./)).toHaveCount(1);
  await page.keyboard.press("Enter");
  await expect.poll(() => bench.editorText()).toContain("script/one: 110 tokens in 1 request");
  await expect(chat.composer).toHaveValue("");
  await bench.closeEditors();

  model.script(turn(say("Inspected.")));
  await chat.composer.focus();
  await chat.composer.pressSequentially("/insp");
  await expect(option(/\/inspect/)).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(chat.composer).toHaveValue("/inspect ");
  await chat.composer.pressSequentially("the greeter");
  await page.keyboard.press("Enter");

  await expect(chat.rows("text").last()).toContainText("Inspected.");
  expect(model.asked.at(-1)?.text).toContain("Inspect the greeter line by line.");
  rmSync(folder, { recursive: true });
});

test("a setting takes effect without a reload", async ({ chat, model, server }) => {
  server.configure({ "agentLsp.chat.showThinking": true });

  await expect(async () => {
    model.script(turn(think("A thought in the open."), say("Said.")));
    await chat.send("go");
    await chat.reaches("idle");
    await expect(chat.rows("thinking").last()).toContainText("A thought in the open.", { timeout: 500 });
  }).toPass({ timeout: 20_000 });
  server.configure({ "agentLsp.chat.showThinking": false });
});

test("every option is a described setting, and no machine setting can come with a workspace", () => {
  interface Property {
    description?: string;
    markdownDescription?: string;
    scope?: string;
  }
  const manifest = JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8")) as {
    contributes: { configuration: { properties: Record<string, Property> }[] };
  };
  const properties = manifest.contributes.configuration.flatMap((group) => Object.entries(group.properties));

  expect(properties.filter(([, one]) => !(one.description ?? one.markdownDescription)).map(([name]) => name)).toEqual(
    [],
  );
  expect(properties.filter(([, one]) => !one.scope).map(([name]) => name)).toEqual([]);
  const machine = properties.filter(([name]) => name.startsWith("agentLsp.server."));
  expect(machine.every(([, one]) => one.scope === "machine")).toBe(true);
});
