/** A workspace with several folders. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./harness/fixtures";
import { say, turn } from "./harness/scriptedModel";

test.afterAll(({ stage: { bench, server } }) => bench.open(server.url));

test("with several roots a session takes the active file's, can be given another, and mentions files of all", async ({
  chat,
  model,
  bench,
  server,
  page,
  picture,
}) => {
  const second = join(server.root, "second");
  mkdirSync(second);
  writeFileSync(join(second, "elsewhere.py"), "print('elsewhere')\n");
  const file = join(server.root, "two.code-workspace");
  writeFileSync(file, JSON.stringify({ folders: [{ path: server.workspace }, { path: second }] }));
  await bench.open(server.urlOf(file));
  await bench.openFile("elsewhere.py");
  await chat.fresh();
  await expect(chat.app).toContainText("second");
  await picture("roots");

  await bench.command("Agent: New Session in Folder…");
  await bench.choice("workspace").first().click();
  await expect(chat.app).toContainText("workspace");
  await chat.composer.pressSequentially("@elsewh");
  await expect(chat.frame.getByRole("option", { name: /elsewhere\.py/ }).first()).toBeVisible();
  await page.keyboard.press("Enter");
  model.script(turn(say("Seen.")));
  await page.keyboard.press("Enter");
  await expect.poll(() => model.asked.length).toBe(1);
  await chat.reaches("idle");

  expect(model.asked[0]?.text).toContain("print('elsewhere')");
  expect(model.asked[0]?.text).toContain(`Workspace: ${server.workspace}`);
});
