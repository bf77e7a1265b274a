/** Reading: what is read stays where it is, comes back after a reload, and can be found. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, keepFigures, test } from "./harness/fixtures";
import { writeLongSession } from "./harness/longSession";
import { displacementBy, largestMoveWhile, scrollRests } from "./harness/measure";
import { flood, Gate, say, turn, use } from "./harness/scriptedModel";

const paragraph = (index: number) =>
  `Paragraph ${index} has a few words to fill its line and then some more of them.\n\n`;

const named = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}${index}`);

test.describe("following", () => {
  test.beforeEach(({ chat }) => chat.fresh());

  test("one wheel tick stops the following; only the bottom or Latest takes it up again", async ({
    chat,
    model,
    page,
  }) => {
    const gate = new Gate();
    model.script(turn(flood(60, 5, paragraph), gate, flood(150, 5, paragraph)));
    await chat.send("go");
    await gate.reached;
    await expect(chat.rows("text").last()).toContainText("Paragraph 59");
    await expect.poll(() => chat.distanceFromBottom()).toBeLessThanOrEqual(2);
    await chat.transcript.hover();
    await page.mouse.wheel(0, -40);
    await expect.poll(() => chat.distanceFromBottom()).toBeGreaterThan(2);
    await scrollRests(chat.transcript);

    const moved = await largestMoveWhile(chat.transcript, async () => {
      gate.open();
      await chat.reaches("idle");
    });

    expect(moved).toBeLessThanOrEqual(1);
    await chat.button(/^Latest/).click();
    await expect.poll(() => chat.distanceFromBottom()).toBeLessThanOrEqual(2);
    await expect(chat.rows("text").last()).toContainText("Paragraph 149");
  });

  test("neither PageUp nor a message that is sent moves what is being read", async ({ chat, model }) => {
    const gate = new Gate();
    model.script(turn(flood(80, 10, paragraph), gate, flood(80, 5, paragraph)), turn(say("End.")));
    await chat.send("go");
    await gate.reached;
    await expect(chat.rows("text").last()).toContainText("Paragraph 79");
    await chat.transcript.focus();
    await chat.transcript.press("PageUp");
    await expect.poll(() => chat.distanceFromBottom()).toBeGreaterThan(2);
    await scrollRests(chat.transcript);

    const moved = await largestMoveWhile(chat.transcript, async () => {
      await chat.send("a word in between");
      await expect(chat.queued).toHaveCount(1);
      gate.open();
      await chat.reaches("idle");
    });

    expect(moved).toBeLessThanOrEqual(1);
  });
});

/** How often a text stands in another. */
const times = (text: string, whole: string) => whole.split(text).length - 1;

test("reloading the window in the middle of a run loses no text: what was said is there once, what was not delivered is back", async ({
  chat,
  model,
  bench,
  server,
  picture,
}) => {
  await chat.fresh();
  const gate = new Gate();
  model.script(
    turn(
      flood(40, 4, (index) => `word${index} `),
      gate,
    ),
  );
  await chat.send("go on for long");
  await gate.reached;
  await chat.send("steered before the reload");
  await expect(chat.queued).toHaveCount(1);
  await chat.composer.fill("queued for after the reload");
  await chat.button("Queue for afterwards").click();
  await expect(chat.queued).toHaveCount(2);
  await chat.composer.fill("a draft before the reload");
  await chat.draftKept();

  await bench.open(server.url);
  await chat.open();

  const texts = ["steered before the reload", "queued for after the reload", "a draft before the reload"];
  await expect(chat.composer).toHaveValue(new RegExp(texts.map((_, index) => `(?=[^]*${texts[index]})`).join("")));
  await chat.reaches("idle");
  await expect.poll(() => chat.words(/^word\d/)).toEqual(named("word", 40));
  const cut = chat.rows("run_end").last();
  await expect(cut).toContainText("Cut off");
  await expect(cut).toContainText("The window was closed or reloaded while this ran.");
  await picture("after-a-reload");
  await expect(chat.queued).toHaveCount(0);
  await chat.draftKept();

  await bench.open(server.url);
  await chat.open();

  await expect(cut.getByRole("button", { name: "Continue" })).toBeVisible();
  const left = await chat.composer.inputValue();
  expect(texts.map((text) => times(text, left))).toEqual([1, 1, 1]);
  await chat.composer.fill("");
});

