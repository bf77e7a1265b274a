/** The pages of a session and of what was used, in tabs: they work in a remote window, under their own policy. */

import type { FrameLocator } from "@playwright/test";
import { expect, test } from "./harness/fixtures";
import { say, turn, use } from "./harness/scriptedModel";
import type { Workbench } from "./harness/workbench";

const MADE_MS = 60_000; // by a process of its own, on a machine that may have other things to do

function tabPage(bench: Workbench): FrameLocator {
  return bench.page
    .frameLocator(':not(.webview-overlay-outer-right) > iframe.webview.ready[src*="extensionId=agent-lsp.agent-lsp"]')
    .frameLocator("iframe#active-frame");
}

test.beforeEach(({ chat }) => chat.fresh());
test.afterEach(({ bench }) => bench.closeEditors());

test("the trace of the session opens in a tab, and can be searched, unfolded and made anew", async ({
  chat,
  model,
  bench,
  page,
  watch,
  picture,
}) => {
  model.script(turn(use("read_file", { file_path: "greeter.py" })), turn(say("It greets <b>people</b>.")));
  await chat.run("what does the greeter do");
  watch.outside();

  await bench.command("Agent: Show Trace of This Session");
  const trace = tabPage(bench);
  await expect(trace.getByRole("heading", { name: "what does the greeter do" }).first()).toBeVisible({
    timeout: MADE_MS,
  });
  await expect(bench.tab("Trace: ")).toBeVisible();
  await expect(trace.locator("main")).toContainText("It greets <b>people</b>.");
  await picture("trace-page");

  await trace.getByRole("button", { name: "Expand all" }).click();
  await expect(trace.locator("main details[open]").first()).toBeVisible();
  await trace.getByRole("searchbox", { name: "find" }).fill("greets");
  await expect(trace.getByRole("status")).toHaveText("1 row");
  expect(watch.outside(), "a page loads nothing").toEqual([]);

  model.script(turn(say("And it does so twice.")));
  await chat.run("more of it");
  await bench.tab("Trace: ").click();
  await page.locator(".editor-actions").getByRole("button", { name: "Refresh Page" }).click();
  await expect(trace.locator("main")).toContainText("And it does so twice.", { timeout: MADE_MS });
  await expect(bench.tab("Trace: ")).toHaveCount(1);
  await trace.locator("nav.overview a").last().click();
  await expect(trace.getByText("And it does so twice.").first()).toBeInViewport();
  await expect(page.locator(".editor-actions").getByRole("button", { name: /Browser/ })).toHaveCount(0);
});

test("what was used opens in a tab, in the colours of the editor", async ({ chat, model, bench, server, picture }) => {
  model.script(turn(say("Done.")));
  await chat.run("use something");
  await bench.command("Agent: Show Usage");
  const usage = tabPage(bench);
  await expect(usage.getByRole("heading", { name: "By model" })).toBeVisible({ timeout: MADE_MS });
  await expect(usage.getByRole("cell", { name: "script/one" })).toBeVisible();
  await picture("usage-page");

  const theme = usage.locator("html");
  const before = await theme.getAttribute("data-theme");
  const other = before === "dark" ? "Default Light Modern" : "Default Dark Modern";
  server.configure({ "workbench.colorTheme": other });
  await expect(theme).toHaveAttribute("data-theme", before === "dark" ? "light" : "dark");
  await picture("usage-page-other");
  server.configure({ "workbench.colorTheme": undefined });
});

test("the status bar tells of a session, and leads to its pages", async ({ chat, model, bench, page, picture }) => {
  model.script(turn(say("Done.")));
  await chat.run("be told of");
  await bench.status(/one/).first().hover();
  const link = page.locator(".monaco-hover a").filter({ hasText: "Usage" });
  await expect(link).toBeVisible();
  await picture("status-hover");
  await link.click();
  await expect(tabPage(bench).getByRole("heading", { name: "Usage" })).toBeVisible({ timeout: MADE_MS });
});

test("a session in the list has a button for its trace, which goes with the session", async ({
  chat,
  model,
  bench,
  page,
}) => {
  model.script(turn(say("Something of the one before.")));
  await chat.run("the one before");
  await bench.command("Agent: New Session");
  await expect(chat.rows()).toHaveCount(0);

  await bench.command("Agent: Resume Session…");
  const line = bench.choice(/1 turn/).first();
  await line.hover();
  await line.getByRole("button", { name: "Show Trace" }).click();
  await expect(tabPage(bench).locator("main")).toContainText("Something of the one before.", { timeout: MADE_MS });

  await bench.command("Agent: Resume Session…");
  await line.hover();
  await line.getByRole("button", { name: "Delete" }).click();
  await page.locator(".monaco-dialog-box .monaco-button").filter({ hasText: "Delete" }).click();
  await expect(bench.tab("Trace: ")).toHaveCount(0);
});
