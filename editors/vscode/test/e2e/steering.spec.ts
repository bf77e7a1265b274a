/** While a run is on: what is sent is always in exactly one state, and Stop is always there. */

import { expect, test } from "./harness/fixtures";
import { marked, signal } from "./harness/processes";
import { Gate, say, think, turn, use } from "./harness/scriptedModel";

test.beforeEach(({ chat }) => chat.fresh());

test("a text streams, thinking is folded, and the answer is announced once", async ({ chat, model, picture }) => {
  const gate = new Gate();
  model.script(
    turn(
      think("First I think ", "about it."),
      say("# Title\n\nSome **bold** "),
      gate,
      say("and `code`.\n\n```python\nprint('hi')\n```\n"),
    ),
  );
  await chat.send("go");
  await gate.reached;
  await expect(chat.rows("text").last()).toContainText("Some bold");
  await chat.reaches("running");
  await expect(chat.rows("thinking")).not.toContainText("First I think about it.");
  gate.open();

  await chat.reaches("idle");
  await expect(chat.rows("text").last().locator("pre code")).toContainText("print('hi')");
  await expect(chat.announced).toContainText(/answer complete/i);
  await picture("streamed");
  await chat.unfold(chat.rows("thinking"));
  await expect(chat.rows("thinking")).toContainText("First I think about it.");
});

test("steering is queued, then stands where the agent got it", async ({ chat, model, picture }) => {
  const gate = new Gate();
  model.script(turn(say("Looking."), gate, use("read_file", { file_path: "README.md" })), turn(say("With a twist.")));
  await chat.send("go");
  await gate.reached;
  await expect(chat.button("Steer")).toBeVisible();

  await chat.send("with a twist, please");
  await expect(chat.queued).toHaveCount(1);
  await expect(chat.queued).toContainText("with a twist, please");
  await expect(chat.composer).toHaveValue("");
  await picture("steering");
  gate.open();

  await chat.reaches("idle");
  await expect(chat.queued).toHaveCount(0);
  await expect(chat.rows("user").last()).toContainText("with a twist, please");
  expect(model.asked[1]?.text).toContain("with a twist, please");
});

test("a queued text can be taken back, and comes back into the composer", async ({ chat, model }) => {
  const gate = new Gate();
  model.script(turn(say("Looking."), gate, use("read_file", { file_path: "README.md" })), turn(say("Done.")));
  await chat.send("go");
  await gate.reached;
  await chat.send("never mind this");
  await expect(chat.queued).toHaveCount(1);

  await chat.queued.getByRole("button", { name: "Take back" }).click();

  await expect(chat.queued).toHaveCount(0);
  await expect(chat.composer).toHaveValue("never mind this");
  await chat.composer.fill("");
  gate.open();
  await chat.reaches("idle");
  expect(model.asked.some(({ text }) => text.includes("never mind this"))).toBe(false);
});

test("what is queued for afterwards becomes the next run", async ({ chat, model }) => {
  const gate = new Gate();
  model.script(turn(say("First."), gate), turn(say("Second.")));
  await chat.send("go");
  await gate.reached;
  await chat.composer.fill("and then this");
  await chat.button("Queue for afterwards").click();
  await expect(chat.queued).toContainText("and then this");
  gate.open();

  await expect(chat.rows("text").last()).toContainText("Second.");
  await chat.reaches("idle");
  await expect(chat.queued).toHaveCount(0);
  expect(model.asked).toHaveLength(2);
});

test("stopping shows at once that it does, ends the command, and what was queued is not lost", async ({
  chat,
  model,
  server,
}) => {
  model.script(turn(say("Long."), use("exec_command", { cmd: "sleep 301", description: "long" })));
  await chat.send("go");
  await chat.decide("Allow");
  await expect.poll(() => marked(server.mark).some(({ command }) => command === "sleep 301")).toBe(true);
  await chat.send("a word for later");
  await expect(chat.queued).toHaveCount(1);

  await chat.stopsWithin(100);

  await chat.reaches("idle");
  await expect.poll(() => marked(server.mark).some(({ command }) => command === "sleep 301")).toBe(false);
  await expect(chat.rows("run_end").last()).toContainText(/sleep 301|exec_command|command/);
  await expect(chat.queued).toHaveCount(0);
  await expect(chat.composer).toHaveValue(/a word for later/);
  await chat.composer.fill("");
});

test("Esc in the composer stops the run", async ({ chat, model, page }) => {
  const gate = new Gate();
  model.script(turn(say("Going on and on"), gate));
  await chat.send("go");
  await gate.reached;
  await chat.composer.focus();

  await page.keyboard.press("Escape");

  await chat.reaches("idle");
  await expect(chat.rows("text").last()).toContainText("Going on and on");
});

test("a failed request waits in sight, and can be retried now", async ({ chat, model, picture }) => {
  model.script({ status: 429, message: "too many requests", headers: { "retry-after": "25" } }, turn(say("There.")));
  await chat.send("go");
  await chat.reaches("reconnecting");
  const card = chat.rows("retry").last();
  await expect(card).toContainText(/2[0-5] ?s/);
  const first = await card.innerText();
  await expect.poll(() => card.innerText()).not.toBe(first);
  await picture("retry");

  await card.getByRole("button", { name: "Retry now" }).click();

  await chat.reaches("idle", 10_000);
  await expect(chat.rows("text").last()).toContainText("There.");
});

test("a failed request can be given up", async ({ chat, model }) => {
  model.script({ status: 429, message: "too many requests", headers: { "retry-after": "25" } });
  await chat.send("go");
  await chat.reaches("reconnecting");

  await chat.rows("retry").last().getByRole("button", { name: "Give up" }).click();

  await chat.reaches("idle", 5_000);
  expect(model.asked).toHaveLength(1);
});

test("a server that does not answer a stop can be restarted", async ({ chat, model, server, picture }) => {
  const gate = new Gate();
  model.script(turn(say("Going on"), gate));
  await chat.send("go");
  await gate.reached;
  await chat.reaches("running");
  const pid = server.agent?.pid ?? 0;
  signal(pid, "SIGSTOP");
  try {
    await chat.stopsWithin(100);
    await expect(chat.button("Restart server")).toBeVisible({ timeout: 10_000 });
    await picture("stop-unanswered");
    await chat.button("Restart server").click();
  } finally {
    signal(pid, "SIGCONT");
  }

  await expect.poll(() => server.agent?.pid).not.toBe(pid);
  await chat.reaches("idle");
  await expect(chat.rows("user").last()).toContainText("go");
});

test("a draft stays with its session, whatever else is looked at", async ({ chat, model, bench }) => {
  model.script(turn(say("One.")), turn(say("Two.")));
  await chat.run("first session");
  await bench.command("Agent: Rename Session…");
  await bench.quickInput.locator("input.input").fill("The first one");
  await bench.page.keyboard.press("Enter");
  await expect(chat.app).toContainText("The first one");
  await chat.composer.fill("a draft of the first");
  await bench.command("Agent: New Session");
  await expect(chat.composer).toHaveValue("");
  await chat.run("second session");

  await bench.command("Agent: Resume Session…");
  await bench.choose("The first one");

  await expect(chat.rows("text").last()).toContainText("One.");
  await expect(chat.composer).toHaveValue("a draft of the first");
  await chat.composer.fill("");
});
