/** The server may go: the view says so, and the session and the draft are there again. */

import { expect, test } from "./harness/fixtures";
import { signal } from "./harness/processes";
import { Gate, say, turn } from "./harness/scriptedModel";
import type { VsCodeServer } from "./harness/vscodeServer";

async function kill(server: VsCodeServer): Promise<void> {
  await expect.poll(() => server.agent).toBeDefined();
  signal(server.agent?.pid ?? 0, "SIGKILL");
}

/** Waits until another process of the agent's server is there. */
async function isAnother(server: VsCodeServer, before: number | undefined): Promise<void> {
  await expect.poll(() => [undefined, before].includes(server.agent?.pid)).toBe(false);
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
  await expect(chat.rows("text").last()).toContainText("Half an ans");
  await chat.composer.fill("a draft that must live");
  await chat.draftKept();
  const first = server.agent?.pid;

  await kill(server);

  await isAnother(server, first);
  await chat.reaches("idle");
  await expect(chat.rows("user").last()).toContainText("go");
  await expect(chat.composer).toHaveValue("a draft that must live");
  await expect(chat.rows("run_end").last()).toContainText(/Cut off.*The server crashed while this ran\./s);
  await expect(chat.button("Continue")).toBeVisible();
  model.reset();
  model.script(turn(say("Alive again.")));
  await chat.composer.fill("");
  await chat.run("are you there");
  await expect(chat.rows("text").last()).toContainText("Alive again.");
  await expect(chat.button("Continue")).toHaveCount(0);

  const second = server.agent?.pid;
  await kill(server);
  await isAnother(server, second);
  model.script(turn(say("Alive once more.")));
  await chat.run("and now"); // one that is killed while it starts is told of otherwise
  await expect(chat.rows("text").last()).toContainText("Alive once more.");
  await kill(server);

  const alert = chat.frame.getByRole("alert");
  await expect(alert).toContainText(/crash|ended/i);
  await expect(alert.getByRole("button", { name: /log/i })).toBeVisible();
  await picture("server-gone");
  expect(server.agent?.pid).toBeUndefined();
  await alert.getByRole("button", { name: /restart/i }).click();
  await chat.reaches("idle");
  await expect(chat.rows("text").last()).toContainText("Alive once more.");
});

test("a script error of the view shows what happened, and the page is not blank", async ({
  chat,
  model,
  watch,
  picture,
}) => {
  await chat.fresh();
  model.script(turn(say("Before the error.")));
  await chat.run("go");

  await chat.app.evaluate(
    () =>
      void setTimeout(() => {
        throw new Error("thrown by a test");
      }),
  );

  await expect(chat.frame.getByRole("alert")).toContainText("thrown by a test");
  await expect(chat.rows("text").last()).toContainText("Before the error.");
  await picture("script-error");
  expect(watch.take().filter((fault) => !fault.includes("thrown by a test"))).toEqual([]);
  await chat.reload();
  await expect(chat.rows("text").last()).toContainText("Before the error.");
});
