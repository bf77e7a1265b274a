/** Everyone can use it: by keyboard alone, in every theme, at 240 px, with an input method, and as a screen reader hears it. */

import type { Locator } from "@playwright/test";
import axe from "axe-core";
import { expect, test } from "./harness/fixtures";
import type { Chat } from "./harness/chat";
import { Gate, refuse, say, think, turn, turnOf, use, type ScriptedModel } from "./harness/scriptedModel";

const THEMES = ["Light Modern", "Dark Modern", "Default High Contrast", "Default High Contrast Light"];

test.beforeEach(({ chat }) => chat.fresh());

test("by keyboard alone: open, ask, look at the approval, allow it, walk the messages", async ({
  chat,
  model,
  page,
  bench,
}) => {
  model.script(
    turn(say("I run it."), use("exec_command", { cmd: "printf keys", description: "a test" })),
    turn(say("It said keys.")),
  );
  await bench.command("View: Focus Active Editor Group");
  await page.keyboard.press("Control+Alt+a");
  await expect(chat.composer).toBeFocused();
  await page.keyboard.type("by keyboard");
  await page.keyboard.press("Enter");
  await expect(chat.approval).toBeVisible();
  await chat.gracePassed();

  await page.keyboard.press("Control+k");
  await page.keyboard.press("a");
  await expect.poll(() => chat.focusIsWithin(chat.approval)).toBe(true);
  await chat.tabTo(chat.approval.getByRole("button", { name: "Allow", exact: true }));
  await page.keyboard.press("Enter");

  await chat.reaches("idle");
  await bench.command("Agent: Previous Message");
  const focused = chat.transcript.locator("article:focus");
  await expect(focused).toHaveCount(1);
  const first = await focused.getAttribute("aria-label");
  await page.keyboard.press("ArrowUp");
  await expect(focused).not.toHaveAttribute("aria-label", first ?? "");
});

test("messages are articles with an author and a position, and the stream is in no live region", async ({
  chat,
  model,
}) => {
  const gate = new Gate();
  model.script(turn(think("Hm."), say("Streaming "), gate, say("on.")));
  await chat.send("go");
  await gate.reached;

  await expect(chat.rows("user").last()).toHaveAttribute("aria-label", /you/i);
  await expect(chat.rows("text").last()).toHaveAttribute("aria-label", /agent/i);
  await expect(chat.rows("text").last()).toHaveAttribute("aria-posinset", /\d+/);
  const live = chat.rows("text").last().locator("xpath=ancestor-or-self::*[@aria-live and @aria-live!='off']");
  await expect(live).toHaveCount(0);
  gate.open();
  await chat.reaches("idle");
  await expect(chat.announced).toHaveText(/answer complete/i);
});

for (const theme of THEMES) {
  test(`axe finds nothing serious in ${theme}, at 240 px too`, async ({
    chat,
    model,
    server,
    page,
    picture,
    bench,
  }) => {
    await everyCard(chat, model);
    server.configure({ "workbench.colorTheme": theme });
    await expect(chat.frame.locator("body")).toHaveAttribute("data-vscode-theme-id", theme);

    expect(await seriousFaults(chat)).toEqual([]);
    await picture(`theme ${theme}`);
    await chat.decide("Deny");
    await chat.reaches("idle");
    const wide = await bench.sideBarWidth();
    await bench.setSideBarWidth(240);
    expect(await seriousFaults(chat)).toEqual([]);
    expect(await chat.sidewaysScroll()).toBe(0);
    await picture(`narrow ${theme}`);
    await bench.setSideBarWidth(wide);
    await page.keyboard.press("Escape");
  });
}

