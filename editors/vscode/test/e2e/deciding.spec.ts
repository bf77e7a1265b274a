/** Approvals: what they show, how they are answered, and that nothing answers them by accident. */

import { readFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./harness/fixtures";
import { Gate, say, turn, use } from "./harness/scriptedModel";

const command = (cmd: string) => use("exec_command", { cmd, description: "a test" });

test.beforeEach(({ chat }) => chat.fresh());

test("allowed once, a command runs and its output is shown", async ({ chat, model, server, picture }) => {
  model.script(turn(say("I run it."), command("echo made > made.txt; echo o-u-t")), turn(say("Ran.")));
  await chat.send("go");

  await expect(chat.approval).toContainText("echo made > made.txt; echo o-u-t");
  await expect(chat.approval).toContainText(server.workspace);
  await picture("approval-command");
  expect(existsSync(join(server.workspace, "made.txt"))).toBe(false);
  await chat.decide("Allow");

  await chat.reaches("idle");
  await expect(chat.approval).toHaveCount(0);
  await expect(chat.rows("tool").last()).toContainText("o-u-t");
  expect(readFileSync(join(server.workspace, "made.txt"), "utf8")).toBe("made\n");
});

test("denied with a reason, a command does not run and the model is told why", async ({ chat, model, server }) => {
  model.script(turn(command("touch never.txt")), turn(say("As you wish.")));
  await chat.send("go");
  await expect(chat.approval).toBeVisible();

  await chat.decide("Deny", "not on a Monday");

  await chat.reaches("idle");
  await expect(chat.rows("tool").last()).toHaveAttribute("data-status", "denied");
  expect(model.asked[1]?.text).toContain("not on a Monday");
  expect(existsSync(join(server.workspace, "never.txt"))).toBe(false);
});

test("a rule is chosen by its label, says what ran by it, and asks no second time", async ({
  chat,
  model,
  picture,
}) => {
  model.script(turn(command("printf one")), turn(command("printf two")), turn(say("Both ran.")));
  await chat.send("go");
  await expect(chat.approval).toBeVisible();

  await chat.gracePassed();
  await chat.approval.getByRole("button", { name: /^Allow for/ }).click();
  const rules = chat.frame.getByRole("menuitem");
  await expect(rules.first()).toBeVisible();
  await picture("approval-rules");
  await rules.filter({ hasText: "every command in this session" }).click();

  await chat.reaches("idle");
  await expect(chat.rows("tool")).toHaveCount(2);
  const why = chat.rows("tool").last();
  await chat.unfold(why);
  await expect(why).toContainText(/every command in this session|rule/i);
});

test("a withdrawn approval goes away", async ({ chat, model, server }) => {
  model.script(turn(command("touch never.txt")));
  await chat.send("go");
  await expect(chat.approval).toBeVisible();

  await chat.button("Stop").click();

  await expect(chat.approval).toHaveCount(0);
  await chat.reaches("idle");
  expect(existsSync(join(server.workspace, "never.txt"))).toBe(false);
});

test("an approval takes no focus, and no key typed in the composer answers it", async ({ chat, model, page }) => {
  const gate = new Gate();
  model.script(turn(say("Wait."), gate, command("printf x")), turn(say("Done.")));
  await chat.send("go");
  await gate.reached;
  await chat.composer.focus();
  await page.keyboard.type("halfway ");
  gate.open();
  await expect(chat.approval).toBeVisible();

  await page.keyboard.type("y n a d 1 ");

  await expect(chat.composer).toBeFocused();
  await expect(chat.composer).toHaveValue("halfway y n a d 1 ");
  await expect(chat.approval).toBeVisible();
  await chat.composer.fill("");
  await chat.decide("Deny");
  await chat.reaches("idle");
});

test("the chord allows what waits, and is nothing while nothing waits", async ({ chat, model, page }) => {
  model.script(turn(command("printf chord")), turn(say("Done.")));
  await chat.send("go");
  await expect(chat.approval).toBeVisible();
  await chat.gracePassed();

  await page.keyboard.press("Control+K");
  await page.keyboard.press("y");

  await chat.reaches("idle");
  await expect(chat.rows("tool").last()).toHaveAttribute("data-status", "done");
});

test("an answer within 300 ms of the approval's appearance is ignored", async ({ chat, model }) => {
  model.script(turn(command("printf early")), turn(say("Done.")));
  await chat.frame.locator("body").evaluate((body) => {
    // Clicks at the first moment at which there is something to click on.
    const observer = new MutationObserver(() => {
      const allow = [...body.querySelectorAll("[role=group][aria-label^='Approval needed'] button")].find(
        (one) => one.textContent.trim() === "Allow",
      );
      if (!allow) return;
      observer.disconnect();
      (allow as HTMLElement).click();
      body.dataset.clickedEarly = "yes";
    });
    observer.observe(body, { childList: true, subtree: true });
  });
  await chat.send("go");

  await expect(chat.frame.locator("body[data-clicked-early]")).toBeAttached();
  await chat.gracePassed();
  await expect(chat.approval).toBeVisible();
  await chat.decide("Allow");
  await chat.reaches("idle");
});

test("what is approved is what happens: the whole command, control characters visible", async ({ chat, model }) => {
  const long = `printf '%s' ${"long-".repeat(300)}end`;
  model.script(turn(command(`${long}; printf '\u001b[2K\u202e'`)), turn(say("Done.")));
  await chat.send("go");

  await expect(chat.approval).toContainText(`${"long-".repeat(300)}end`);
  const shown = await chat.approval.innerText();
  expect(shown).not.toContain("\u001b");
  expect(shown).not.toContain("\u202e");
  const cut = await chat.approval.evaluate((card) =>
    [...card.querySelectorAll("*")].some(
      (one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX === "hidden",
    ),
  );
  expect(cut).toBe(false);
  await chat.decide("Deny");
  await chat.reaches("idle");
});

test("an edit shows its whole diff, in the real diff editor too, and is applied byte for byte", async ({
  chat,
  model,
  server,
  bench,
  picture,
}) => {
  const edit = {
    file_path: "src/colours.py",
    old_string: 'GREEN = "#0f0"',
    new_string: 'GREEN = "#0a0"  # darker\nGREY = "#888"',
  };
  model.script(turn(say("A better green."), use("edit_file", edit)), turn(say("Done.")));
  await chat.send("go");
  await expect(chat.approval).toContainText('GREY = "#888"');
  await picture("approval-edit");

  await chat.approval.getByRole("button", { name: "Open diff" }).click();
  await expect(bench.page.locator(".monaco-diff-editor")).toBeVisible();
  await expect(bench.page.locator(".monaco-diff-editor .editor.modified")).toContainText("GREY");
  await picture("diff-editor");
  await bench.command("View: Close All Editors");
  await expect(chat.approval).toBeVisible();
  await chat.decide("Allow");

  await chat.reaches("idle");
  expect(readFileSync(join(server.workspace, "src/colours.py"), "utf8")).toBe(
    'RED = "#f00"\nGREEN = "#0a0"  # darker\nGREY = "#888"\nBLUE = "#00f"\n',
  );
});

test("a text sent while an approval waits says so, and can deny and go along", async ({ chat, model, picture }) => {
  model.script(turn(command("printf no")), turn(say("Then otherwise.")));
  await chat.send("go");
  await expect(chat.approval).toBeVisible();

  await chat.send("use pnpm instead");
  await expect(chat.queued).toContainText("use pnpm instead");
  await expect(chat.queued).toContainText("waits for your decision");
  await picture("typing-while-it-waits");
  await chat.gracePassed();
  await chat.queued.getByRole("button", { name: "Deny and send this" }).click();

  await chat.reaches("idle");
  await expect(chat.queued).toHaveCount(0);
  await expect(chat.rows("tool").last()).toHaveAttribute("data-status", "denied");
  expect(model.asked[1]?.text).toContain("use pnpm instead");
});

test("a text that waits can be kept queued, and reaches the agent with the next step whatever is decided", async ({
  chat,
  model,
}) => {
  model.script(turn(command("printf kept")), turn(say("With both.")));
  await chat.send("go");
  await expect(chat.approval).toBeVisible();
  await chat.send("and use pnpm");

  await chat.queued.getByRole("button", { name: "Keep queued" }).click();

  await expect(chat.queued.getByRole("button")).toHaveText(["Take back"]);
  await expect(chat.queued).toContainText("waits for your decision");
  await chat.send("and another word");
  await expect(chat.queued).toHaveCount(2);
  await expect(chat.queued.first().getByRole("button")).toHaveText(["Take back"]);
  await expect(chat.queued.last().getByRole("button")).toHaveCount(3);
  await chat.decide("Allow");

  await chat.reaches("idle");
  await expect(chat.queued).toHaveCount(0);
  await expect(chat.rows("tool").last()).toHaveAttribute("data-status", "done");
  expect(model.asked[1]?.text).toMatch(/and use pnpm[^]*and another word/);
});

test("a text that waits can be taken back, and decides nothing", async ({ chat, model }) => {
  model.script(turn(command("printf back")), turn(say("Without it.")));
  await chat.send("go");
  await expect(chat.approval).toBeVisible();
  await chat.send("never mind this");

  await chat.queued.getByRole("button", { name: "Take back" }).click();

  await expect(chat.queued).toHaveCount(0);
  await expect(chat.composer).toHaveValue("never mind this");
  await expect(chat.approval).toBeVisible();
  await chat.composer.fill("");
  await chat.decide("Allow");
  await chat.reaches("idle");
  expect(model.asked[1]?.text).not.toContain("never mind this");
});
