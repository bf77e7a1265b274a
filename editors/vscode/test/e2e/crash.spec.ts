/** The server may go: the view says so, and the session and the draft are there again. */

import { expect, test } from "./harness/fixtures";
import { marked, signal } from "./harness/processes";
import { Gate, say, turn } from "./harness/scripted-model";
import type { VsCodeServer } from "./harness/vscode-server";

function agentServer(server: VsCodeServer): number | undefined {
  return marked(server.mark).find(({ command }) => command.includes("agent-lsp") && command.includes("--data-dir"))
    ?.pid;
}

async function kill(server: VsCodeServer): Promise<void> {
  await expect.poll(() => agentServer(server)).toBeDefined();
  signal(agentServer(server) ?? 0, "SIGKILL");
}

test("a crash in mid-run says what happened, keeps session and draft, and goes on; the third one stops the restarting", async ({
  chat,
  model,
  server,
  picture,
}) => {
  await chat.fresh();
  const gate = new Gate();
  model.script(turn(say("Half an ans"), gate));
  await chat.send("go");
  await gate.reached;
  await expect(chat.rows("answer").last()).toContainText("Half an ans");
  await chat.composer.fill("a draft that must live");
  await chat.draftKept();
  const first = agentServer(server);

  await kill(server);

  await expect.poll(() => agentServer(server)).not.toBe(first);
  await chat.reaches("idle");
  await expect(chat.rows("user").last()).toContainText("go");
  await expect(chat.composer).toHaveValue("a draft that must live");
  model.reset();
  model.script(turn(say("Alive again.")));
  await chat.composer.fill("");
  await chat.run("are you there");
  await expect(chat.rows("answer").last()).toContainText("Alive again.");

  const second = agentServer(server);
  await kill(server);
  await expect.poll(() => agentServer(server)).not.toBe(second);
  await chat.reaches("idle");
  await kill(server);

  const alert = chat.frame.getByRole("alert");
  await expect(alert).toContainText(/crash|ended/i);
  await expect(alert.getByRole("button", { name: /log/i })).toBeVisible();
  await picture("server-gone");
  expect(agentServer(server)).toBeUndefined();
  await alert.getByRole("button", { name: /restart/i }).click();
  await chat.reaches("idle");
  await expect(chat.rows("answer").last()).toContainText("Alive again.");
});
