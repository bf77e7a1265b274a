/** A server that does not start, or is another one than is wanted: one line says what happened and what to do. */

import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "@playwright/test";
import { expect, test } from "./harness/fixtures";
import type { Chat } from "./harness/chat";
import type { VsCodeServer } from "./harness/vscodeServer";
import type { Workbench } from "./harness/workbench";

interface Bench {
  readonly chat: Chat;
  readonly server: VsCodeServer;
  readonly bench: Workbench;
}

/** Has the extension start a script in the place of its server; the alert that comes of it. */
async function startsInstead({ chat, server, bench }: Bench, script: string): Promise<Locator> {
  const program = join(server.root, "instead.sh");
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  await chat.open();
  server.configure({ "agentLsp.server.path": program });
  const alert = chat.frame.getByRole("alert");
  // The editor takes a changed setting up when it has seen the file: until then the right one is started.
  await expect(async () => {
    await bench.command("Agent: Restart Server");
    await expect(alert).toContainText(/did not start|does not fit/, { timeout: 4_000 });
  }).toPass({ timeout: 60_000 });
  return alert;
}

test.afterEach(async ({ server, bench, chat }) => {
  server.configure({ "agentLsp.server.path": process.env.AGENT_LSP });
  await expect(async () => {
    await bench.command("Agent: Restart Server");
    await expect(chat.frame.getByTestId("banner")).toBeHidden({ timeout: 4_000 });
  }).toPass({ timeout: 60_000 });
  await bench.command("Notifications: Clear All Notifications");
});

test("a server that exits while it starts is told with its status and its last words, and nobody is told that it is no agent-lsp", async ({
  chat,
  server,
  bench,
  picture,
}) => {
  const alert = await startsInstead({ chat, server, bench }, 'echo "ModuleNotFoundError: no such module" >&2; exit 3');

  await expect(alert).toContainText("exited with status 3");
  await expect(alert).toContainText("ModuleNotFoundError: no such module");
  await expect(alert).toContainText("restart it");
  await expect(alert).not.toContainText(/not agent-lsp|three times/);
  await expect(alert.getByRole("button", { name: "Restart" })).toBeVisible();
  await expect(alert.getByRole("button", { name: "Open log" })).toBeVisible();
  await expect(bench.status("Agent: did not start")).toBeVisible();
  await expect(bench.toasts).toHaveCount(1);
  await expect(bench.toasts).toContainText(/status 3.*ModuleNotFoundError/);
  await picture("server-did-not-start");
});

test("a server that is killed while it starts is told with the signal", async ({ chat, server, bench }) => {
  const alert = await startsInstead({ chat, server, bench }, 'echo "INFO reading settings" >&2; kill -KILL $$');

  await expect(alert).toContainText("was killed by SIGKILL");
  await expect(alert).toContainText("INFO reading settings");
  await expect(alert).not.toContainText("not agent-lsp");
});

test("a program that cannot be run is named", async ({ chat, server, bench }) => {
  const alert = await startsInstead({ chat, server, bench }, "");
  writeFileSync(join(server.root, "instead.sh"), "#!/gone/python\n");

  await bench.command("Agent: Restart Server");

  await expect(alert).toContainText(/instead\.sh cannot be run .*ENOENT.*install it again/);
});

for (const [what, line] of [
  ["unknown", /“pylsp” is not agent-lsp, or older than 0\.1\. Name another program in agentLsp\.server\.path/],
  [
    "old",
    /agent-lsp 0\.0\.9 is too old for this extension \(0\.1\.0\)\. Name another program in agentLsp\.server\.path/,
  ],
  ["newer", /agent-lsp 9\.0\.0 is newer than this extension \(0\.1\.0\): update the extension/],
] as const) {
  test(`a server that is ${what} is not worked with, and one line says what to do`, async ({ chat, server, bench }) => {
    const other = join(__dirname, "harness/otherServer.mjs");

    const alert = await startsInstead({ chat, server, bench }, `exec "${process.execPath}" "${other}" ${what}`);

    await expect(alert).toContainText("does not fit this extension");
    await expect(alert).toContainText(line);
    await expect(bench.status("Agent: wrong version")).toBeVisible();
    await expect(chat.button("Install server")).toHaveCount(0);
    if (what !== "newer") await expect(chat.button("Open setting")).toBeVisible();
  });
}
