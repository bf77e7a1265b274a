/** The first quarter of an hour: no server yet, then the rehearsal model on a sample project. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./harness/fixtures";

// No server is configured and none is on PATH, so this editor has to install the one that the extension carries.
test.use({ settings: { "agentLsp.server.path": "" }, defaultModel: "rehearsal/rehearsal", firstStart: true });
test.describe.configure({ mode: "serial" });

test("the view says that the server is missing, and installs it into an environment of its own", async ({
  chat,
  bench,
  picture,
}) => {
  test.setTimeout(240_000);
  await expect(bench.tab("Welcome")).toBeVisible();
  await expect(bench.editorArea).toContainText("Install the server");
  await picture("first-run-walkthrough");
  await bench.command("Agent: Open Chat");
  const alert = chat.frame.getByRole("alert");
  await expect(alert).toContainText(/not installed/i);
  await picture("first-run-missing");
  await bench.editorArea.getByRole("button", { name: "Install Server" }).click();

  const banner = chat.frame.getByTestId("banner");
  await expect(banner).toHaveText("Installing the server…");
  await expect(alert).toHaveCount(0);
  await expect(banner).toBeHidden({ timeout: 200_000 });
  await chat.reaches("idle", 30_000);
});

test("the first task runs: it reads, asks, edits and runs", async ({ chat, server, picture }) => {
  await chat.fresh();
  await picture("first-run-empty");
  await chat.send("Fix the greeting in greeter.py, then run `python3 greeter.py`");
  await expect(chat.approval).toContainText("Hello");
  await picture("first-run-edit");
  await chat.decide("Allow");
  await expect(chat.approval).toContainText("python3 greeter.py");
  await chat.decide("Allow");

  await chat.reaches("idle");
  expect(readFileSync(join(server.workspace, "greeter.py"), "utf8")).toContain("Hello");
  await expect(chat.rows("tool").last()).toContainText("Hello, world!");
  await picture("first-run-done");
});
