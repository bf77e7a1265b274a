/** Out of sight, what needs the person reaches them once; in sight, nothing does. */

import { expect, test } from "./harness/fixtures";
import { Gate, say, turn, use } from "./harness/scriptedModel";

const command = (cmd: string) => use("exec_command", { cmd, description: "a test" });

test.beforeEach(async ({ chat, bench }) => {
  await bench.command("Notifications: Clear All Notifications");
  await chat.fresh();
});

test("with the view hidden an approval is one notification that can be answered there", async ({
  chat,
  model,
  bench,
  picture,
}) => {
  const gate = new Gate();
  model.script(turn(say("Wait."), gate, command("printf hidden")), turn(say("Done.")));
  await chat.send("go");
  await gate.reached;
  await bench.command("View: Toggle Secondary Side Bar Visibility");
  await expect(bench.shownViews).toHaveCount(0);
  gate.open();

  await expect(bench.toasts.filter({ hasText: "printf hidden" })).toHaveCount(1);
  await picture("notification");
  await chat.gracePassed();
  await bench.toasts.filter({ hasText: "printf hidden" }).getByRole("link", { name: "Allow", exact: true }).click();

  await expect(bench.toasts.filter({ hasText: /finished/ })).toHaveCount(1);
  await chat.open();
  await expect(chat.rows("tool").last()).toHaveAttribute("data-status", "done");
});

test("a withdrawn approval takes its notification away", async ({ chat, model, bench }) => {
  const gate = new Gate();
  model.script(turn(say("Wait."), gate, command("printf hidden")));
  await chat.send("go");
  await gate.reached;
  await bench.command("View: Toggle Secondary Side Bar Visibility");
  gate.open();
  await expect(bench.toasts.filter({ hasText: "printf hidden" })).toHaveCount(1);

  await bench.command("Agent: Stop");

  await expect(bench.toasts.filter({ hasText: "printf hidden" })).toHaveCount(0);
  await chat.open();
  await chat.reaches("idle");
});

test("with view and window in sight nothing is raised", async ({ chat, model, bench }) => {
  model.script(turn(command("printf seen")), turn(say("Done.")));
  await chat.send("go");
  await chat.decide("Allow");
  await chat.reaches("idle");

  await expect(bench.toasts).toHaveCount(0);
  await expect(bench.status(/one/)).toBeVisible();
});

test("what waits in a session that is not on screen is a badge on the icon, until it is looked at", async ({
  chat,
  model,
  bench,
  picture,
}) => {
  model.script(turn(command("printf elsewhere")), turn(say("Done.")));
  await chat.send("go");
  await expect(chat.approval).toBeVisible();
  await expect(bench.badge).toHaveCount(0);

  await bench.command("Agent: New Session");
  await expect(chat.rows()).toHaveCount(0);

  await expect(bench.badge).toHaveText("1");
  const toast = bench.toasts.filter({ hasText: "printf elsewhere" });
  await expect(toast).toHaveCount(1);
  await picture("badge");
  await toast.getByRole("button", { name: "Show", exact: true }).click();
  await expect(chat.approval).toContainText("printf elsewhere");
  await expect(bench.badge).toHaveCount(0);
  await expect(toast).toHaveCount(0);
  await chat.decide("Allow");
  await chat.reaches("idle");
});
