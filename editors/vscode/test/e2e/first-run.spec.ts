/** The first quarter of an hour: no server yet, then the rehearsal model on a sample project. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./harness/fixtures";

test.describe("without a server", () => {
  test.use({ settings: { "agentLsp.server.path": "" }, defaultModel: "rehearsal/rehearsal" });

  test("the view says that the server is missing, and installs it into an environment of its own", async ({
    chat,
    bench,
    picture,
  }) => {
    test.setTimeout(240_000);
    await bench.command("Agent: Open Chat");
    const alert = chat.frame.getByRole("alert");
    await expect(alert).toContainText(/not installed/i);
    await picture("first-run-missing");
    await alert.getByRole("button", { name: /install/i }).click();

    await expect(chat.composer).toBeVisible({ timeout: 180_000 });
    await chat.reaches("idle", 60_000);
    await chat.run("hello");
    await expect(chat.rows("text").last()).toContainText("rehearsal");
    await picture("first-run-installed");
  });
});

test.describe("with the rehearsal model", () => {
  test.use({ defaultModel: "rehearsal/rehearsal" });

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
});