test("a run that a reload has cut off goes on by one button; the approval that was open is void, and nothing of it was done", async ({
  chat,
  model,
  bench,
  server,
  picture,
}) => {
  await chat.fresh();
  const call = use("exec_command", { cmd: "touch void.txt", description: "a test" });
  model.script(turn(say("Half of it is done."), call));
  await chat.send("do all of it");
  await expect(chat.approval).toBeVisible();
  await chat.composer.fill("a draft that stays");
  await chat.draftKept();

  await bench.open(server.url);
  await chat.open();

  const cut = chat.rows("run_end").last();
  await expect(cut).toContainText(/void, nothing of it was done: .*touch void\.txt/);
  await expect(chat.approval).toHaveCount(0);
  await expect(chat.rows("tool").last()).toHaveAttribute("data-status", "stopped");
  await picture("cut-off-by-a-reload");
  expect(existsSync(join(server.workspace, "void.txt"))).toBe(false);
  model.reset();
  model.script(turn(say("The other half.")));

  await cut.getByRole("button", { name: "Continue" }).click();

  await expect(chat.rows("text").last()).toContainText("The other half.");
  await chat.reaches("idle");
  await expect(chat.button("Continue")).toHaveCount(0);
  await expect(chat.rows("text").first()).toContainText("Half of it is done.");
  await expect(chat.composer).toHaveValue("a draft that stays");
  expect(model.asked).toHaveLength(1);
  expect(model.asked[0]?.text).toContain("Half of it is done.");
  await chat.composer.fill("");
});

test("hiding and showing the view in the middle of a run loses and doubles nothing", async ({ chat, model }) => {
  await chat.fresh();
  const gate = new Gate();
  model.script(
    turn(
      flood(40, 4, (index) => `word${index} `),
      gate,
      flood(200, 2, (index) => `later${index} `),
    ),
  );
  await chat.send("go on for long");
  await gate.reached;
  gate.open();

  await chat.reload();

  await chat.reaches("idle");
  const words = [...named("word", 40), ...named("later", 200)];
  await expect.poll(() => chat.words(/^(word|later)\d/)).toEqual(words);
});

test("an approval that was open when the view was thrown away is open when it is back", async ({ chat, model }) => {
  await chat.fresh();
  model.script(turn(use("exec_command", { cmd: "printf again", description: "a test" })), turn(say("Done.")));
  await chat.send("go");
  await expect(chat.approval).toBeVisible();

  await chat.reload();

  await expect(chat.approval).toContainText("printf again");
  await chat.decide("Allow");
  await chat.reaches("idle");
  await expect(chat.rows("tool").last()).toHaveAttribute("data-status", "done");
});

test.describe("a session of 10,000 messages", () => {
  const word = "rhododendron";

  test.beforeEach(async ({ chat, server, bench }) => {
    writeLongSession({
      dataDir: server.agentData,
      workspace: server.workspace,
      messages: 10_000,
      title: "A long story",
      marks: { 12: `In message 12 stands ${word}.` },
    });
    await chat.open();
    await bench.command("Agent: Resume Session…");
    await bench.choose("A long story");
    await expect(chat.rows("text").first()).toBeVisible();
    await bench.command("Agent: Go to Latest Message");
    await expect(chat.rows("text").last()).toContainText("Part 9996");
  });

  test("shows its last screen, then pages upwards without moving what is at the top", async ({
    chat,
    page,
    picture,
  }) => {
    await picture("longSession");
    expect(await chat.mounted()).toBeLessThanOrEqual(200);
    await chat.transcript.hover();
    for (let turns = 0; turns < 40; turns++) {
      const moved = await displacementBy(chat.transcript, () => page.mouse.wheel(0, -300));
      expect(Math.abs(moved - 300)).toBeLessThanOrEqual(1);
    }
    expect(await chat.mounted()).toBeLessThanOrEqual(200);
  });

  test("finds a word in message 12, and shows it marked", async ({ chat, page, picture }) => {
    await chat.composer.focus();
    await page.keyboard.press("Control+f");
    const find = chat.frame.getByRole("search").getByRole("textbox");
    await expect(find).toBeFocused();
    const began = Date.now();
    await find.fill(word);
    await find.press("Enter");

    await expect(chat.transcript.getByText(word)).toBeInViewport({ timeout: 20_000 });
    keepFigures("find", { tookMs: Date.now() - began });
    await picture("find");
    await page.keyboard.press("Escape");
  });
});

test("the whole transcript opens as Markdown", async ({ chat, model, bench }) => {
  await chat.fresh();
  model.script(turn(say("An answer to keep.")));
  await chat.run("a question to keep");

  await bench.command("Agent: Open Transcript");

  await expect.poll(() => bench.editorText()).toContain("An answer to keep.");
  expect(await bench.editorText()).toContain("a question to keep");
  await bench.closeEditors();
});