for (const theme of ["Light Modern", "Dark Modern"]) {
  test(`the gauge can be read at every width in ${theme}`, async ({ chat, model, server, bench, page, picture }) => {
    model.script(turnOf(41_234, say("A long answer.")));
    await chat.run("go");
    server.configure({ "workbench.colorTheme": theme });
    await expect(chat.frame.locator("body")).toHaveAttribute("data-vscode-theme-id", theme);
    const cost = chat.frame.getByTestId("cost");
    await expect(cost).toBeVisible();
    const wide = await bench.sideBarWidth();
    for (const width of [240, 290, 400]) {
      await bench.setSideBarWidth(width);
      const facts = chat.frame.locator(".gauge-text");
      await expect(facts).toHaveText("41k of 100k · 41 %");
      const isCut = (one: Locator) => one.evaluate((element) => element.scrollWidth > element.clientWidth + 1);
      const cut = await Promise.all([facts, cost, chat.frame.getByRole("heading", { level: 1 })].map(isCut));
      expect(cut, `at ${width} px`).toEqual([false, false, false]);
      const bar = await chat.frame.getByRole("meter").boundingBox();
      expect(bar?.width, `at ${width} px`).toBeGreaterThanOrEqual(60);
      expect(await chat.sidewaysScroll()).toBe(0);
      await picture(`gauge ${width} ${theme}`);
    }
    await bench.setSideBarWidth(wide);
    await page.keyboard.press("Escape");
  });
}

test.afterAll(({ stage: { server } }) => server.configure({ "workbench.colorTheme": "Dark Modern" }));

test("Enter while an input method composes never sends", async ({ chat, model, page }) => {
  model.script(turn(say("Read.")));
  const input = await page.context().newCDPSession(page);
  await chat.composer.focus();
  await input.send("Input.imeSetComposition", { text: "にほん", selectionStart: 3, selectionEnd: 3 });
  await expect(chat.composer).toHaveValue("にほん");
  await input.send("Input.dispatchKeyEvent", {
    type: "rawKeyDown",
    key: "Enter",
    code: "Enter",
    windowsVirtualKeyCode: 229,
  });
  await input.send("Input.insertText", { text: "日本" });

  await expect(chat.composer).toHaveValue("日本");
  await expect(chat.rows("user")).toHaveCount(0);
  await page.keyboard.press("Enter");
  await expect(chat.rows("user").last()).toContainText("日本");
  await chat.reaches("idle");
});

test("a pasted and a dropped image arrive as the bytes the browser had", async ({ chat, model, picture }) => {
  const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  for (const kind of ["paste", "drop"] as const) {
    await chat.composer.evaluate(
      (box, { kind: event, base64 }) => {
        const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
        const data = new DataTransfer();
        data.items.add(new File([bytes], `${event}.png`, { type: "image/png" }));
        const options = { bubbles: true, cancelable: true };
        box.dispatchEvent(
          event === "paste"
            ? new ClipboardEvent("paste", { ...options, clipboardData: data })
            : new DragEvent("drop", { ...options, dataTransfer: data }),
        );
      },
      { kind, base64: dot },
    );
  }
  await expect(chat.frame.getByRole("listitem").filter({ hasText: /(paste|drop)\.png/ })).toHaveCount(2);
  await picture("images");
  model.script(turn(say("Two dots.")));
  await chat.run("what is this");

  expect(model.asked[0]?.text.split(dot)).toHaveLength(3);
});

/** A transcript with a card of every kind, and an approval that waits. */
async function everyCard(chat: Chat, model: ScriptedModel): Promise<void> {
  model.script(
    refuse(429, "slow down", { "retry-after": "1" }),
    turn(
      think("First the file."),
      say(
        "# A heading\n\nSome text with `code`, a [link](https://example.org) and\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\ndef f(x: int) -> int:\n    return x + 1  # one more\n```",
      ),
      use("read_file", { file_path: "greeter.py" }),
      use("read_file", { file_path: "missing.py" }),
    ),
    turn(use("edit_file", { file_path: "greeter.py", old_string: "Helo", new_string: "Hello" })),
    turn(say("Stopped there.")),
  );
  await chat.send("Look at everything, please");
  await expect(chat.approval).toBeVisible();
}

async function seriousFaults(chat: Chat): Promise<string[]> {
  const element = await chat.app.elementHandle();
  const frame = await element.ownerFrame();
  if (!frame) throw new Error("the view is not there");
  await frame.evaluate(axe.source);
  const { violations } = await frame.evaluate(() =>
    (window as unknown as { axe: typeof axe }).axe.run(document, { resultTypes: ["violations"] }),
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html.slice(0, 160)} — ${node.failureSummary ?? ""}`),
    );
}
